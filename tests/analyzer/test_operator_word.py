"""The operator's word: it silences what it was said of, as grave as it was then, and is learned."""

from dataclasses import replace

import pytest

from analyzer.incidents.advising import spoken_of
from analyzer.incidents.lifecycle import Policy
from analyzer.incidents.word import PRIOR_FALSE, PRIOR_TRUE
from analyzer.verdicts import verdicts
from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE, INCIDENT_SILENCED
from fabrichealth.events import Event
from fabrichealth.kinds import (
    COOLING_LEAK,
    COOLING_PUMP_WEAR,
    COOLING_SUPPLY_HOT,
    LINK_DOWN,
    LINK_SUBHEALTHY,
    PFC_STORM,
    POWER_OVERLOAD,
    POWER_SUPPLY_FAILED,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Finding, Place, Port, Word
from tests.analyzer.stories import MINUTE, START, Script, Story, during, event, finding

NEAR = Port("host-0", "eth0")


def joined(*scripts: Script) -> Script:
    return lambda elapsed: [said for script in scripts for said in script(elapsed)]


def ill_from(minute: int, until: int = 120) -> Script:
    return during(LINK_SUBHEALTHY, NEAR, (minute * MINUTE, until * MINUTE))


def word(said: str, minute: int, name: str = "i1", note: str = "") -> Event:
    return Event(START + minute * MINUTE, f"verdict_{said}", {"incident": name}, note=note)


@pytest.mark.parametrize(("said", "silent"), [("ack", True), ("false", True), ("true", False)])
def test_it_stays_visible_and_is_silent_or_not(said: str, silent: bool) -> None:
    story = Story(ill_from(2), [word(said, 10, note="on it")]).until(20 * MINUTE)
    incident = story.only
    assert incident.operator == Word(said, START + 10 * MINUTE, "on it", silent)
    metrics = [one.metric for one in verdicts(story.ledger, {})]
    assert INCIDENT_ACTIVE in metrics
    assert (INCIDENT_SILENCED in metrics) is silent


def test_nothing_is_silent_before_it_is_said() -> None:
    assert Story(ill_from(2), [word("ack", 10)]).until(9 * MINUTE).only.operator is None


def test_what_becomes_graver_is_told_again() -> None:
    worse = during(LINK_DOWN, NEAR, (30 * MINUTE, 40 * MINUTE))
    story = Story(joined(ill_from(2, 40), worse), [word("ack", 10)])
    quiet = story.until(20 * MINUTE).only.operator
    assert quiet is not None
    assert quiet.silent
    loud = story.until(35 * MINUTE).only
    assert loud.severity is Severity.PAGE
    assert loud.operator is not None
    assert not loud.operator.silent


def resting_on(kind: IncidentKind, place: Place, *grounds: tuple[str, int]) -> Script:
    """Return one finding that rests on each of some grounds from a minute on."""

    def script(elapsed: float) -> list[Finding]:
        now = tuple(name for name, minute in grounds if elapsed >= minute * MINUTE)
        one = finding(kind, place, grounds[0][1] * MINUTE, elapsed)
        return [replace(one, grounds=now)] if now else []

    return script


LOOP, FEED, RACK = Place("loop", "cdu-1"), Place("feed", "r1-A"), Place("rack", "r1")


@pytest.mark.parametrize("said", ["ack", "false"])
@pytest.mark.parametrize(
    ("kind", "place", "first", "then"),
    [
        pytest.param(COOLING_LEAK, LOOP, "rope r1", "rope r3", id="another rope"),
        pytest.param(POWER_OVERLOAD, FEED, "continuous", "heat", id="about to trip"),
        pytest.param(POWER_SUPPLY_FAILED, RACK, "1", "2", id="another unit"),
    ],
)
def test_what_was_not_spoken_of_is_told_though_it_is_as_grave(
    kind: IncidentKind, place: Place, first: str, then: str, said: str
) -> None:
    story = Story(resting_on(kind, place, (first, 2), (then, 30)), [word(said, 10)])
    quiet = story.until(29 * MINUTE).only.operator
    assert quiet is not None
    assert quiet.silent
    story.restart()
    loud = story.until(31 * MINUTE).only
    assert loud.operator is not None
    assert not loud.operator.silent
    # it was told; a second word silences both
    story.judge.tell([word(said, 32)])
    both = story.until(34 * MINUTE).only.operator
    assert both is not None
    assert both.silent


def test_another_fault_of_a_loop_is_not_silenced_with_the_first() -> None:
    hot = during(COOLING_SUPPLY_HOT, LOOP, (2 * MINUTE, 60 * MINUTE))
    worn = during(COOLING_PUMP_WEAR, LOOP, (30 * MINUTE, 60 * MINUTE))
    story = Story(joined(hot, worn), [word("false", 10)])
    quiet = story.until(29 * MINUTE).only.operator
    assert quiet is not None
    assert quiet.silent
    loud = story.until(31 * MINUTE).only.operator
    assert loud is not None
    assert not loud.silent


def test_what_wavers_is_not_told_anew() -> None:
    """A ground that comes and goes was spoken of."""

    def script(elapsed: float) -> list[Finding]:
        there = ("rope r1", "level") if elapsed % (4 * MINUTE) < 2 * MINUTE else ("rope r1",)
        return [replace(finding(COOLING_LEAK, LOOP, 0.0, elapsed), grounds=there)]

    story = Story(script, [word("ack", 20)])
    for minute in range(21, 40):
        operator = story.until(minute * MINUTE).only.operator
        assert operator is not None
        assert operator.silent


def test_the_last_word_counts_and_a_new_judge_still_knows_it() -> None:
    story = Story(ill_from(2), [word("ack", 10), word("true", 15)]).until(20 * MINUTE)
    assert story.only.operator is not None
    assert story.only.operator.says == "true"
    story.restart()
    assert story.until(22 * MINUTE).only.operator is not None


def test_a_word_changes_the_incident_once() -> None:
    story = Story(ill_from(2), [word("ack", 10)]).until(30 * MINUTE)
    told = [one for outcome in story.outcomes for one in outcome.changed if one.operator]
    assert len(told) == 1


def test_who_is_often_called_false_is_believed_less() -> None:
    gone = [(n * 60 * MINUTE, n * 60 * MINUTE + 2 * MINUTE) for n in range(1, 11)]
    story = Story(during(LINK_SUBHEALTHY, NEAR, *gone)).until(700 * MINUTE)
    assert len(story.closed) == 10
    said = [word("false", 690, one.incident) for one in story.closed[:8]]
    said += [word("true", 690, one.incident) for one in story.closed[8:]]
    chance = spoken_of(story.ledger, said).chance_false("link.subhealthy")
    assert chance == pytest.approx((8 + PRIOR_FALSE) / (10 + PRIOR_FALSE + PRIOR_TRUE))
    assert spoken_of(story.ledger, said).chance_false("link.down") == pytest.approx(
        PRIOR_FALSE / (PRIOR_FALSE + PRIOR_TRUE)
    )


def test_an_event_without_an_incident_is_nobodys_word() -> None:
    astray = event("verdict_false", 600, {"device": "host-0"})
    assert Story(ill_from(2), [astray]).until(20 * MINUTE).only.operator is None


def wet(*minutes: int, zone: str = "r1", beside: tuple[tuple[str, int], ...] = ()) -> Script:
    """Return a rope that is wet for four minutes from each of some on, with witnesses later."""

    def script(elapsed: float) -> list[Finding]:
        minute = elapsed / MINUTE
        began = [one for one in minutes if one <= minute < one + 4]
        if not began:
            return []
        one = finding(COOLING_LEAK, LOOP, began[0] * MINUTE, elapsed)
        witnesses = tuple(name for name, since in beside if minute >= since)
        return [replace(one, grounds=(f"rope {zone}",), witnesses=witnesses)]

    return script


def silences(story: Story) -> list[bool]:
    """Return of each incident, the oldest first, whether nobody is told of it."""
    return [bool(one.operator and one.operator.silent) for one in story.all]


def test_what_was_called_false_stays_so_though_its_incident_closed() -> None:
    script = wet(2, 50, 100)
    story = Story(script, [word("false", 5, note="broken")])
    assert silences(story.until(51 * MINUTE)) == [True, True]
    incident = story.ledger.incidents[0]
    assert incident.operator == Word("false", START + 5 * MINUTE, "said of i1: broken", True)
    story.restart()
    assert silences(story.until(101 * MINUTE)) == [True, True, True]


@pytest.mark.parametrize("said", ["ack", "true"])
def test_only_what_was_called_false_is_known_to_be_false(said: str) -> None:
    story = Story(wet(2, 50), [word(said, 5)])
    assert silences(story.until(51 * MINUTE))[1] is False


def test_a_word_may_come_after_its_incident_closed() -> None:
    story = Story(wet(2, 50), [word("false", 45)])
    assert silences(story.until(51 * MINUTE))[1] is True


def test_a_newer_word_on_the_same_ground_counts() -> None:
    story = Story(wet(2, 50, 100), [word("false", 5), word("true", 52, "i2")])
    assert silences(story.until(101 * MINUTE)) == [True, False, False]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(wet(50, zone="r3"), id="another rope"),
        pytest.param(wet(50, beside=(("level", 0),)), id="another witness"),
    ],
)
def test_what_joins_a_false_ground_is_told(other: Script) -> None:
    story = Story(joined(wet(2), other), [word("false", 5)])
    assert silences(story.until(51 * MINUTE))[1] is False


