"""Cables that lead elsewhere than written: the link is named, and nobody is paged."""

from collections.abc import Mapping
from math import inf

import pytest

from fabrichealth.catalogue.ports import NEIGHBOR_INFO
from fabrichealth.kinds import LINK_DOWN, WATCH_DATA_IMPLAUSIBLE, Severity
from fabrichealth.model import Port
from fabrichealth.store.embedded import EmbeddedStore
from tests.analyzer.living import START, Life, Reading, clos, ports_up

Heard = dict[tuple[str, str], tuple[str, str]]


def lived(
    store: EmbeddedStore,
    heard: Heard,
    seconds: float = 1800.0,
    falls: Mapping[str, float] | None = None,
    every: float = 60.0,
) -> Life:
    """Return a life in which ports hear these far ends, from 5 min on; some fall at a time."""
    topology = clos(4)
    down = {Port.parse(name): at for name, at in (falls or {}).items()}

    def law(device: str, elapsed: float) -> list[Reading]:
        said = ports_up(topology, device, lambda end: elapsed >= down.get(end, inf))
        return said + [
            (NEIGHBOR_INFO, (*near, *far, "lldp"), 1.0)
            for near, far in heard.items()
            if near[0] == device and 300 <= elapsed < down.get(Port(*near), inf)
        ]

    life = Life(store, topology, law, dict.fromkeys(topology.links_of, every), every=every)
    return life.until(seconds)


SWAPPED: Heard = {
    ("host-0", "eth0"): ("leaf-0", "1"),
    ("host-1", "eth0"): ("leaf-0", "0"),
    ("leaf-0", "0"): ("host-1", "eth0"),
    ("leaf-0", "1"): ("host-0", "eth0"),
}
ONE_SIDE: Heard = {near: far for near, far in SWAPPED.items() if near[0] == "leaf-0"}


def test_of_two_swapped_cables_each_is_told_and_names_the_other(store: EmbeddedStore) -> None:
    first, second = "host-0/eth0--leaf-0/0", "host-1/eth0--leaf-0/1"
    told = {one.culprit.id: one for one in lived(store, SWAPPED).open}
    assert told.keys() == {first, second}
    assert {(one.kind, one.severity) for one in told.values()} == {
        (WATCH_DATA_IMPLAUSIBLE, Severity.WATCH)
    }
    assert f"the cables of {first}, {second} change places" in told[first].because
    assert f"the cables of {second}, {first} change places" in told[second].because
    assert "host-0/eth0 hears leaf-0/1 by lldp, leaf-0/0 is written" in {
        line.says for line in told[first].evidence
    }


def opened(life: Life) -> dict[str, float]:
    """Return when each link that is down fell, in seconds after the start."""
    return {one.culprit.id: one.opened_at - START for one in life.open if one.kind is LINK_DOWN}


@pytest.mark.parametrize("heard", [SWAPPED, ONE_SIDE], ids=["both hear", "one hears"])
def test_of_two_swapped_cables_each_that_falls_is_one_incident_on_itself(
    store: EmbeddedStore, heard: Heard
) -> None:
    """host-0/eth0 and leaf-0/1 are truly joined; by the topology two links are half down."""
    falls = {"host-0/eth0": 1200.0, "leaf-0/1": 1200.0}
    falls |= {"host-1/eth0": 1500.0, "leaf-0/0": 1500.0}
    life = lived(store, heard, 1440.0, falls)
    first, second = "host-0/eth0--leaf-0/1", "host-1/eth0--leaf-0/0"
    assert opened(life) == {first: 1200.0}
    assert len(life.paged) == 1
    assert opened(life.until(1800.0)) == {first: 1200.0, second: 1500.0}
    assert len(life.paged) == 2
    wrong = [one for one in life.open if one.kind is not LINK_DOWN]
    assert {one.kind for one in wrong} == {WATCH_DATA_IMPLAUSIBLE}
    assert len(wrong) == 2
    (said,) = [one.because for one in life.open if one.culprit.id == first]
    assert "host-0/eth0 is joined to leaf-0/1 by what they heard, though leaf-0/0 is wri" in said


def test_a_swapped_cable_keeps_its_name_when_nobody_remembers_what_it_heard(
    store: EmbeddedStore,
) -> None:
    life = lived(store, SWAPPED, 7200.0, {"host-0/eth0": 1800.0, "leaf-0/1": 1800.0}, every=120.0)
    downs = [one.culprit.id for one in (*life.closed, *life.open) if one.kind is LINK_DOWN]
    assert downs == ["host-0/eth0--leaf-0/1"]


@pytest.mark.parametrize(
    "heard",
    [
        pytest.param({("host-0", "eth0"): ("leaf-0", "0")}, id="as written"),
        pytest.param({("host-0", "eth0"): ("leaf-0", "etp1")}, id="another name of the port"),
        pytest.param({("host-0", "eth0"): ("leaf-0", "")}, id="no port"),
        pytest.param({("host-0", "eth0"): ("printer", "1")}, id="an unknown device"),
        pytest.param(
            {("host-0", "eth0"): ("leaf-0", "1"), ("leaf-0", "0"): ("host-0", "eth0")},
            id="the other end hears what is written",
        ),
    ],
)
def test_what_may_be_the_written_far_end_is_no_news(store: EmbeddedStore, heard: Heard) -> None:
    assert lived(store, heard).open == []


def test_somebody_who_is_plugging_is_not_told_of(store: EmbeddedStore) -> None:
    assert lived(store, {("host-0", "eth0"): ("leaf-0", "1")}, seconds=600).open == []
