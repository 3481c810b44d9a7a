"""Restraint: a trend wakes somebody with two evidences and within the budget; a state always."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.incidents.claims import Claim
from analyzer.incidents.restraint import WEEK, Budget, budget_of, held_back, pay
from analyzer.incidents.word import Record, record
from analyzer.past import Past
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DOWN, LINK_WILL_FAIL, IncidentKind, Severity
from fabrichealth.model import Finding, Place, Port
from tests.analyzer.stories import MINUTE, START, Story, during, finding

NEAR = Port("host-0", "eth0")
LINK = Place("link", "host-0/eth0--leaf-0/0")
NOBODY_SAID = record({}, [])


def claim(kind: IncidentKind = LINK_WILL_FAIL, *, evidences: int = 2) -> Claim:
    """Return a claim that asks for a page, on errors alone or on errors and light."""
    one = finding(kind, NEAR, 0.0, 60.0, Severity.PAGE)
    line = one.evidence[0]
    lines = [line, replace(line, metric=RX_POWER)][:evidences]
    return Claim(LINK, [replace(one, evidence=lines)])


def often_false(times: int) -> Record:
    said = {f"i{n}": Event(0.0, "verdict_false", {"incident": f"i{n}"}) for n in range(times)}
    return record(said, [(f"i{n}", LINK_WILL_FAIL.name) for n in range(times)])


def test_a_trend_with_one_kind_of_evidence_is_a_ticket_that_says_why() -> None:
    why = held_back(claim(evidences=1), None, Budget(100.0), Past(), NOBODY_SAID, START)
    assert why == "one kind of evidence alone (port); a page needs two"
    assert held_back(claim(), None, Budget(100.0), Past(), NOBODY_SAID, START) is None


def test_a_hard_state_needs_no_budget_and_no_second_witness() -> None:
    down = claim(LINK_DOWN, evidences=1)
    assert held_back(down, None, Budget(0.0), Past(), NOBODY_SAID, START) is None


def test_the_weeks_first_page_may_always_go_unless_the_site_wants_none() -> None:
    small = budget_of(1.0, links=100)  # one false page in two years
    assert held_back(claim(), None, small, Past(), NOBODY_SAID, START) is None
    past = Past(spent={"i1": (START - 60.0, 0.05)})
    assert "week's budget" in str(held_back(claim(), None, small, past, NOBODY_SAID, START))
    none = budget_of(0.0, links=100_000)
    assert held_back(claim(), None, none, Past(), NOBODY_SAID, START) is not None


def test_what_was_paged_has_paid_and_a_week_later_there_is_room_again() -> None:
    small, past = budget_of(1.0, links=100), Past()
    pay(claim(), "i1", past, NOBODY_SAID, START)
    assert held_back(claim(), "i1", small, past, NOBODY_SAID, START + 60) is None
    assert held_back(claim(), "i2", small, past, NOBODY_SAID, START + 60) is not None
    assert held_back(claim(), "i2", small, past, NOBODY_SAID, START + WEEK + 60) is None


def test_a_kind_that_is_called_false_costs_more_of_the_budget() -> None:
    budget, before, after = Budget(1.01), Past(), Past()
    for past, said in ((before, NOBODY_SAID), (after, often_false(20))):
        number = 0
        while held_back(claim(), None, budget, past, said, START) is None:
            pay(claim(), f"n{number}", past, said, START)
            number += 1
    assert len(before.spent) == 20
    assert len(after.spent) == 1


@given(
    budget=st.floats(0.0, 20.0),
    pages=st.lists(st.floats(0.0, 3 * WEEK), max_size=60),
)
def test_no_week_costs_more_than_its_budget_or_one_page(budget: float, pages: list[float]) -> None:
    past = Past()
    told: list[tuple[float, float]] = []
    for number, at in enumerate(sorted(pages)):
        one = claim()
        one.held_back = held_back(one, None, Budget(budget), past, NOBODY_SAID, at)
        pay(one, f"i{number}", past, NOBODY_SAID, at)
        told += [(at, past.spent[f"i{number}"][1])] if f"i{number}" in past.spent else []
    for at, _ in told:
        week = [chance for other, chance in told if at - WEEK < other <= at]
        assert len(week) == 1 or sum(week) <= budget + 1e-9


def test_an_incident_that_is_held_back_is_shown_as_a_ticket_with_the_reason() -> None:
    script = during(LINK_WILL_FAIL, NEAR, (60, 3600), severity=Severity.PAGE)
    incident = Story(script).until(10 * MINUTE).only
    assert incident.severity is Severity.TICKET
    assert incident.confirmed_at is not None
    assert incident.held_back == "one kind of evidence alone (port); a page needs two"


@pytest.mark.parametrize("both", [True, False])
def test_once_a_hard_state_joins_it_pages(both: bool) -> None:
    def script(elapsed: float) -> list[Finding]:
        said = during(LINK_WILL_FAIL, NEAR, (60, 3600), severity=Severity.PAGE)(elapsed)
        return [*said, *during(LINK_DOWN, NEAR, (300, 3600))(elapsed)] if both else list(said)

    incident = Story(script).until(10 * MINUTE).only
    assert (incident.severity is Severity.PAGE) is both
    assert (incident.held_back is None) is both
