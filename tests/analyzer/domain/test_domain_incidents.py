"""A domain is a place and no part: what is wrong with it in two ways is two incidents."""

from collections.abc import Sequence

from fabrichealth.kinds import (
    DOMAIN_FRAGMENTED,
    DOMAIN_HIDDEN_IDLE,
    PARTS_VERSION_DRIFT,
)
from fabrichealth.model import Finding, Place
from tests.analyzer.stories import HOUR, MINUTE, Script, Story, during

POD, OTHER = Place("domain", "pod-a"), Place("domain", "pod-b")


def told(*scripts: Script, until: float = 60 * MINUTE) -> Story:
    def script(elapsed: float) -> Sequence[Finding]:
        return [said for one in scripts for said in one(elapsed)]

    return Story(script).until(until)


def test_each_kind_of_a_domain_is_an_incident_of_its_own() -> None:
    story = told(
        during(DOMAIN_HIDDEN_IDLE, POD, (5 * MINUTE, HOUR)),
        during(DOMAIN_FRAGMENTED, POD, (10 * MINUTE, HOUR)),
        during(PARTS_VERSION_DRIFT, POD, (15 * MINUTE, HOUR)),
        during(DOMAIN_HIDDEN_IDLE, OTHER, (20 * MINUTE, HOUR)),
    )
    found = [(one.kind.name, one.culprit.id) for one in story.ledger.incidents]
    assert sorted(found) == [
        ("domain.fragmented", "pod-a"),
        ("domain.hidden_idle", "pod-a"),
        ("domain.hidden_idle", "pod-b"),
        ("parts.version_drift", "pod-a"),
    ]


def test_what_comes_back_within_its_hold_goes_on_beside_the_other() -> None:
    story = told(
        during(DOMAIN_HIDDEN_IDLE, POD, (5 * MINUTE, 10 * MINUTE), (20 * MINUTE, HOUR)),
        during(DOMAIN_FRAGMENTED, POD, (5 * MINUTE, HOUR)),
    )
    assert len(story.ledger.incidents) == 2
    assert {one.incident for one in story.ledger.incidents} == {"i1", "i2"}
