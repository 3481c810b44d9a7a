"""Who holds back a job for a reason that is known is its victim, and one incident is told."""

from collections.abc import Sequence

import pytest

from fabrichealth.kinds import (
    COOLING_CLOGGED,
    COOLING_THERMAL_CONTACT,
    DEVICE_DOWN,
    DOMAIN_STRAGGLER,
    FABRIC_HOT_LINK,
    HOST_IRQ_MISPLACED,
    LINK_DEGRADED_SPEED,
    LINK_SUBHEALTHY,
    PFC_SLOW_RECEIVER,
    POWER_CAPPED,
    POWER_FEED_LOST,
    POWER_OVERLOAD,
    IncidentKind,
)
from fabrichealth.model import Finding, Place, Port
from fabrichealth.topology import Device, Feed, Link, Loop, Rack, Topology
from tests.analyzer.stories import MINUTE, Script, Story, during

CARD, SIBLING, HOST = Place("device", "host-1-0"), Place("device", "host-1-1"), "host-1"
HOURS = 600 * MINUTE


def hall() -> Topology:
    """Return two racks with a host of two accelerators each, linked to a leaf and to each other."""
    devices = [Device(name="leaf-0", role="switch")]
    links = []
    for n in (1, 2):
        devices.append(Device(name=f"host-{n}", role="host", rack=f"r{n}"))
        devices += [
            Device(name=f"host-{n}-{c}", role="accelerator", host=f"host-{n}") for c in range(2)
        ]
        links.append(Link(a=f"host-{n}/eth0", b=f"leaf-0/{n}", technology="roce"))
        links.append(Link(a=f"host-{n}-1/nvlink/0", b=f"nvs-{n}/0", technology="nvlink"))
    devices += [Device(name=f"nvs-{n}", role="switch", rack=f"r{n}") for n in (1, 2)]
    racks = [Rack(name=f"r{n}", loop="cdu-1", branch=f"b{n}") for n in (1, 2)]
    loops = [Loop(name="cdu-1", racks=("r1", "r2"))]
    return Topology(devices, links, racks=racks, loops=loops, feeds=[Feed(name="r1-A", rack="r1")])


def ill(kind: IncidentKind, about: Place | Port, start: float) -> Script:
    return during(kind, about, (start * MINUTE, HOURS))


def told(*scripts: Script) -> Story:
    def script(elapsed: float) -> Sequence[Finding]:
        return [said for one in scripts for said in one(elapsed)]

    return Story(script, topology=hall()).until(30 * MINUTE)


CAUSES: dict[str, tuple[IncidentKind, Place | Port]] = {
    "a link of its host is slow": (LINK_DEGRADED_SPEED, Port(HOST, "eth0")),
    "a link of its host loses data": (LINK_SUBHEALTHY, Port("leaf-0", "1")),
    "its host takes data slowly": (PFC_SLOW_RECEIVER, Port(HOST, "eth0")),
    "its rack is capped": (POWER_CAPPED, Place("rack", "r1")),
    "its rack lost a feed": (POWER_FEED_LOST, Place("feed", "r1-A")),
    "a feed of its rack is overloaded": (POWER_OVERLOAD, Place("feed", "r1-A")),
    "its branch clogs": (COOLING_CLOGGED, Place("branch", "cdu-1/b1")),
    "interrupts of its host are misplaced": (HOST_IRQ_MISPLACED, Place("device", HOST)),
    "its host is dark": (DEVICE_DOWN, Place("device", HOST)),
}


@pytest.mark.parametrize("began", [10.0, 17.0], ids=["the cause is told first", "and last"])
@pytest.mark.parametrize(("kind", "about"), CAUSES.values(), ids=CAUSES)
def test_who_lags_for_a_known_reason_is_its_victim(
    kind: IncidentKind, about: Place | Port, began: float
) -> None:
    story = told(ill(kind, about, began), ill(DOMAIN_STRAGGLER, CARD, 16.0))
    (incident,) = story.ledger.incidents
    assert incident.kind is kind
    assert CARD in incident.victims


def test_trouble_elsewhere_explains_nothing() -> None:
    story = told(
        ill(LINK_DEGRADED_SPEED, Port("host-2", "eth0"), 10),
        ill(POWER_CAPPED, Place("rack", "r2"), 10),
        ill(LINK_SUBHEALTHY, Port("host-1-1", "nvlink/0"), 10),  # its sibling's
        ill(DOMAIN_STRAGGLER, CARD, 16),
    )
    assert DOMAIN_STRAGGLER in {one.kind for one in story.ledger.incidents}


def test_a_straggler_that_was_there_long_before_is_its_own() -> None:
    story = told(ill(DOMAIN_STRAGGLER, CARD, 5), ill(LINK_DEGRADED_SPEED, Port(HOST, "eth0"), 25))
    assert len(story.ledger.incidents) == 2


def test_a_host_lags_for_what_one_of_its_accelerators_has() -> None:
    host = Place("device", HOST)
    story = told(ill(COOLING_THERMAL_CONTACT, SIBLING, 10), ill(DOMAIN_STRAGGLER, host, 16))
    (incident,) = story.ledger.incidents
    assert (incident.culprit, incident.kind) == (SIBLING, COOLING_THERMAL_CONTACT)


def test_what_else_is_known_of_the_same_machine_names_it() -> None:
    story = told(ill(DOMAIN_STRAGGLER, CARD, 10), ill(COOLING_THERMAL_CONTACT, CARD, 16))
    (incident,) = story.ledger.incidents
    assert (incident.culprit, incident.kind) == (CARD, COOLING_THERMAL_CONTACT)


@pytest.mark.parametrize("began", [10.0, 17.0], ids=["the cause is told first", "and last"])
def test_a_rail_whose_switch_has_a_full_uplink_is_its_victim(began: float) -> None:
    uplink, leaf = Port("leaf-0", "1"), Place("device", "leaf-0")
    story = told(ill(FABRIC_HOT_LINK, uplink, began), ill(DOMAIN_STRAGGLER, leaf, 16.0))
    (incident,) = story.ledger.incidents
    assert incident.kind is FABRIC_HOT_LINK
    assert leaf in incident.victims


def test_a_host_that_fills_its_own_link_is_not_slowed_by_it() -> None:
    host = Place("device", HOST)
    story = told(ill(FABRIC_HOT_LINK, Port(HOST, "eth0"), 10.0), ill(DOMAIN_STRAGGLER, host, 16.0))
    assert {one.kind for one in story.ledger.incidents} == {FABRIC_HOT_LINK, DOMAIN_STRAGGLER}
