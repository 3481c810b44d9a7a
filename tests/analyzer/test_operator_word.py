"""The operator's word: it silences what it was said of, as grave as it was then, and is learned."""

import pytest

from analyzer.incidents.advising import spoken_of
from analyzer.incidents.word import PRIOR_FALSE, PRIOR_TRUE
from analyzer.verdicts import verdicts
from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE, INCIDENT_SILENCED
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DOWN, LINK_SUBHEALTHY, Severity
from fabrichealth.model import Port, Word
from tests.analyzer.stories import MINUTE, START, Script, Story, during, event

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
