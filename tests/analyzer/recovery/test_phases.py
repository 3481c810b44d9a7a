"""Phases of a recovery, by what events tell."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.recovery.cases import Case, is_drill
from analyzer.recovery.distribution import times
from analyzer.recovery.phases import PHASES, phases
from fabrichealth.events import Event
from fabrichealth.topology import Device, Link, Topology

HOUR = 3600.0
PAGE = Topology(
    [Device(name="leaf-0", role="switch"), Device(name="host-0", role="host", rack="r1")],
    [Link(a="host-0/eth0", b="leaf-0/0", technology="roce", medium="optical")],
)
LINK = "host-0/eth0--leaf-0/0"
CASE = Case("i1", "link.flapping", "", "pod", "optical link", "link", LINK, 0.0, 60.0, 5 * HOUR,
            1, 1)  # fmt: skip
HERE = {"link": LINK}


def told(
    *events: tuple[float, str], case: Case = CASE, now: float = 50 * HOUR
) -> dict[str, tuple[float, bool]]:
    """Return seconds of each phase and whether it is over; events are (hours, kind)."""
    said = [Event(at * HOUR, kind, HERE) for at, kind in events]
    return {one.name: (one.seconds, one.over) for one in phases(case, said, PAGE, now)}


WHOLE = ((1, "link_drained"), (2, "repair_start"), (4, "repair_end"), (6, "link_returned"))


def test_a_repair_by_the_book_has_every_phase() -> None:
    assert told(*WHOLE) == {
        "detect": (60.0, True),
        "diagnose": (HOUR - 60.0, True),
        "drain": (HOUR, True),
        "repair": (2 * HOUR, True),
        "verify": (2 * HOUR, True),
        "all": (6 * HOUR, True),
    }


def test_nobody_repaired_what_healed_by_itself() -> None:
    assert told() == {"detect": (60.0, True), "all": (5 * HOUR, True)}


@pytest.mark.parametrize(
    ("until", "going"),
    [
        pytest.param(0, {"diagnose", "all"}, id="nobody has acted"),
        pytest.param(1, {"drain", "all"}, id="drained, no hands yet"),
        pytest.param(2, {"repair", "all"}, id="in repair"),
        pytest.param(3, {"verify", "all"}, id="mended, not back in service"),
    ],
)
def test_what_goes_on_is_told_as_going_on(until: int, going: set[str]) -> None:
    still = replace(CASE, closed_at=None)
    found = told(*WHOLE[:until], case=still, now=5.5 * HOUR)
    assert {name for name, (_, over) in found.items() if not over} == going
    assert found["all"] == (5.5 * HOUR, False)


def test_a_drained_link_is_not_recovered_when_its_errors_end_but_when_it_is_back() -> None:
    assert told(*WHOLE[:3], now=20 * HOUR)["all"] == (20 * HOUR, False)
    assert told(*WHOLE, now=20 * HOUR)["all"] == (6 * HOUR, True)


def test_a_part_that_was_touched_is_mended_when_the_fault_was_seen_last() -> None:
    found = told((2, "part_touched"), (3, "part_replaced"))
    assert found["repair"] == (3 * HOUR, True)
    assert "drain" not in found
    assert "verify" not in found


def test_what_is_done_days_later_is_about_something_else() -> None:
    assert told((40, "link_drained"), (41, "repair_start")) == told()


def test_events_of_elsewhere_and_by_number_of_the_incident() -> None:
    elsewhere = Event(HOUR, "repair_start", {"link": "a/1--b/1"})
    by_number = Event(2 * HOUR, "repair_start", {"incident": "i1"})
    found = phases(CASE, [elsewhere, by_number], PAGE, 4 * HOUR)
    assert {one.name: one.seconds for one in found}["diagnose"] == 2 * HOUR - 60.0


def test_a_fault_made_on_purpose_is_a_drill() -> None:
    start = Event(-10.0, "drill_start", {"rack": "r1"}, "d1")
    assert is_drill(CASE, [start], PAGE)
    assert is_drill(CASE, [Event(-10.0, "drill_start")], PAGE)  # of the whole site
    assert not is_drill(CASE, [Event(-10.0, "drill_start", {"rack": "r2"})], PAGE)
    assert not is_drill(CASE, [start, Event(-5.0, "drill_end", {}, "d1")], PAGE)
    by_its_scope = Event(-5.0, "drill_end", {"rack": "r1"})  # as `event drill --end` tells it
    assert not is_drill(CASE, [start, by_its_scope], PAGE)
    assert is_drill(CASE, [start, Event(5.0, "drill_end", {"rack": "r1"})], PAGE)
    assert not is_drill(CASE, [Event(10.0, "drill_start")], PAGE)  # the fault was there before
    forgotten = Event(-30 * HOUR, "drill_start")
    assert not is_drill(CASE, [forgotten], PAGE)  # nobody told its end, a day and more ago
    week = Event(-30 * HOUR, "drill_start", more={"until": 60.0})
    assert is_drill(CASE, [week], PAGE)  # it said how long it would be


KINDS = ("link_drained", "link_returned", "repair_start", "repair_end", "part_touched")


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.0, 60.0), st.sampled_from(KINDS)), max_size=12),
    st.one_of(st.none(), st.floats(0.0, 60.0)),
    st.floats(0.0, 60.0),
)
def test_no_order_of_events_makes_a_phase_negative_or_longer_than_it_was_watched(
    events: list[tuple[float, str]], closed: float | None, now: float
) -> None:
    case = replace(CASE, closed_at=None if closed is None else closed * HOUR)
    now = max(now, closed or 0.0)  # what closes later is not closed yet
    found = told(*sorted(events), case=case, now=now * HOUR)
    assert list(found) == [name for name in PHASES if name in found]
    for seconds, _ in found.values():
        assert seconds >= 0.0
    for name in ("diagnose", "drain", "repair"):
        assert found.get(name, (0.0, True))[0] <= now * HOUR


HEALED = ((1, "link_drained"), (3, "link_returned"))  # nobody laid hands on it
NEXT = ((12, "link_drained"), (13, "repair_start"), (15, "repair_end"), (16, "link_returned"))


def test_the_repair_of_the_next_incident_is_not_that_of_one_that_healed() -> None:
    assert told(*HEALED, *NEXT) == told(*HEALED)


def test_what_is_done_once_the_next_incident_began_is_about_that_one() -> None:
    said = [Event(at * HOUR, kind, HERE) for at, kind in NEXT]
    alone = [one.name for one in phases(CASE, said, PAGE, 50 * HOUR, 11.5 * HOUR)]
    assert alone == ["detect", "all"]
    again = replace(CASE, opened_at=11.5 * HOUR, confirmed_at=11.6 * HOUR, closed_at=15 * HOUR)
    found = {one.phase: one for one in times([again, CASE], said, PAGE, 50 * HOUR)}
    assert (found["repair"].number, found["all"].number) == (1, 2)


def of_each(
    cases: list[Case], *events: tuple[float, str]
) -> dict[str, list[tuple[float | None, int]]]:
    """Return by phase the median hours of each kind of incident, and how many are over."""
    said = [Event(at * HOUR, kind, HERE) for at, kind in events]
    found: dict[str, list[tuple[float | None, int]]] = {}
    for one in times(cases, said, PAGE, 200 * HOUR):
        if one.by == "cause":
            hours = None if one.median is None else one.median / HOUR
            found.setdefault(one.phase, []).append((hours, one.over))
    return found


def of_cause(cause: str, opened: float, closed: float) -> Case:
    return replace(
        CASE, incident=cause, cause=cause, opened_at=opened * HOUR, confirmed_at=opened * HOUR,
        closed_at=closed * HOUR,
    )  # fmt: skip


REPAIR = ((25, "link_drained"), (26, "repair_start"), (29, "repair_end"), (30, "link_returned"))


def test_incidents_of_one_part_that_overlap_share_its_repair() -> None:
    ailing, down = of_cause("a ailing", 0, 30.5), of_cause("b down", 24, 30)
    found = of_each([ailing, down], *REPAIR)
    assert found["diagnose"] == [(25.0, 1), (1.0, 1)]
    assert found["drain"] == [(1.0, 1)] * 2
    assert found["repair"] == [(3.0, 1)] * 2
    assert found["verify"] == [(1.0, 1)] * 2
    assert found["all"] == [(30.5, 1), (6.0, 1)]


UNTOLD = ((1, "link_drained"), (2, "repair_start"), (3, "repair_end"))
AGAIN = ((101, "link_drained"), (102, "repair_start"), (104, "repair_end"), (105, "link_returned"))


def test_a_repair_whose_return_nobody_told_ends_before_the_next_incident() -> None:
    found = of_each([of_cause("a", 0, 4), of_cause("b", 100, 104)], *UNTOLD, *AGAIN)
    assert found["repair"] == [(1.0, 1), (2.0, 1)]
    assert found["verify"] == [(1.0, 1)]  # of the second: nobody knows when the first was back
    assert found["all"] == [(None, 0), (5.0, 1)]


def test_a_link_that_is_drained_anew_was_back_before_though_nobody_told_it() -> None:
    found = told(*UNTOLD, *AGAIN, now=200 * HOUR)
    assert found["repair"] == (HOUR, True)
    assert "verify" not in found
    assert found["all"] == (5 * HOUR, False)  # at least: until its cause was gone


def test_a_second_repair_of_the_same_outage_is_part_of_the_first() -> None:
    again = ((8, "link_drained"), (9, "repair_start"), (11, "repair_end"), (12, "link_returned"))
    found = told(*UNTOLD, *again)
    assert (found["repair"], found["all"]) == ((9 * HOUR, True), (12 * HOUR, True))
