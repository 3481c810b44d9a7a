"""The simulated domain: its steps, what befalls it, and how what was said of it is counted."""

import numpy as np
import pytest

from benchmarks.domain.faults import BY_NAME, FAULTS, QUIET, STRENGTHS
from benchmarks.domain.judging import Result, of_json
from benchmarks.domain.tables import figures
from benchmarks.domain.world import CARDS, DOMAIN, HOSTS, SIZE, START, Case, World
from benchmarks.heard import Said, to_json
from fabrichealth.catalogue.accelerators import ALLOCATED, TENSOR_ACTIVE, UTILIZATION
from fabrichealth.kinds import DOMAIN_HIDDEN_IDLE, DOMAIN_STRAGGLER, IncidentKind, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable


def shown(case: Case, after: float, seed: int = 1) -> tuple[World, dict[str, dict[Metric, float]]]:
    """Return a world and what its accelerators say so many seconds after the onset."""
    table = SeriesTable()
    world = World(case, np.random.default_rng(seed), table)
    number = int((world.onset - START + after) / case.period)
    said: dict[str, dict[Metric, float]] = {}
    for batch in world.poll(number):
        for series, value in zip(batch.series.tolist(), batch.values.tolist(), strict=True):
            said.setdefault(table.labels(series)[0], {})[table.metric(series)] = value
    return world, said


def test_who_waits_rests_its_matrix_units_and_the_culprit_does_not() -> None:
    world, said = shown(Case(BY_NAME["work"], strength=2), after=60.0)
    others = [said[card][TENSOR_ACTIVE] for card in world.cards[: SIZE // 2]]
    assert said[world.culprit][TENSOR_ACTIVE] > 1.2 * float(np.median(others))
    assert said[world.culprit][UTILIZATION] > 0.9


def test_who_is_held_up_is_less_busy_than_those_who_spin() -> None:
    world, said = shown(Case(BY_NAME["stalls"], strength=2), after=60.0)
    assert said[world.culprit][UTILIZATION] < 0.75
    assert float(np.median([said[card][UTILIZATION] for card in world.cards])) > 0.9


def test_nothing_befalls_anybody_before_the_onset() -> None:
    for fault in FAULTS:
        if not fault.healthy:
            continue  # it is so from the beginning
        world, said = shown(Case(fault, strength=2), after=-2 * fault.period)
        loads = [said[card][UTILIZATION] for card in world.cards if card in said]
        idle = sum(load < 0.05 for load in loads)
        held = sum(said[card][ALLOCATED] == 0 for card in world.cards)
        assert len(loads) == SIZE
        assert idle == held  # only what no job ever held does nothing


@pytest.mark.parametrize("name", ["silent", "idle_job", "unallocated", "stopped", "flashing"])
def test_the_share_that_idles_is_the_one_the_table_tells(name: str) -> None:
    fault = BY_NAME[name]
    world, said = shown(Case(fault, strength=1), after=60.0)
    loads = [said.get(card, {}).get(UTILIZATION, 0.0) for card in world.cards]
    idle = sum(load < 0.05 for load in loads) / SIZE
    assert idle == pytest.approx(fault.strengths[1], abs=0.5 / HOSTS + 0.04)
    assert world.culprit == DOMAIN


def test_halves_take_turns_on_a_quiet_day() -> None:
    _, said = shown(Case(quiet="halves"), after=60.0)
    _, later = shown(Case(quiet="halves"), after=90.0)
    worked = [said[f"host-000-{c}"][UTILIZATION] > 0.5 for c in range(CARDS)]
    then = [later[f"host-000-{c}"][UTILIZATION] > 0.5 for c in range(CARDS)]
    assert [not one for one in worked] == then


def result(fault: str = "", quiet: str = "", *said: Said, culprit: str = "a") -> Result:
    return Result(fault, 0, quiet, culprit, 100.0, 1.0, said)


def told(kind: IncidentKind, culprit: str, at: float, because: str = "") -> Said:
    return Said(culprit, str(kind), int(Severity.TICKET), at, because)


def test_only_the_right_kind_with_the_right_culprit_after_the_onset_is_found() -> None:
    right = told(DOMAIN_STRAGGLER, "a", 200.0)
    wrong = told(DOMAIN_STRAGGLER, "b", 210.0)
    early = told(DOMAIN_STRAGGLER, "a", 10.0)
    one = result("clock", "", early, right, wrong)
    assert one.right is right
    assert one.false == [early, wrong]
    assert result("clock", "", wrong).right is None


def test_an_illusion_is_named_where_it_is_called_first() -> None:
    because = "8 of 32 idle behind a mean of 95%; denominator: it counts only those that report"
    assert result("silent", "", told(DOMAIN_HIDDEN_IDLE, "a", 200.0, because)).named
    assert not result("silent", "", told(DOMAIN_HIDDEN_IDLE, "a", 200.0, "; sampling: x")).named


def test_what_is_kept_comes_back_and_the_tables_count_it() -> None:
    results = [
        result("clock", "", told(DOMAIN_STRAGGLER, "a", 160.0)),
        result("silent"),
        result("", "halves"),
        result("", "churn", told(DOMAIN_STRAGGLER, "b", 160.0)),
    ]
    assert of_json(to_json(results)) == results
    text = figures(results)
    assert "| domain.straggler   | 1.000 [0.050, 1.000] n=1" in text
    straggler = text.splitlines()[3]
    assert straggler.count("n=1") == 1
    assert "0.500 [" in straggler  # one found, one false alarm
    assert "n=2" in straggler
    assert "domain.straggler 1" in text


def test_every_fault_has_three_strengths_in_order_and_every_quiet_day_its_words() -> None:
    assert all(len(fault.strengths) == len(STRENGTHS) == len(fault.words) for fault in FAULTS)
    assert len({fault.name for fault in FAULTS} | QUIET.keys()) == len(FAULTS) + len(QUIET)
