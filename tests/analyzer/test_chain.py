"""From water and breakers to what fails for them: one incident, at its beginning."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fabrichealth.kinds import (
    COOLING_CLOGGED,
    COOLING_EXCHANGER_FOULED,
    COOLING_PUMP_WEAR,
    COOLING_SENSOR_DRIFT,
    COOLING_SUPPLY_HOT,
    DEVICE_DOWN,
    LINK_SUBHEALTHY,
    OPTICS_OVERHEATING,
    POWER_FEED_LOST,
    POWER_OVERLOAD,
    POWER_SUPPLY_FAILED,
    WATCH_SOURCE_SILENT,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Finding, Place, Port
from fabrichealth.topology import Device, Feed, Link, Loop, Rack, Topology
from tests.analyzer.stories import MINUTE, START, Script, Story, during

LOOP, BRANCH, FACILITY = Place("loop", "cdu-1"), Place("branch", "cdu-1/b1"), Place("loop", "fws")
FEED, PARTNER = Place("feed", "r1-A"), Place("feed", "r1-B")
HOURS = 600.0 * MINUTE


def hall() -> Topology:
    """Return two racks on branches of one loop, one on another, each with a host and two feeds."""
    racks = {"r1": ("cdu-1", "b1"), "r2": ("cdu-1", "b2"), "r3": ("cdu-2", "b1")}
    devices = [Device(name="leaf-0", role="switch"), Device(name="cdu-1", role="cdu")]
    devices += [Device(name=f"host-{rack[1]}", role="host", rack=rack) for rack in racks]
    devices += [Device(name="pdu-1", role="pdu", rack="r1")]
    return Topology(
        devices,
        [Link(a=f"host-{n}/eth0", b=f"leaf-0/{n}", technology="ib") for n in (1, 2, 3)],
        racks=[Rack(name=name, loop=loop, branch=branch) for name, (loop, branch) in racks.items()],
        loops=[
            Loop(name="fws", kind="facility"),
            Loop(name="cdu-1", device="cdu-1", facility="fws", racks=("r1", "r2")),
            Loop(name="cdu-2", racks=("r3",)),
        ],
        feeds=[
            Feed(name="r1-A", rack="r1", redundant_with="r1-B", meter={"device": "pdu-1"}),
            Feed(name="r1-B", rack="r1"),
        ],
    )


def link(number: int) -> Place:
    return Place("link", f"host-{number}/eth0--leaf-0/{number}")


def port(number: int) -> Port:
    return Port(f"host-{number}", "eth0")


def ill(
    kind: IncidentKind, about: Port | Place, start: float, severity: Severity | None = None
) -> Script:
    return during(kind, about, (start * MINUTE, HOURS), severity=severity)


def told(*scripts: Script, until: float = 90.0) -> Story:
    def script(elapsed: float) -> Sequence[Finding]:
        return [said for one in scripts for said in one(elapsed)]

    return Story(script, topology=hall()).until(until * MINUTE)


def test_hot_modules_behind_a_clogged_branch_are_its_victims_and_the_way_is_shown() -> None:
    story = told(ill(COOLING_CLOGGED, BRANCH, 10), ill(OPTICS_OVERHEATING, port(1), 22))
    (incident,) = story.all
    assert (incident.kind, incident.culprit) == (COOLING_CLOGGED, BRANCH)
    assert link(1) in incident.victims
    (other,) = [one for one in incident.alternatives if one.culprit == link(1)]
    assert other.why_not == (
        "optics.overheating there began 12 min later and follows from it: "
        "cdu-1 > cdu-1/b1 > r1 > host-1 > host-1/eth0--leaf-0/1"
    )


def test_what_was_told_first_becomes_the_incident_of_its_cause() -> None:
    late = during(COOLING_CLOGGED, BRANCH, (40 * MINUTE, HOURS))

    def since_ten(elapsed: float) -> Sequence[Finding]:
        return [replace(said, since=START + 10 * MINUTE) for said in late(elapsed)]

    story = told(since_ten, ill(OPTICS_OVERHEATING, port(1), 22))
    (incident,) = story.ledger.incidents
    assert (incident.incident, incident.culprit) == ("i1", BRANCH)
    assert [step.kind for step in incident.history] == ["optics.overheating", "cooling.clogged"]


def test_racks_of_another_branch_or_loop_have_their_own_trouble() -> None:
    story = told(
        ill(COOLING_CLOGGED, BRANCH, 10),
        ill(OPTICS_OVERHEATING, port(2), 22),
        ill(OPTICS_OVERHEATING, port(3), 22),
    )
    assert {one.culprit for one in story.ledger.incidents} == {BRANCH, link(2), link(3)}


def test_a_worn_pump_explains_every_rack_of_its_loop() -> None:
    story = told(
        ill(COOLING_PUMP_WEAR, LOOP, 10),
        ill(COOLING_CLOGGED, BRANCH, 15),
        ill(OPTICS_OVERHEATING, port(1), 30),
        ill(OPTICS_OVERHEATING, port(2), 30),
    )
    (incident,) = story.ledger.incidents
    assert (incident.culprit, {BRANCH, link(1), link(2)} <= set(incident.victims)) == (LOOP, True)


def test_hot_water_of_the_building_explains_the_hall_behind_it() -> None:
    story = told(
        ill(COOLING_SUPPLY_HOT, FACILITY, 10),
        ill(COOLING_SUPPLY_HOT, LOOP, 14),
        ill(OPTICS_OVERHEATING, port(1), 30),
    )
    (incident,) = story.ledger.incidents
    assert incident.culprit == FACILITY
    (other,) = [one for one in incident.alternatives if one.culprit == link(1)]
    assert "fws > cdu-1 > cdu-1/b1 > r1 > host-1" in other.why_not


def test_a_fouled_exchanger_explains_the_warm_supply_of_its_loop() -> None:
    story = told(ill(COOLING_EXCHANGER_FOULED, LOOP, 10), ill(COOLING_SUPPLY_HOT, LOOP, 30))
    (incident,) = story.ledger.incidents
    assert incident.culprit == LOOP


def test_a_link_that_stumbles_follows_only_where_it_is_hot() -> None:
    cool = told(ill(COOLING_CLOGGED, BRANCH, 10), ill(LINK_SUBHEALTHY, port(1), 30))
    assert {one.culprit for one in cool.ledger.incidents} == {BRANCH, link(1)}
    warm = told(
        ill(COOLING_CLOGGED, BRANCH, 10),
        ill(OPTICS_OVERHEATING, port(1), 25),
        ill(LINK_SUBHEALTHY, port(1), 30, Severity.PAGE),
    )
    (incident,) = warm.ledger.incidents
    assert (incident.culprit, incident.severity) == (BRANCH, Severity.PAGE)


def test_what_was_hot_long_before_is_no_victim() -> None:
    story = told(ill(OPTICS_OVERHEATING, port(1), 5), ill(COOLING_CLOGGED, BRANCH, 60))
    assert {one.culprit for one in story.ledger.incidents} == {link(1), BRANCH}


def test_a_sensor_that_drifts_heats_nothing() -> None:
    story = told(ill(COOLING_SENSOR_DRIFT, LOOP, 10), ill(OPTICS_OVERHEATING, port(1), 22))
    assert {one.culprit for one in story.ledger.incidents} == {LOOP, link(1)}


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        (POWER_OVERLOAD, PARTNER),
        (POWER_SUPPLY_FAILED, Place("rack", "r1")),
        (WATCH_SOURCE_SILENT, Place("source", "snmp/pdu-1")),
        (DEVICE_DOWN, Place("device", "host-1")),
    ],
)
def test_what_a_lost_feed_does_to_its_rack_is_its_own_incident(
    kind: IncidentKind, about: Place
) -> None:
    (incident,) = told(ill(POWER_FEED_LOST, FEED, 10), ill(kind, about, 12)).ledger.incidents
    assert (incident.kind, incident.culprit) == (POWER_FEED_LOST, FEED)
    assert about in incident.victims


@pytest.mark.parametrize(
    ("kind", "about"),
    [
        (POWER_OVERLOAD, FEED),
        (POWER_SUPPLY_FAILED, Place("rack", "r2")),
        (WATCH_SOURCE_SILENT, Place("source", "snmp/pdu-2")),
        (DEVICE_DOWN, Place("device", "host-2")),
    ],
)
def test_other_racks_have_their_own(kind: IncidentKind, about: Place) -> None:
    story = told(ill(POWER_FEED_LOST, PARTNER, 10), ill(kind, about, 12))
    culprits = {one.culprit for one in story.ledger.incidents}
    assert culprits == ({PARTNER} if about == FEED else {PARTNER, about})


def test_a_dark_rack_takes_its_feeds_along() -> None:
    rack = Place("rack", "r1")
    story = told(
        ill(DEVICE_DOWN, rack, 10),
        ill(POWER_FEED_LOST, FEED, 10),
        ill(POWER_FEED_LOST, PARTNER, 10),
    )
    (incident,) = story.ledger.incidents
    assert (incident.kind, incident.culprit) == (DEVICE_DOWN, rack)
    assert {FEED, PARTNER} <= set(incident.victims)
