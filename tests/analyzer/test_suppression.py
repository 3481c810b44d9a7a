"""What raises nothing, for how long, and what is told all the same (contract 4)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE, INCIDENT_INFO
from fabrichealth.events import Event
from fabrichealth.kinds import (
    COOLING_LEAK,
    DEVICE_DOWN,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    POWER_FEED_LOST,
    POWER_OVERLOAD,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Place, Port
from tests.analyzer.stories import HOUR, LINK, MINUTE, START, Story, during, event

NEAR = Port("host-0", "eth0")
WORK = ("maintenance_start", "maintenance_end")


def work(
    scope: dict[str, str], start: float, end: float | None, name: str = "chg-1"
) -> list[Event]:
    """Return a maintenance; with `end` None nobody says that it is over."""
    events = [event(WORK[0], start, scope, name)]
    return events if end is None else [*events, event(WORK[1], end, scope, name)]


@pytest.mark.parametrize(
    ("scope", "holds"),
    [
        ({"rack": "r1"}, True),
        ({"rack": "r2"}, False),
        ({"device": "host-0"}, True),
        ({"device": "leaf-0"}, True),
        ({"device": "host-1"}, False),
        ({"link": LINK}, True),
        ({"link": "host-1/eth0--leaf-0/1"}, False),
        ({"port": "host-0/eth0"}, True),
        ({"device": "leaf-0", "port": "0"}, True),
        ({"device": "leaf-0", "port": "leaf-0/0"}, True),
        ({"device": "leaf-0", "port": "1"}, False),
        ({"domain": "pod-a"}, True),
        ({"domain": "pod-b"}, False),
        ({"domain": "pod-a", "rack": "r1"}, True),
        ({"domain": "pod-a", "rack": "r2"}, False),
        ({}, False),
    ],
)
def test_a_link_lies_in_scope_when_either_end_does_and_all_keys_hold(
    scope: dict[str, str], holds: bool
) -> None:
    story = Story(during(LINK_DOWN, NEAR, (600, 900)), work(scope, 300, 2 * HOUR)).until(HOUR)
    assert story.only.suppressed_by == ("maintenance:chg-1" if holds else None)
    assert (story.only.confirmed_at is None) is holds


@pytest.mark.parametrize(
    ("place", "scope"),
    [
        (Place("device", "host-0-0"), {"device": "host-0"}),
        (Place("device", "host-0-0"), {"rack": "r1"}),
        (Place("device", "host-0-0"), {"domain": "pod-a"}),
        (Place("rack", "r1"), {"rack": "r1"}),
        (Place("domain", "pod-a"), {"domain": "pod-a"}),
        (Place("source", "redfish/host-0"), {"device": "host-0"}),
        (Place("loop", "cdu-1"), {"loop": "cdu-1"}),
        (Place("branch", "cdu-1/b1"), {"loop": "cdu-1"}),
        (Place("branch", "cdu-1/b1"), {"loop": "cdu-1", "branch": "b1"}),
        (Place("feed", "r1-A"), {"feed": "r1-A"}),
    ],
)
def test_what_belongs_to_what_is_worked_on(place: Place, scope: dict[str, str]) -> None:
    kind = IncidentKind("some.kind", place.type, Severity.PAGE, 50, "Something.", "Look.")
    story = Story(during(kind, place, (600, 900)), work(scope, 300, HOUR)).until(1200)
    assert story.only.suppressed_by == "maintenance:chg-1"


def test_a_maintenance_without_an_end_is_over_after_four_hours() -> None:
    ill = during(LINK_DOWN, NEAR, (600, 5 * HOUR))
    story = Story(ill, work({"rack": "r1"}, 300, None)).until(300 + 4 * HOUR)
    assert story.only.suppressed_by == "maintenance:chg-1"
    incident = story.until(300 + 4 * HOUR + MINUTE).only
    assert incident.confirmed_at == START + 300 + 4 * HOUR + MINUTE
    assert incident.opened_at == START + 600


def test_still_open_at_its_end_it_counts_from_that_moment() -> None:
    ill = during(LINK_DOWN, NEAR, (600, 2 * HOUR))
    story = Story(ill, work({"rack": "r1"}, 300, HOUR)).until(HOUR)
    assert story.only.suppressed_by == "maintenance:chg-1"
    incident = story.until(2 * HOUR).only
    assert incident.suppressed_by is None
    assert incident.confirmed_at == START + HOUR + MINUTE


def test_over_before_the_end_it_never_counts() -> None:
    ill = during(LINK_FLAPPING, NEAR, (600, 900))
    story = Story(ill, work({"rack": "r1"}, 300, HOUR)).until(30 * HOUR)
    assert story.only.suppressed_by == "maintenance:chg-1"
    assert (story.only.confirmed_at, story.only.closed_at) == (None, START + 840)
    assert not any(
        verdict.metric is INCIDENT_ACTIVE
        for outcome in story.outcomes
        for verdict in outcome.verdicts
    )
    assert any(
        verdict.metric is INCIDENT_INFO and verdict.labels[-1] == "maintenance:chg-1"
        for outcome in story.outcomes
        for verdict in outcome.verdicts
    )


def test_what_was_open_before_goes_on_paging() -> None:
    ill = during(LINK_DOWN, NEAR, (60, HOUR))
    story = Story(ill, work({"rack": "r1"}, 300, HOUR)).until(1200)
    assert story.only.suppressed_by is None
    assert story.only.confirmed_at == START + 60


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (COOLING_LEAK, Place("loop", "cdu-1")),
        (POWER_OVERLOAD, Place("feed", "r1-A")),
        (POWER_FEED_LOST, Place("feed", "r1-A")),
    ],
)
def test_water_and_breakers_are_never_suppressed(kind: IncidentKind, place: Place) -> None:
    scope = {place.type: place.id}
    story = Story(during(kind, place, (600, 900)), work(scope, 300, HOUR)).until(1200)
    assert story.only.suppressed_by is None
    assert story.only.confirmed_at == START + 600


def test_errors_beyond_the_limit_on_a_link_that_is_up_are_never_suppressed() -> None:
    for severity in (None, Severity.PAGE):
        ill = during(LINK_SUBHEALTHY, NEAR, (600, 900), severity=severity)
        story = Story(ill, work({"rack": "r1"}, 300, HOUR)).until(1200)
        assert (story.only.suppressed_by is None) is (severity is Severity.PAGE)


def test_overlapping_maintenances_end_one_by_one() -> None:
    scope = {"rack": "r1"}
    events = [*work(scope, 300, 1800, "a"), *work(scope, 1200, 3600, "b")]
    ill = during(LINK_DOWN, NEAR, (1500, 2 * HOUR))
    story = Story(ill, events).until(1800)
    assert story.only.suppressed_by == "maintenance:a"
    assert story.until(3600).only.suppressed_by == "maintenance:b"
    assert story.until(3660).only.confirmed_at == START + 3660


def test_an_end_without_an_id_ends_those_of_its_scope_alone() -> None:
    events = [
        event(WORK[0], 300, {"rack": "r1"}, "a"),
        event(WORK[0], 300, {"device": "host-0"}, "b"),
        event(WORK[1], 600, {"rack": "r1"}),
    ]
    story = Story(during(LINK_DOWN, NEAR, (900, HOUR)), events).until(1200)
    assert story.only.suppressed_by == "maintenance:b"


def test_an_end_with_an_id_ends_a_start_that_had_none() -> None:
    events = [event(WORK[0], 300, {"rack": "r1"}), event(WORK[1], 600, {"rack": "r1"}, "chg-9")]
    story = Story(during(LINK_DOWN, NEAR, (900, HOUR)), events).until(1200)
    assert story.only.suppressed_by is None


@pytest.mark.parametrize(("kind", "word"), [("boot", "boot"), ("firmware_upgrade", "firmware")])
@pytest.mark.parametrize("minutes", [1, 29, 31])
def test_a_boot_has_half_an_hour_of_grace(kind: str, word: str, minutes: int) -> None:
    began = 300 + minutes * MINUTE
    ill = during(LINK_DOWN, NEAR, (began, began + 60))
    story = Story(ill, [event(kind, 300, {"device": "host-0"})]).until(2 * HOUR)
    assert story.only.suppressed_by == (f"{word}:host-0" if minutes < 30 else None)


@pytest.mark.parametrize("kind", ["config_change", "part_touched", "part_replaced", "repair_start"])
def test_other_events_suppress_nothing(kind: str) -> None:
    story = Story(
        during(LINK_DOWN, NEAR, (600, 900)), [event(kind, 300, {"device": "host-0"})]
    ).until(1200)
    assert story.only.suppressed_by is None


@pytest.mark.parametrize(
    ("place", "excused"),
    [
        pytest.param(Place("device", "host-0"), True, id="a host may be restarting"),
        pytest.param(Place("device", "leaf-0"), False, id="a switch pages at once"),
        pytest.param(Place("rack", "r1"), True, id="a rack of hosts may be restarting"),
        pytest.param(Place("rack", "r9"), False, id="a rack without hosts pages at once"),
    ],
)
def test_who_has_grace_without_any_event(place: Place, excused: bool) -> None:
    story = Story(during(DEVICE_DOWN, place, (60, 3 * HOUR))).until(20 * MINUTE)
    assert story.only.suppressed_by == (f"boot:{place.id}" if excused else None)
    assert (story.only.confirmed_at is None) is excused
    story.until(40 * MINUTE)
    assert story.only.confirmed_at is not None
    assert story.only.suppressed_by is None


def test_an_event_is_not_known_before_it_happens() -> None:
    ill = during(LINK_DOWN, NEAR, (600, HOUR))
    story = Story(ill, work({"rack": "r1"}, 900, HOUR)).until(840)
    assert story.only.confirmed_at == START + 600


@settings(max_examples=25, deadline=None)
@given(
    start=st.integers(0, 30),
    length=st.integers(1, 30),
    ill=st.integers(1, 50),
    lasts=st.integers(1, 40),
)
def test_suppressed_means_opened_within_and_gone_before_the_end(
    start: int, length: int, ill: int, lasts: int
) -> None:
    events = work({"rack": "r1"}, start * MINUTE, (start + length) * MINUTE)
    script = during(LINK_DOWN, NEAR, (ill * MINUTE, (ill + lasts) * MINUTE))
    incident = Story(script, events).until(100 * MINUTE).only
    end, last = start + length, ill + lasts - 1
    if not start <= ill <= end:
        assert incident.confirmed_at == START + ill * MINUTE
    elif last <= end:
        assert incident.confirmed_at is None
        assert incident.suppressed_by == "maintenance:chg-1"
    else:
        assert incident.confirmed_at == START + (end + 1) * MINUTE


def test_a_maintenance_that_says_how_long_it_lasts_excuses_for_so_long() -> None:
    start = event(WORK[0], 300, {"rack": "r1"}, "chg-1")
    told = replace(start, note="swap of optics", more={"until": START + 9 * HOUR})
    ill = during(LINK_DOWN, NEAR, (600, 10 * HOUR))
    story = Story(ill, [told]).until(8 * HOUR)
    assert story.only.suppressed_by == "maintenance:chg-1"
    assert story.only.suppressed_note == "swap of optics"
    incident = story.until(9 * HOUR + 2 * MINUTE).only
    assert (incident.suppressed_by, incident.suppressed_note) == (None, None)


@pytest.mark.parametrize("until", ["tomorrow", True, None, 0.0, float("nan")], ids=repr)
def test_an_until_that_is_none_leaves_the_four_hours(until: object) -> None:
    start = replace(event(WORK[0], 300, {"rack": "r1"}, "chg-1"), more={"until": until})
    story = Story(during(LINK_DOWN, NEAR, (600, 5 * HOUR)), [start]).until(300 + 4 * HOUR)
    assert story.only.suppressed_by == "maintenance:chg-1"
    assert story.until(301 + 4 * HOUR + MINUTE).only.suppressed_by is None
