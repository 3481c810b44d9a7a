"""`status --domain`: what became of a domain, at a terminal."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from fabrichealth.catalogue.accelerators import ALLOCATED, THROTTLED, UTILIZATION
from fabrichealth.catalogue.devices import BUS_BANDWIDTH, SCHEDULABLE
from fabrichealth.catalogue.ports import SPEED, UP
from fabrichealth.catalogue.power import RACK_POWER
from fabrichealth.cli._domain_rows import Known, domain_rows
from fabrichealth.cli._domain_tables import drawn, tables
from fabrichealth.events import Event
from fabrichealth.kinds import KINDS, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident, Labels, Place
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.journal import SqliteJournal
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.analyzer.views import START, store_of
from tests.fabrichealth.terminal import Said, Terminal

END = 1_800_000_000.0
HOURS = 8
HOUR = 3600.0
POLL = 60.0

TOPOLOGY = """
domains: [{name: pod, kind: ub, accelerators: 9}]
racks: [{name: r0, domain: pod}, {name: r1, domain: pod}]
devices:
  - {name: s0, role: switch}
  - {name: s1, role: switch}
  - {name: h0, role: host, rack: r0, domain: pod}
  - {name: h1, role: host, rack: r1, domain: pod}
"""


def at(hours: float) -> float:
    """Return a time so many hours after the beginning."""
    return END - (HOURS - hours) * HOUR


def incident(name: str, kind: str, culprit: Place, hours: tuple[float, float | None], **more: Any
             ) -> dict[str, Any]:  # fmt: skip
    row = KINDS[kind]
    opened, closed = at(hours[0]), None if hours[1] is None else at(hours[1])
    confirmed = opened if row.severity >= Severity.TICKET else None
    one = Incident(
        name, row, row.severity, opened, culprit, "because", "Clean.", confirmed_at=confirmed,
        closed_at=closed, domain="pod", **more,
    )  # fmt: skip
    return one.to_json()


def told(accelerator: str, minute: int) -> Iterator[tuple[Metric, Labels, float]]:
    """Yield what is read of an accelerator in a minute."""
    rack, number = int(accelerator[1]), int(accelerator[2])
    hour = minute / 60
    busy = 0.8
    if accelerator == "a00" and 2 <= hour < 4:
        busy = 0.2  # its link is ill
    if rack == 1 and number >= 2:
        busy = 0.0  # free
    if accelerator == "a03":
        return  # says nothing
    yield UTILIZATION, (accelerator,), busy
    yield ALLOCATED, (accelerator,), float(not (rack == 1 and number >= 2))
    yield THROTTLED, (accelerator, "hw_thermal"), 0.1 if accelerator == "a10" else 0.0


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two racks of four accelerators on two planes of switches, for eight hours."""
    names = [f"a{rack}{number}" for rack in range(2) for number in range(4)]
    devices = [
        f"  - {{name: {name}, role: accelerator, host: h{name[1]}, rack: r{name[1]}}}\n"
        for name in names
    ]
    links = [
        f"  - {{a: {name}/ub/0/{plane}, b: s{plane}/{name}, technology: ub, speed_gbps: 400}}\n"
        for name in names
        for plane in range(2)
    ]
    text = TOPOLOGY + "".join(devices) + "links:\n" + "".join(links)
    (tmp_path / "topology.yaml").write_text(text)
    path = tmp_path / "site.yaml"
    path.write_text("topology: topology.yaml\nstate: state\npolicy: {capacity_floor: 0.75}\n")
    paths = StatePaths(tmp_path / "state")
    paths.folder.mkdir()
    store = EmbeddedStore.open(paths.store)
    clock = store.table.clock("prom", "t")
    batches = []
    for minute in range(HOURS * 60):
        said = [one for name in names for one in told(name, minute)]
        said += [(RACK_POWER, (f"r{rack}",), 10_000.0) for rack in range(2)]
        said += [(SCHEDULABLE, ("h0",), 1.0), (SCHEDULABLE, ("h1",), 1.0)]
        if minute >= HOURS * 60 - 10:
            for name in names:
                for plane in range(2):
                    port = (name, f"ub/0/{plane}")
                    said.append((UP, port, float((name, plane) != ("a00", 0))))
                    said.append((SPEED, port, 400e9))
        if minute == 60:
            said += [
                (BUS_BANDWIDTH, ("nccl-tests", "all_reduce", "1073741824", ranks), value)
                for ranks, value in (("4", 90e9), ("8", 80e9))
            ]
        series = store.table.intern_all([(metric, labels) for metric, labels, _ in said])
        values = np.array([value for *_, value in said])
        batches.append(Batch(clock, at(0) + (minute + 0.5) * POLL, series, values))
    store.append(batches)
    store.close()
    link = Place("link", "a00/ub/0/0--s0/a00")
    journal = SqliteJournal.open(paths.journal)
    for one in (
        incident("i1", "link.subhealthy", link, (2, 4), victims=[Place("device", "a00")]),
        incident("i2", "link.down", link, (7, None), victims=[Place("device", "a00")]),
        incident("i3", "domain.fragmented", Place("domain", "pod"), (6, 8)),
    ):
        journal.append("incident", END, one)
    start = Event(at(0), "job_start", {"job": "j1"}, more={"accelerators": ["a00", "a01", "a10"]})
    journal.append("event", start.at, start.to_json())
    journal.close()
    return path