def test_a_false_ground_that_something_joins_later_is_told_then() -> None:
    story = Story(wet(2, 50, beside=(("level", 52),)), [word("false", 5)])
    assert silences(story.until(51 * MINUTE))[1] is True
    assert silences(story.until(53 * MINUTE))[1] is False


def test_a_storm_that_was_called_false_silences_no_other_of_its_port() -> None:
    """A storm is something that happens; a rope is something that stands there."""

    def script(elapsed: float) -> list[Finding]:
        began = 2 * MINUTE if elapsed < 6 * MINUTE else 50 * MINUTE
        one = finding(PFC_STORM, NEAR, began, elapsed)
        storms = 2 * MINUTE <= elapsed < 6 * MINUTE or elapsed >= 50 * MINUTE
        return [replace(one, grounds=(str(NEAR),))] if storms else []

    story = Story(script, [word("false", 5)])
    assert silences(story.until(52 * MINUTE)) == [True, False]


@pytest.mark.parametrize(
    ("kind", "place", "ground"),
    [
        pytest.param(COOLING_LEAK, LOOP, "burst cdu-1 at 2027-01-15 08:00:00", id="a burst"),
        pytest.param(COOLING_PUMP_WEAR, LOOP, "1", id="a pump that stands"),
        pytest.param(COOLING_PUMP_WEAR, LOOP, "none turns", id="all pumps"),
        pytest.param(POWER_OVERLOAD, FEED, "heat", id="a breaker about to trip"),
    ],
)
def test_what_happens_is_told_the_next_time_though_it_was_false_once(
    kind: IncidentKind, place: Place, ground: str
) -> None:
    def script(elapsed: float) -> list[Finding]:
        began = 2 * MINUTE if elapsed < 6 * MINUTE else 50 * MINUTE
        happens = 2 * MINUTE <= elapsed < 6 * MINUTE or elapsed >= 50 * MINUTE
        one = finding(kind, place, began, elapsed)
        return [replace(one, grounds=(ground,))] if happens else []

    story = Story(script, [word("false", 5)])
    assert silences(story.until(52 * MINUTE)) == [True, False]


