"""`place` at a terminal: where a job fits, and what keeps it out elsewhere."""

import time
from pathlib import Path

import numpy as np
import pytest

from fabrichealth.catalogue.accelerators import ALLOCATED, HEALTHY
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.catalogue.verdicts import INCIDENT_INFO
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Labels
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.journal import SqliteJournal
from tests.fabrichealth.terminal import Terminal

HOSTS = 3
ENDS = ("pod-b-h2-0/nvlink/0", "pod-b-sw/0")
LINK = "--".join(ENDS)

TOPOLOGY = (
    "domains: [{name: pod-a, accelerators: 12}, {name: pod-b, accelerators: 12}]\n"
    "devices:\n  - {name: pod-b-sw, role: switch}\n"
    + "".join(
        f"  - {{name: {pod}-h{n}, role: host, rack: {pod}-r{n // 2}, domain: {pod}}}\n"
        + "".join(
            f"  - {{name: {pod}-h{n}-{k}, role: accelerator, host: {pod}-h{n}}}\n" for k in range(4)
        )
        for pod in ("pod-a", "pod-b")
        for n in range(HOSTS)
    )
    + f"links: [{{a: {ENDS[0]}, b: {ENDS[1]}, technology: nvlink}}]\n"
)


class Site:
    """A site whose scheduler spoke until just now."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "site.yaml"
        self.file.write_text("topology: topology.yaml\nstate: state\n")
        (folder / "topology.yaml").write_text(TOPOLOGY)
        self._paths = StatePaths(folder / "state")
        self._paths.make()
        EmbeddedStore.open(self._paths.store).close()
        SqliteJournal.open(self._paths.journal).close()

    def said(self, values: dict[tuple[Metric, Labels], float], ago: float = 5.0) -> None:
        """Let series say so at four polls, the last of them so many seconds ago."""
        store = EmbeddedStore.open(self._paths.store)
        clock = store.table.clock("scheduler", "slurm")
        series = store.table.intern_all(values)
        read = np.array(list(values.values()))
        now = time.time() - ago
        store.append([Batch(clock, now - 30 * back, series, read) for back in (3, 2, 1, 0)])
        store.close()

    def held(self, **hosts: str) -> dict[tuple[Metric, Labels], float]:
        """Return who is held (x) and free (.) by host, `_` for `-`."""
        return {
            (ALLOCATED, (f"{host.replace('_', '-')}-{k}",)): float(letter == "x")
            for host, letters in hosts.items()
            for k, letter in enumerate(letters)
        }

    def tell(self, event: Event) -> None:
        journal = SqliteJournal.open(self._paths.journal)
        journal.append("event", event.at, event.to_json())
        journal.close()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = Site(tmp_path)
    made.said(
        made.held(
            pod_a_h0="xx..", pod_a_h1="x...", pod_a_h2="xxxx",
            pod_b_h0="xxxx", pod_b_h1="....", pod_b_h2="....",
        )
    )  # fmt: skip
    return made


def test_each_domain_has_its_best_place_in_order(terminal: Terminal, site: Site) -> None:
    said = terminal("place", "--accelerators", 2, "-c", site.file, "--json")
    assert said.status == 0
    places = [(row["domains"], row["hosts"][0]["names"]) for row in said.objects]
    assert places == [
        (["pod-a"], ["pod-a-h0-2", "pod-a-h0-3"]),
        (["pod-b"], ["pod-b-h1-0", "pod-b-h1-1"]),
    ]


def test_a_person_reads_a_table(terminal: Terminal, site: Site) -> None:
    said = terminal("place", "--accelerators", 4, "-c", site.file)
    assert said.status == 0
    lines = said.out.splitlines()
    assert lines[1].split()[:3] == ["1", "pod-b", "pod-b-r0"]
    assert "pod-a: does not fit; 5 of 12 are free; the largest that fits is 3" in said.out
    assert "fits in 1 of 2 domains" in said.out


def test_what_would_make_room_is_told(terminal: Terminal, site: Site) -> None:
    site.tell(Event(100.0, "job_start", {"job": "j1"}, more={"accelerators": ["pod-a-h1-0"]}))
    rows = terminal("place", "--accelerators", 4, "--domain", "pod-a", "-c", site.file, "--json")
    assert rows.status == 1
    assert rows.objects[0]["moves"] == [
        {"job": "j1", "accelerators": 1, "from": "pod-a-h1", "to": "pod-a-h0"}
    ]


def test_nothing_is_placed_behind_a_sick_link(terminal: Terminal, site: Site) -> None:
    site.said({(INCIDENT_INFO, ("i1", "link.subhealthy", "ticket", "", LINK, "")): 1.0})
    eight = terminal("place", "--accelerators", 8, "-c", site.file)
    assert eight.status == 1
    assert "8 of 12 are free, 1 of them behind something ill" in eight.out
    (row, *_) = terminal("place", "--accelerators", 4, "-c", site.file, "--json").objects
    assert [one["host"] for one in row["hosts"]] == ["pod-b-h1"]


def test_a_silent_scheduler_is_said_and_is_no_room(terminal: Terminal, tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.said(site.held(pod_a_h0="...."), ago=400.0)
    said = terminal("place", "--accelerators", 1, "-c", site.file)
    assert said.status == 1
    assert "pod-a: unknown; nobody says what is held: its scheduler fell silent" in said.out
    assert "pod-b: unknown; nobody says what is held: no scheduler and no event tells" in said.out
    assert "nowhere that is known" in said.err


def test_hosts_without_a_word_of_who_holds_what_are_no_room(
    terminal: Terminal, tmp_path: Path
) -> None:
    site = Site(tmp_path)
    site.said({(SCHEDULABLE, ("pod-a-h0",)): 1.0})
    said = terminal("place", "--accelerators", 1, "--domain", "pod-a", "-c", site.file)
    assert said.status == 1
    assert "its scheduler lists hosts, and offers fewer than these have" in said.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--accelerators", "0"), "give a whole number from 1 to 1,000,000"),
        (("--accelerators", "1000001"), "give a whole number from 1 to 1,000,000"),
        (("--accelerators", "4", "--domain", "pod-x"), "no accelerators are known in domain pod-x"),
    ],
)
def test_what_cannot_be_asked_is_wrong_usage(
    terminal: Terminal, site: Site, words: tuple[str, ...], why: str
) -> None:
    said = terminal("place", *words, "-c", site.file)
    assert said.status == 2
    assert why in said.err


def test_what_closes_accelerators_that_nobody_holds_is_told(terminal: Terminal, site: Site) -> None:
    """Work that was declared, a drained host, an accelerator that is ill; none that is held."""
    now = time.time()
    scope = {"rack": "pod-a-r0"}
    site.tell(Event(now - 60.0, "maintenance_start", scope, "chg-7"))
    site.said({(SCHEDULABLE, ("pod-b-h2",)): 0.0, (HEALTHY, ("pod-b-h1-0",)): 0.0})
    said = terminal("place", "--accelerators", 4, "-c", site.file)
    assert said.status == 1
    assert "0 of 12 are free, 5 are closed (5 by maintenance chg-7)" in said.out
    assert "3 of 12 are free, 5 are closed (4 by the scheduler, which places nothing" in said.out
    assert "1 by their own word: not healthy)" in said.out
    rows = terminal("place", "--accelerators", 4, "-c", site.file, "--json").objects
    assert rows[0]["closed"] == [{"by": "maintenance chg-7", "accelerators": 5}]
