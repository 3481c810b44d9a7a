"""`drain-plan` at a terminal: in order, with the reason of each."""

from pathlib import Path
from typing import Any

import pytest

from fabrichealth.events import Event
from fabrichealth.kinds import KINDS
from fabrichealth.model import Incident, Place
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.journal import SqliteJournal
from tests.fabrichealth.terminal import Terminal

RAILS, HOSTS = 4, 4
LOOP = {"type": "loop", "id": "cdu-1", "side": None, "direction": None, "lane": None}


def rail(host: int, leaf: int) -> str:
    return f"h{host}/e{leaf}--leaf-{leaf}/{host}"


def incident(name: str, kind: str, culprit: str, **changes: Any) -> dict[str, Any]:
    row = KINDS[kind]
    place = Place("link", culprit)
    one = Incident(name, row, row.severity, 1000.0, place, "because", "Clean.")
    return {**one.to_json(), **changes}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Four hosts of four rails; two rails of one of them are ill, one of another was."""
    leaves = [f"{{name: leaf-{n}, role: switch, tier: 1}}" for n in range(RAILS)]
    hosts = [f"{{name: h{n}, role: host, rack: r1}}" for n in range(HOSTS)]
    links = [
        f"{{a: h{host}/e{leaf}, b: leaf-{leaf}/{host}, speed_gbps: 400}}"
        for host in range(HOSTS) for leaf in range(RAILS)
    ]  # fmt: skip
    (tmp_path / "topology.yaml").write_text(
        f"racks: [{{name: r1}}]\ndevices: [{', '.join((*leaves, *hosts))}]\n"
        f"links: [{', '.join(links)}]\n"
    )
    site = tmp_path / "site.yaml"
    site.write_text("topology: topology.yaml\nstate: state\npolicy: {capacity_floor: 0.5}\n")
    paths = StatePaths(tmp_path / "state")
    paths.folder.mkdir()
    journal = SqliteJournal.open(paths.journal)
    for one in (
        incident("i1", "optics.degrading", rail(0, 0)),
        incident("i2", "link.flapping", rail(0, 1)),
        incident("i3", "link.flapping", rail(1, 0), closed_at=2000.0),
        {**incident("i4", "cooling.leak", "cdu-1"), "culprit": LOOP},
        {**incident("i5", "link.down", rail(1, 1)), "kind": "of.tomorrow"},
    ):  # fmt: skip
        journal.append("incident", 1000.0, one)
    journal.close()
    return site


def test_the_worst_comes_first_and_what_is_closed_or_no_link_not_at_all(
    terminal: Terminal, site: Path
) -> None:
    said = terminal("drain-plan", "-c", site)
    assert said.status == 0, said.err
    lines = said.out.splitlines()
    assert [line.split()[1] for line in lines[1:-1]] == ["i2", "i1"]
    assert "yes: 3 of 4 uplinks of h0 stay (75%, floor 50%)" in lines[1]
    assert lines[-1].startswith("2 of 2 may be drained now")


def test_what_may_not_go_says_which_constraint_forbids_it(terminal: Terminal, site: Path) -> None:
    site.write_text(site.read_text().replace("0.5", "0.75"))
    steps = terminal("drain-plan", "-c", site, "--json").objects
    assert [(step["incident"], step["safe"]) for step in steps] == [("i2", True), ("i1", False)]
    assert steps[1]["because"] == (
        "2 of 4 uplinks of h0 would be left (50%, 1 lost already); the floor is 75%"
    )


@pytest.mark.parametrize(
    ("kind", "planned"),
    [
        ("pfc.ecn_misconfigured", False),
        ("pfc.headroom_short", False),
        ("parts.version_drift", False),
        ("host.irq_misplaced", False),
        ("fabric.hot_link", False),
        ("pfc.slow_receiver", True),
        ("parts.shared_component", True),
    ],
)
def test_what_a_setting_mends_is_no_reason_to_take_anything_out(
    terminal: Terminal, site: Path, kind: str, planned: bool
) -> None:
    journal = SqliteJournal.open(StatePaths(site.parent / "state").journal)
    one = incident("i9", kind, rail(3, 3))
    port = {**one["culprit"], "type": "port", "id": "leaf-3/3"}
    journal.append("incident", 1000.0, {**one, "culprit": port})
    journal.close()
    steps = terminal("drain-plan", "-c", site, "--json").objects
    assert ("i9" in [step["incident"] for step in steps]) == planned


def test_a_drain_that_was_told_counts(terminal: Terminal, site: Path) -> None:
    journal = SqliteJournal.open(StatePaths(site.parent / "state").journal)
    for leaf in (2, 3):
        event = Event(1500.0, "link_drained", {"link": rail(0, leaf)})
        journal.append("event", event.at, event.to_json())
    journal.close()
    steps = terminal("drain-plan", "-c", site, "--json").objects
    assert [step["safe"] for step in steps] == [False, False]


def test_nothing_to_drain_is_said(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text("state: state\n")
    paths = StatePaths(tmp_path / "state")
    paths.folder.mkdir()
    SqliteJournal.open(paths.journal).close()
    said = terminal("drain-plan", "-c", tmp_path / "site.yaml")
    assert (said.status, said.out) == (0, "nothing open that draining would help\n")


def test_a_site_without_links_is_told_that_nothing_can_be_weighed(
    terminal: Terminal, site: Path
) -> None:
    """Two links flap and one is gone: a plan of nothing would read as if all were well."""
    site.write_text("state: state\n")
    said = terminal("drain-plan", "-c", site)
    assert said.status == 0
    assert said.err.count("\n") == 1
    assert f"{site}: no links are written" in said.err
    assert "4 incidents are open" in said.err