def test_a_level_that_falls_is_told_the_next_time_though_it_was_false_once() -> None:
    def script(elapsed: float) -> list[Finding]:
        began = 2 * MINUTE if elapsed < 6 * MINUTE else 50 * MINUTE
        falls = 2 * MINUTE <= elapsed < 6 * MINUTE or elapsed >= 50 * MINUTE
        one = finding(COOLING_LEAK, LOOP, began, elapsed)
        return [replace(one, witnesses=("level cdu-1",))] if falls else []

    story = Story(script, [word("false", 5)])
    assert silences(story.until(52 * MINUTE)) == [True, False]


def test_a_supply_that_is_known_to_be_spare_stays_silent() -> None:
    def script(elapsed: float) -> list[Finding]:
        off = elapsed < 6 * MINUTE or elapsed >= 50 * MINUTE
        one = finding(POWER_SUPPLY_FAILED, RACK, 0.0, elapsed)
        return [replace(one, grounds=("2",))] if off else []

    story = Story(script, [word("false", 5)])
    assert silences(story.until(52 * MINUTE)) == [True, True]


def test_what_was_called_false_is_told_again_after_a_while() -> None:
    policy = Policy(false_holds=90 * MINUTE)
    story = Story(wet(2, 50, 100), [word("false", 5)], policy)
    assert silences(story.until(101 * MINUTE)) == [True, True, False]


@pytest.mark.parametrize(("said", "silent"), [("ack", True), ("false", False)])
def test_a_witness_of_the_same_is_news_to_who_called_it_false_alone(
    said: str, silent: bool
) -> None:
    def script(elapsed: float) -> list[Finding]:
        witnesses = ("level cdu-1",) if elapsed >= 30 * MINUTE else ()
        one = finding(COOLING_LEAK, LOOP, 2 * MINUTE, elapsed)
        return [replace(one, grounds=("rope r1",), witnesses=witnesses)]

    story = Story(script, [word(said, 10)])
    assert silences(story.until(29 * MINUTE)) == [True]
    story.restart()
    assert silences(story.until(31 * MINUTE)) == [silent]


def test_a_leak_seen_by_its_level_alone_has_no_new_ground_when_a_rope_dries() -> None:
    def script(elapsed: float) -> list[Finding]:
        grounds = ("rope r1",) if elapsed < 30 * MINUTE else ()
        one = finding(COOLING_LEAK, LOOP, 2 * MINUTE, elapsed)
        return [replace(one, grounds=grounds, witnesses=("level cdu-1",))]

    story = Story(script, [word("false", 10)])
    assert silences(story.until(40 * MINUTE)) == [True]