def rows(said: Said, section: str) -> list[dict[str, Any]]:
    assert (said.status, said.err) == (0, "")
    return [one for one in said.objects if one["section"] == section]


def test_every_hour_stands_once_in_the_table_of_hours(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Terminal(capsys)("status", "-c", site, "--domain", "pod", "--for", "8h", "--json")
    found = {one["row"]: one["hours"] for one in rows(said, "hours") if one["hours"] > 1e-6}
    assert sum(found.values()) == pytest.approx(9 * (HOURS - 1 / 60))  # from the first reading on
    assert found["unknown"] == pytest.approx(2 * HOURS, rel=0.02)  # one is silent, one is missing
    assert found["links"] == pytest.approx(2 * 0.6, rel=0.05)
    assert found["cooling"] == pytest.approx(0.1 * 0.8 * HOURS, rel=0.05)
    assert found["fragmentation"] == pytest.approx(2 * 2.0, rel=0.05)
    assert found["free"] == pytest.approx(2 * 6.0, rel=0.05)
    throttled = found["cooling"]
    assert found["useful"] == pytest.approx(5 * 0.8 * HOURS - 1.2 - throttled, rel=0.02)
    (energy,) = rows(said, "energy")
    assert energy["kilowatt_hours"] == pytest.approx(20.0 * HOURS, rel=0.02)
    assert energy["hours_per_kilowatt_hour"] == pytest.approx(30.8 / 160, rel=0.05)


def test_links_failures_recoveries_and_benchmarks_follow(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Terminal(capsys)("status", "-c", site, "--domain", "pod", "--for", "8h", "--json")
    (machine,) = rows(said, "machine")
    assert (machine["size"], machine["effective"], machine["thin"]) == (9, 7, ["a00"])
    (cut,) = rows(said, "bisection")
    assert cut["share"] == pytest.approx(7 / 8)
    failures = {one["what"]: one for one in rows(said, "failure")}
    assert (failures["switch"]["name"], failures["switch"]["cut_off"]) == ("s1", 1)
    whole = next(one for one in rows(said, "recovery")
                 if (one["by"], one["phase"]) == ("domain", "all"))  # fmt: skip
    assert (whole["number"], whole["over"], whole["median"]) == (2, 1, 2 * HOUR)
    assert [one["failures"] for one in rows(said, "parts") if one["part"] == "link"] == [2]
    points = [(one["accelerators"], one["of_limit"]) for one in rows(said, "benchmark")]
    assert points == [(4, pytest.approx(0.9)), (8, pytest.approx(0.8))]


def test_a_person_reads_it_in_tables(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = Terminal(capsys)("status", "-c", site, "--domain", "pod", "--for", "8h")
    assert said.status == 0
    for words in (
        "pod: where 72 accelerator-hours went",
        "free while jobs waited that did not fit into what was free",
        "useful hours a kWh",
        "7 of 9 accelerators reach the others over 75% of their links or more",
        "cuts off 1 accelerators",
        "90% of 100.0 GB/s",
        "no failure in this time: accelerator, host, rack, switch",
    ):
        assert words in said.out
    assert max(map(len, said.out.splitlines())) < 140


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(("--domain", "nowhere"), "no domain nowhere; there are: pod", id="unknown"),
        pytest.param(("--domain", "pod", "--for", "7"), "--for 7", id="no unit"),
        pytest.param(("--domain", "pod", "--for", "2s"), "from a minute to a year", id="short"),
    ],
)
def test_what_cannot_be_told_is_one_line(
    words: tuple[str, ...], says: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = Terminal(capsys)("status", "-c", site, *words)
    assert said.status == 2
    assert says in said.err


def test_those_of_which_nothing_is_heard_are_said_in_the_same_line() -> None:
    row = {"section": "machine", "effective": 1, "size": 4, "floor": 0.75, "cut_off": [],
           "thin": [], "unheard": ["a", "b", "c"]}  # fmt: skip
    first, second = tables("pod", [row]).splitlines()
    assert first.startswith("pod as one machine: 1 of 4 accelerators")
    assert first.endswith("; of 3 nothing is heard")
    assert second == "  nothing heard of: a, b, c"


def test_what_a_failure_costs_is_told_of_jobs_that_run_in_the_domain() -> None:
    names = {pod: [f"{pod}-{n}" for n in range(4)] for pod in "ab"}
    devices = [Device(name=name, role="accelerator", domain=pod)
               for pod, mine in names.items() for name in mine]  # fmt: skip
    links = [Link(a=f"{name}/{plane}", b=f"switch-{plane}/{name}", technology="ub", speed_gbps=800)
             for mine in names.values() for name in mine for plane in range(2)]  # fmt: skip
    switches = [Device(name=f"switch-{plane}", role="switch") for plane in range(2)]
    site = Topology([*devices, *switches], links, [Domain(name=pod) for pod in names])
    store = store_of({(UP, (name, "0")): [1.0] for mine in names.values() for name in mine}, 60.0)
    held = {"one": names["a"], "other": names["b"], "both": [names["a"][0], names["b"][0]]}
    events = [Event(START, "job_start", {"job": job}, more={"accelerators": mine})
              for job, mine in held.items()]  # fmt: skip
    known = Known(store, site, [], events, 0.5, START + 60.0)
    told = [one for one in domain_rows(known, "a", HOUR) if one["section"] == "failure"]
    assert {one["job"] for one in told} == {"one", "both"}


def test_benchmarks_of_a_site_of_several_domains_are_of_none_and_have_no_limit() -> None:
    store = store_of({(BUS_BANDWIDTH, ("nccl-tests", "all_reduce", "1024", "4")): [90e9]}, 60.0)
    devices = [
        Device(name=f"{pod}-{n}", role="accelerator", domain=pod) for pod in "ab" for n in range(4)
    ]
    links = [
        Link(a=f"{pod}-{n}/0", b=f"{pod}-switch/{n}", technology="nvlink", speed_gbps=800)
        for pod in "ab"
        for n in range(4)
    ]

    def benchmark(*pods: str) -> dict[str, object]:
        own = [device for device in devices if device.domain in pods]
        site = Topology(own, links, [Domain(name=pod) for pod in pods])
        known = Known(store, site, [], [], 0.5, START + 60.0)
        (row,) = (one for one in domain_rows(known, "a", HOUR) if one["section"] == "benchmark")
        return row

    assert benchmark("a")["of_limit"] == pytest.approx(0.9)
    assert "speeds are written too low" not in tables("a", [benchmark("a")])
    beyond = {**benchmark("a"), "of_limit": 1.07}
    assert "107% of 100.0 GB/s: switches reduce, or" in tables("a", [beyond])
    several = benchmark("a", "b")
    assert (several["domain"], several["of_limit"]) == (None, None)
    assert "in which domain each ran is not told" in tables("a", [several])


def test_a_terminal_gets_the_same_words_and_long_ones_stay_in_their_column(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = Terminal(capsys)
    told = ask("status", "-c", site, "--domain", "pod", "--for", "8h", "--json").objects
    plain = tables("pod", told)
    for width in (200, 60):
        page = StringIO()
        screen = Console(width=width, file=page, color_system=None)
        screen.print(drawn("pod", told))
        shown = page.getvalue()
        assert max(map(len, shown.splitlines())) <= width
        assert sorted("".join(shown.split())) == sorted("".join(plain.split()))
