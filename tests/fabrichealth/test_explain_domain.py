"""`explain DOMAIN`: what holds it back in order of share, and what nobody can know of it."""

from pathlib import Path

import numpy as np
import pytest

from fabrichealth.catalogue.accelerators import UTILIZATION
from fabrichealth.catalogue.ports import TRANSMIT_WAIT
from fabrichealth.catalogue.verdicts import DOMAIN_ACCELERATORS, DOMAIN_LOST, DOMAIN_MISSING
from fabrichealth.cli._domain_story import NEVER
from fabrichealth.kinds import HOST_IRQ_MISPLACED, LINK_DOWN, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident, Labels, Place
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.journal import SqliteJournal
from tests.fabrichealth.terminal import Terminal

START = 1_800_000_000.0

OLD: dict[tuple[Metric, Labels], float] = {
    (DOMAIN_LOST, ("pod-a", "cordoned")): 0.5,  # of the pass before
}
NOW: dict[tuple[Metric, Labels], float] = {
    (DOMAIN_ACCELERATORS, ("pod-a", "0.9")): 24.0,
    (DOMAIN_ACCELERATORS, ("pod-a", "missing")): 8.0,
    (DOMAIN_LOST, ("pod-a", "idle in a job")): 0.05,
    (DOMAIN_LOST, ("pod-a", "missing")): 0.25,
    (DOMAIN_LOST, ("pod-b", "unallocated")): 0.9,
    (DOMAIN_MISSING, ("pod-a",)): 0.25,
    (UTILIZATION, ("host-0-0",)): 0.9,
    (TRANSMIT_WAIT, ("leaf-0", "1")): 12.0,
}


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A site whose judging said something of two domains, and has incidents of each."""
    site = tmp_path / "site.yaml"
    site.write_text("topology: topology.yaml\nstate: state\n")
    (tmp_path / "topology.yaml").write_text("domains: [{name: pod-a, accelerators: 32}]\n")
    paths = StatePaths(tmp_path / "state")
    paths.folder.mkdir()
    store = EmbeddedStore.open(paths.store)
    clock = store.table.clock("test", "t")
    for at, told in ((START, OLD), (START + 10.0, NOW)):
        series = store.table.intern_all(told)
        order = np.argsort(series)
        values = np.array(list(told.values()))
        store.append([Batch(clock, at, series[order], values[order])])
    store.close()
    journal = SqliteJournal.open(paths.journal)
    for name, kind, severity, domain in (
        ("i1", HOST_IRQ_MISPLACED, Severity.TICKET, "pod-a"),
        ("i2", LINK_DOWN, Severity.PAGE, "pod-a"),
        ("i3", LINK_DOWN, Severity.PAGE, "pod-b"),
    ):
        one = Incident(
            incident=name, kind=kind, severity=severity, opened_at=START, domain=domain,
            culprit=Place("device", "host-1"), because=f"because {name}", action="Look.",
        )  # fmt: skip
        journal.append("incident", START, one.to_json())
    journal.close()
    return site


def test_what_holds_a_domain_back_is_told_in_order_of_share(terminal: Terminal, ran: Path) -> None:
    said = terminal("explain", "pod-a", "-c", ran)
    assert said.status == 0, said.err
    lines = said.out.splitlines()
    assert lines[0] == "pod-a  32 accelerators, 70% of their time is worked"
    assert lines[2:4] == ["held back   25.0%  missing", "             5.0%  idle in a job"]
    assert [line.split()[-1] for line in lines[4:6]] == ["i2", "i1"]
    assert "cordoned" not in said.out
    assert len(lines) < 40


def test_what_no_reading_can_tell_is_said(terminal: Terminal, ran: Path) -> None:
    (plain,) = terminal("explain", "pod-a", "-c", ran, "--json").objects
    assert "what power caps and heat take" in plain["unknown"]
    assert "whether the fabric makes them wait" not in plain["unknown"]  # its credits are read
    assert "how busy anything is" not in plain["unknown"]
    assert (plain["worked"], plain["incidents"]) == (0.7, ["i2", "i1"])
    assert NEVER in terminal("explain", "pod-a", "-c", ran).out


def test_a_domain_that_nobody_knows_names_those_there_are(terminal: Terminal, ran: Path) -> None:
    said = terminal("explain", "pod-z", "-c", ran)
    assert said.status == 2
    assert "the newest are: i1, i2, i3; domains: pod-a" in said.err


def test_a_domain_of_which_nothing_was_read_yet_is_no_unknown_incident(
    terminal: Terminal, tmp_path: Path
) -> None:
    site = tmp_path / "site.yaml"
    site.write_text("topology: topology.yaml\nstate: state\n")
    (tmp_path / "topology.yaml").write_text("domains: [{name: pod-a, accelerators: 32}]\n")
    paths = StatePaths(tmp_path / "state")
    paths.folder.mkdir()
    EmbeddedStore.open(paths.store).close()
    SqliteJournal.open(paths.journal).close()
    said = terminal("explain", "pod-a", "-c", site)
    assert said.status == 1
    assert "domain pod-a: nothing is told of it yet" in said.err
    status = terminal("status", "--domain", "pod-a", "-c", site)
    assert status.status == 0
    assert "pod-a: nothing was read yet" in status.out
    assert "no failure" not in status.out
