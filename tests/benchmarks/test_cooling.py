"""The simulated loops obey their laws, and what was said of loops is counted rightly."""

import numpy as np
import pytest

from benchmarks.cooling.faults import BY_NAME, FAULTS, HOUR
from benchmarks.cooling.judging import Result, Said, ill_cases, of_json
from benchmarks.cooling.plant import SHARE, carried
from benchmarks.cooling.tables import figures
from benchmarks.cooling.world import PERIOD, START, Case, World
from benchmarks.heard import to_json
from benchmarks.skab import Told, runs, scored
from fabrichealth.catalogue import cooling, power
from fabrichealth.kinds import KINDS, Severity
from fabrichealth.model import Floats, Labels, SeriesTable


def world(*cases: Case, seed: int = 1) -> World:
    return World(cases, np.random.default_rng(seed), SeriesTable())


def lived(made: World, minutes: int) -> dict[tuple[str, Labels], Floats]:
    """Return what the meters of a world said each minute ([k])."""
    polls = np.stack([made.poll(number).values for number in range(minutes)], axis=1)
    names = [(str(made.table.metric(n)), made.table.labels(n)) for n in made.series.tolist()]
    return dict(zip(names, polls, strict=True))


def test_coolant_carries_away_what_the_racks_give_it() -> None:
    made = world(Case("flow"), Case("differential_pressure"))
    for number in range(60):
        made.poll(number)
    load = made.load * made.rated
    ill, water, most, wanted = made._ill(START + 3600.0)
    state = made.plant.step(load, wanted, water, most, ill, PERIOD)
    taken = carried(state.flow, state.supply + 5.0) * (state.back - state.supply)
    assert taken == pytest.approx(SHARE * load.sum(axis=1), rel=1e-9)
    assert state.branch_flow.sum(axis=1) == pytest.approx(state.flow, rel=1e-9)


@pytest.mark.parametrize(
    ("control", "metric", "labels"),
    [
        ("flow", cooling.FLOW, ("cdu-000", "", "supply")),
        ("differential_pressure", cooling.DIFFERENTIAL_PRESSURE, ("cdu-000", "", "loop")),
    ],
)
def test_a_control_holds_what_it_controls_while_a_branch_clogs(
    control: str, metric: object, labels: Labels
) -> None:
    clog = Case(control, BY_NAME["clogged"], 2, START)
    said = lived(world(clog), 300)[str(metric), labels]
    assert said[-20:].mean() == pytest.approx(said[:20].mean(), rel=0.01)


def test_a_leak_takes_its_litres_and_nothing_else_does() -> None:
    made = world(Case("flow", BY_NAME["leak"], 1, START), Case("flow"))
    for number in range(120):
        made.poll(number)
    assert made.lost == pytest.approx([2.0 * 120 / 60, 0.0], rel=1e-9)


def test_a_burst_empties_its_reservoir_and_stops_pumps_and_racks() -> None:
    made = world(Case("flow", BY_NAME["burst"], 1, START + 600.0))
    read = lived(made, 30)
    level = read[str(cooling.RESERVOIR_LEVEL), ("cdu-000", "")]
    runs = read[str(cooling.PUMP_RUNNING), ("cdu-000", "", "1")]
    assert level[9] == pytest.approx(0.7, abs=0.03)
    assert level[11] == pytest.approx(level[9] - 10.0 / 40.0, abs=0.03)
    assert (level[-1], runs[9], runs[-1]) == (pytest.approx(0.05, abs=0.1), 1.0, 0.0)
    assert read[str(cooling.FLOW), ("cdu-000", "", "supply")][-1] == 0.0
    assert read[str(power.RACK_POWER), ("cdu-000-b0",)][-1] == 0.0


@pytest.mark.parametrize(("strength", "least", "most"), [(0, 0.8, 1.01), (1, 0.3, 0.9), (2, 0, 0)])
def test_pumps_that_are_left_carry_what_they_can(strength: int, least: float, most: float) -> None:
    read = lived(world(Case("flow", BY_NAME["pump_stopped"], strength, START + 600.0)), 20)
    flow = read[str(cooling.FLOW), ("cdu-000", "", "supply")]
    assert least <= flow[-5:].mean() / flow[:10].mean() <= most
    for number in range(3):
        turns = read[str(cooling.PUMP_RUNNING), ("cdu-000", "", f"{number + 1}")]
        assert turns[5] == 1.0
        assert turns[-1] == float(number < 2 - strength)


def test_every_kind_of_cooling_has_a_fault_and_every_fault_a_case() -> None:
    kinds = {str(one.kind) for one in FAULTS}
    assert kinds == {name for name in KINDS if name.startswith("cooling.")}
    cases = ill_cases(np.random.default_rng(1), FAULTS)
    assert len(cases) == len(FAULTS) * 3 * 2
    assert all(case.onset > START for case in cases)


def said(kind: str, at: float) -> Said:
    return Said("cdu-000", kind, int(Severity.TICKET), at, "because", "cdu-000")


def test_what_was_said_is_counted_by_kind_and_moment() -> None:
    onset = START + 30 * HOUR
    right = said("cooling.pump_wear", onset + 2 * HOUR)
    wrong = said("cooling.clogged", onset - 2 * HOUR)
    one = Result("pump_wear", 1, "flow", onset, 2.0, (wrong, right))
    missed = Result("pump_wear", 1, "flow", onset, 2.0, (said("cooling.leak", onset + HOUR),))
    quiet = Result("", 0, "flow", 0.0, 14.0, (said("cooling.leak", START),))
    assert (one.right, one.false) == (right, [wrong])
    assert (missed.right, missed.false) == (None, [])
    assert of_json(to_json([one, quiet])) == [one, quiet]
    text = figures([one, missed, quiet])
    assert "0.500 [0.013, 0.987] n=2" in text
    assert "2.0 / 2.0" in text
    assert "1 quiet loops, 2.0 loop-weeks" in text


def test_alarms_close_together_are_one_and_each_event_is_found_once() -> None:
    labelled, alarmed = np.zeros(1000, np.bool_), np.zeros(1000, np.bool_)
    labelled[500:700] = True
    alarmed[[100, 550, 600, 655, 800]] = True
    assert list(runs(alarmed, 60)) == [(100, 100), (550, 655), (800, 800)]
    score = scored([Told("valve1_0", labelled, alarmed, ())])
    assert (score.found.hits, score.found.n) == (1, 1)
    assert (score.true_alarms.hits, score.true_alarms.n) == (1, 3)
    assert score.delays == (50.0,)
    assert score.points == (3, 2, 197)
