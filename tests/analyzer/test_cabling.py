"""Cables that lead elsewhere than written: the link is named, and nobody is paged."""

import pytest

from fabrichealth.catalogue.ports import NEIGHBOR_INFO
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE, Severity
from fabrichealth.model import Place
from fabrichealth.store.embedded import EmbeddedStore
from tests.analyzer.living import Life, Reading, clos, ports_up

Heard = dict[tuple[str, str], tuple[str, str]]


def lived(store: EmbeddedStore, heard: Heard, seconds: float = 1800.0) -> Life:
    """Return a life in which ports hear these far ends, from 5 min on, and all links are up."""
    topology = clos(4)

    def law(device: str, elapsed: float) -> list[Reading]:
        said = ports_up(topology, device, lambda end: False)
        return said + [
            (NEIGHBOR_INFO, (*near, *far, "lldp"), 1.0)
            for near, far in heard.items()
            if near[0] == device and elapsed >= 300
        ]

    life = Life(store, topology, law, dict.fromkeys(topology.links_of, 30.0), every=30.0)
    return life.until(seconds)


def test_two_swapped_cables_are_two_links_to_be_looked_at(store: EmbeddedStore) -> None:
    life = lived(
        store,
        {
            ("host-0", "eth0"): ("leaf-0", "1"),
            ("host-1", "eth0"): ("leaf-0", "0"),
            ("leaf-0", "0"): ("host-1", "eth0"),
            ("leaf-0", "1"): ("host-0", "eth0"),
        },
    )
    assert {(one.kind, one.culprit) for one in life.open} == {
        (WATCH_DATA_IMPLAUSIBLE, Place("link", "host-0/eth0--leaf-0/0")),
        (WATCH_DATA_IMPLAUSIBLE, Place("link", "host-1/eth0--leaf-0/1")),
    }
    assert {one.severity for one in life.open} == {Severity.WATCH}
    assert "host-0/eth0 hears leaf-0/1 by lldp, leaf-0/0 is written" in {
        line.says for one in life.open for line in one.evidence
    }


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
