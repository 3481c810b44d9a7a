"""Cause and side of an incident follow from all that was ever seen of its link."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.causes.signatures import SIGNATURES, On
from analyzer.evidence.causes.signs import LINK_WIDE, Symptom, joined, read, renamed, sign
from analyzer.evidence.causes.weighing import Diagnosis, diagnose
from analyzer.incidents.claims import claims
from analyzer.incidents.context import context_signs
from analyzer.incidents.lifecycle import Policy, advance
from analyzer.ledger import Ledger
from fabrichealth.events import Event
from fabrichealth.kinds import (
    LINK_DOWN,
    LINK_SUBHEALTHY,
    LINK_WILL_FAIL,
    OPTICS_DEGRADING,
    Cause,
    IncidentKind,
)
from fabrichealth.model import Finding, Forecast, Incident, Port
from fabrichealth.topology import Device, Link, Loop, Rack, Topology

A, B = Port("host-0", "eth0"), Port("leaf-0", "0")
S = Symptom
NOON = 1_800_000_000.0
HALL = Topology(
    [Device(name="leaf-0", role="switch", rack="r1"), Device(name="host-0", role="host", rack="r1"),
     Device(name="host-9", role="host", rack="r9")],
    [Link(a=str(A), b=str(B), technology="roce", medium="optical")],
    racks=[Rack(name="r1"), Rack(name="r9")],
    loops=[Loop(name="cdu-1", racks=["r1"])],
)  # fmt: skip
LINK = HALL.link_of[A]


def seen(of_a: dict[Symptom, bool], of_b: dict[Symptom, bool]) -> dict[str, bool]:
    """Return signs of both ends."""
    return {sign(what, end): there for end, had in ((A, of_a), (B, of_b))
            for what, there in had.items()}  # fmt: skip


def weigh(signs: dict[str, bool], on: On = On.LIGHT) -> Diagnosis:
    return diagnose(signs, (A, B), on)


WELL = {S.RX_LOW: False, S.TX_LOW: False, S.BIAS_ODD: False, S.SNR_LOW: False, S.HOST_BAD: False,
        S.HOT: False, S.RX_RESTLESS: False}  # fmt: skip
ROWS = {
    "errors follow an ageing laser, so the sender is ill and not the receiver that errs": (
        WELL | {S.ERRORS: False, S.BIAS_ODD: True}, WELL | {S.ERRORS: True},
        Cause.DECAYING_TRANSMITTER, A,
    ),
    "errors come with low light that was sent well: dirt before the receiver": (
        WELL | {S.ERRORS: False}, WELL | {S.ERRORS: True, S.RX_LOW: True, S.SNR_LOW: True},
        Cause.CONTAMINATED_CONNECTOR, B,
    ),
    "errors come from the electrical side of the far module": (
        WELL | {S.ERRORS: False, S.HOST_BAD: True}, WELL | {S.ERRORS: True},
        Cause.HOST_ELECTRICAL, A,
    ),
    "both ends lose light that was sent well": (
        WELL | {S.RX_LOW: True, S.ERRORS: True}, WELL | {S.RX_LOW: True}, Cause.DAMAGED_FIBER, None,
    ),
    "the link is dark since one laser has no bias": (
        WELL | {S.TX_LOW: True, S.BIAS_ODD: True}, WELL | {S.RX_LOW: True, S.RX_LANES_ALIKE: False},
        Cause.DECAYING_TRANSMITTER, A,
    ),
    "errors in one direction, and all light and signal well": (
        WELL | {S.ERRORS: False}, WELL | {S.ERRORS: True}, Cause.LOOSE_OR_BAD_MODULE, B,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_counters_and_light_speak_together(row: str) -> None:
    of_a, of_b, cause, side = ROWS[row]
    found = weigh(seen(of_a, of_b))
    assert found.cause == cause
    assert found.side == side


def test_copper_has_neither_dirt_nor_lasers() -> None:
    found = weigh(seen({S.ERRORS: True}, {S.ERRORS: True}), On.COPPER)
    assert found.cause == Cause.COPPER_CABLE
    assert found.side is None
    assert not found.causes.keys() & {Cause.CONTAMINATED_CONNECTOR, Cause.DECAYING_TRANSMITTER}


def test_one_ill_direction_of_a_copper_cable_accuses_the_host_that_sends() -> None:
    found = weigh(seen({S.ERRORS: False, S.HOT: False}, {S.ERRORS: True, S.HOT: False}), On.COPPER)
    assert found.cause == Cause.HOST_ELECTRICAL
    assert (found.side, found.direction) == (A, "tx")


SIGNS = st.dictionaries(
    st.tuples(st.sampled_from(Symptom), st.sampled_from([A, B])).map(lambda one: sign(*one)),
    st.booleans(),
    max_size=30,
)


@given(SIGNS, st.sampled_from(On))
def test_probabilities_add_up_whatever_is_seen(signs: dict[str, bool], on: On) -> None:
    found = weigh(signs, on)
    assert sum(found.causes.values()) == pytest.approx(1.0)
    assert found.side in {None, A, B}
    assert found.signature in SIGNATURES


@given(SIGNS, st.sampled_from(On))
def test_the_ends_may_be_named_in_any_order(signs: dict[str, bool], on: On) -> None:
    other = diagnose(signs, (B, A), on)
    assert other.causes == pytest.approx(weigh(signs, on).causes)
    assert other.side == weigh(signs, on).side


@given(SIGNS, SIGNS)
def test_what_one_finding_saw_stays_seen(one: dict[str, bool], other: dict[str, bool]) -> None:
    both = joined([one, other])
    assert both == joined([other, one])
    assert all(both[name] for said in (one, other) for name, there in said.items() if there)


@given(st.dictionaries(st.text(max_size=12), st.booleans()))
def test_signs_of_another_version_are_passed_over(plain: dict[str, bool]) -> None:
    for symptom, _, _ in read(plain):
        assert symptom in Symptom


@pytest.mark.parametrize("symptom", sorted(LINK_WIDE))
def test_what_a_link_shows_as_a_whole_accuses_no_end(symptom: Symptom) -> None:
    assert weigh({sign(symptom, A): True}).side is None


def test_signs_follow_a_port_to_its_new_name_even_when_two_swap() -> None:
    signs = seen({S.RX_LOW: True}, {S.RX_LOW: False}) | {sign(S.DOWN, None): True}
    moved = renamed(signs, {A: B, B: A})
    assert moved == seen({S.RX_LOW: False}, {S.RX_LOW: True}) | {sign(S.DOWN, None): True}


def finding(kind: IncidentKind, about: Port, minutes: float, signs: dict[str, bool]) -> Finding:
    at = NOON + minutes * 60
    ahead = Forecast("limit_reached", at, at, at) if kind is LINK_WILL_FAIL else None
    return Finding(kind, about, 1.0, at, at, [], kind.means, signs=signs, forecast=ahead)


def grown(*passes: list[Finding], events: tuple[Event, ...] = ()) -> Incident:
    """Return the incident that these passes make, one a minute."""
    ledger = Ledger()
    for number, found in enumerate(passes):
        now = NOON + number * 60
        advance(ledger, claims(found, HALL), now, HALL, events, Policy())
    (incident,) = ledger.incidents
    return incident


LASER = seen(WELL | {S.BIAS_ODD: True, S.TX_LOW: True}, WELL | {S.RX_LOW: True})


def test_the_laser_stays_accused_when_errors_and_silence_take_over() -> None:
    incident = grown(
        [finding(OPTICS_DEGRADING, A, 0, LASER)],
        [finding(LINK_SUBHEALTHY, B, 1, {sign(S.ERRORS, B): True, sign(S.ERRORS, A): False})],
        [finding(LINK_DOWN, B, 2, {sign(S.DOWN, None): True})],
    )
    assert incident.kind is LINK_DOWN
    assert incident.cause == Cause.DECAYING_TRANSMITTER
    assert (incident.side, incident.direction) == (str(A), "tx")


def test_a_lesser_kind_that_comes_later_still_bears_witness() -> None:
    errs = finding(LINK_SUBHEALTHY, B, 0, {sign(S.ERRORS, B): True, sign(S.ERRORS, A): False})
    before = grown([errs])
    after = grown([errs], [finding(OPTICS_DEGRADING, A, 1, LASER)])
    assert before.side == str(B)
    assert (after.kind, after.side) == (LINK_SUBHEALTHY, str(A))


def test_the_date_is_kept_when_errors_are_there_before_it() -> None:
    soon = finding(LINK_WILL_FAIL, B, 0, {sign(S.GROWING, B): True})
    incident = grown([soon, finding(LINK_SUBHEALTHY, B, 0, {sign(S.ERRORS, B): True})])
    assert incident.kind is LINK_SUBHEALTHY
    assert incident.forecast == soon.forecast


def told_of(kind: str, hours_before: float, **scope: str) -> set[str]:
    """Return the symptoms that one event leaves at either end."""
    event = Event(NOON - hours_before * 3600, kind, scope)
    return {name.partition("@")[0] for name in context_signs(LINK, NOON, [event], HALL)}


def test_what_was_done_before_weighs_and_what_was_done_elsewhere_does_not() -> None:
    assert told_of("part_touched", 1, link=LINK.id) == {"touched"}
    assert told_of("part_touched", 1, device="host-0", port="eth0") == {"touched"}
    assert told_of("repair_start", 2, rack="r1") == {"work_nearby"}
    assert told_of("repair_start", 2, loop="cdu-1") == {"work_nearby"}
    assert told_of("firmware_upgrade", 1, device="leaf-0") == {"upgraded"}
    assert told_of("boot", 0.1, device="host-0") == {"rebooted"}
    assert told_of("maintenance_start", 1, link=LINK.id) == {"maintained"}
    for hours, scope in ((30, "r1"), (-2, "r1"), (1, "r9")):
        assert told_of("part_touched", hours, rack=scope) == set()
    assert told_of("part_touched", 1) == set()


def test_pipes_serviced_nearby_speak_for_a_bent_fibre() -> None:
    signs = seen({S.RX_LOW: True}, {})
    work = Event(NOON - 1800, "repair_start", {"loop": "cdu-1"})
    quiet = grown([finding(OPTICS_DEGRADING, A, 0, signs)])
    after = grown([finding(OPTICS_DEGRADING, A, 0, signs)], events=(work,))
    assert after.causes[Cause.DAMAGED_FIBER] > 1.3 * quiet.causes[Cause.DAMAGED_FIBER]
