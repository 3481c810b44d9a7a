"""Dates of failure: how often they are right, and when none is given. The drifts are simulated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.evidence.link.forecast import Crossing, Proof, crossing
from fabrichealth.model import Floats

DAY = 86_400.0
START = 1_800_000_000.0
DRIFTS = 360


def drift(
    chance: np.random.Generator, per_day: float, left: float, began: float = 0.0
) -> tuple[Floats, Floats, float]:
    """Return times, margins (dB) and now: noise that remembers, a daily cycle, a fall.

    `left` is the margin now, `began` the share of the past after which it began to fall.
    """
    days = chance.uniform(4, 21)
    at = np.concatenate([np.arange(0, days - 1, 1 / 6), np.arange(days - 1, days, 1 / 48)])
    alike, size = chance.choice([0.0, 0.5, 0.8]), chance.uniform(0.02, 0.25)
    noise = np.zeros(len(at))
    for k, shock in enumerate(chance.normal(size=len(at))):
        noise[k] = alike * noise[k - 1] + np.sqrt(1 - alike**2) * shock
    cycle = chance.choice([0.0, 0.1, 0.3]) * np.sin(2 * np.pi * at + chance.uniform(0, 6))
    fallen = per_day * np.minimum(at - days, 0.0) - per_day * np.minimum(at - began * days, 0.0)
    return START + at * DAY, left - fallen + size * noise + cycle, START + days * DAY


def test_the_interval_holds_the_truth_as_often_as_it_claims() -> None:
    """Of 80 % intervals four in five hold the day; as many are too late as too early."""
    chance = np.random.default_rng(3)
    early, late, told = 0, 0, 0
    for number in range(DRIFTS):
        per_day, left = chance.uniform(0.1, 0.5), chance.uniform(0.5, 4)
        at, margin, now = drift(chance, per_day, left, began=0.3 * (number % 2))
        found = crossing(at, margin, now)
        if found is None:
            continue
        told += 1
        early += left / per_day > found.p90
        late += left / per_day < found.p10
    assert told >= 0.95 * DRIFTS
    assert 0.75 <= 1 - (early + late) / told <= 0.85
    assert max(early, late) <= 0.16 * told


def test_a_link_that_only_breathes_with_the_day_gets_no_date() -> None:
    chance = np.random.default_rng(5)
    dates = [crossing(*drift(chance, 1e-9, 4.0)) for _ in range(200)]
    assert sum(one is not None and one.p50 < 14 for one in dates) <= 2


@pytest.mark.parametrize("days", [1.05, 1.5, 2.0, 2.5, 3.0, 3.9])
def test_a_past_of_few_days_does_not_take_a_daily_cycle_for_a_fall(days: float) -> None:
    chance = np.random.default_rng(7)
    dates = []
    for _ in range(60):
        old = np.arange(0, days - 1, 1 / 6)
        at = START + DAY * np.concatenate([old, np.arange(days - 1, days, 1 / 48)])
        turn = 2 * np.pi * at / DAY + chance.uniform(0, 6)
        margin = 2.0 + chance.uniform(0.05, 0.5) * np.sin(turn) + chance.normal(0, 0.02, len(at))
        dates.append(crossing(at, margin, START + days * DAY))
    assert sum(one is not None and one.p50 < 14 for one in dates) <= 1


@pytest.mark.parametrize("days", [2.5, 3.9])
def test_a_fall_among_daily_cycles_is_told_within_three_days(days: float) -> None:
    chance = np.random.default_rng(8)
    told = 0
    for _ in range(60):
        at = START + DAY * np.arange(0, days, 1 / 24)
        turn = 2 * np.pi * at / DAY + chance.uniform(0, 6)
        fall = 0.5 * (at - START) / DAY
        margin = 4.0 - fall + 0.1 * np.sin(turn) + chance.normal(0, 0.05, len(at))
        told += crossing(at, margin, START + days * DAY) is not None
    assert told >= 57


def settled(chance: np.random.Generator, shape: str) -> tuple[Floats, Floats, float]:
    """Return times, margins (dB) and now of a link that lost margin for good and stands since.

    In one step, in two, or on a slope that stopped.
    """
    at, noise, now = drift(chance, 1e-9, 4.0)
    days = (at - START) / DAY
    end, lost = chance.uniform(0.15, 0.85) * (now - START) / DAY, chance.uniform(0.8, 3.0)
    share = {
        "step": 1.0 * (days > end),
        "two steps": 0.5 * (days > end / 2) + 0.5 * (days > end),
        "slope that stopped": np.clip((days - 0.3 * end) / (0.7 * end), 0.0, 1.0),
    }[shape]
    return at, noise - lost * share, now


@pytest.mark.parametrize("shape", ["step", "two steps", "slope that stopped"])
def test_a_loss_that_is_over_is_no_trend(shape: str) -> None:
    chance = np.random.default_rng(11)
    dates = [crossing(*settled(chance, shape)) for _ in range(80)]
    assert sum(one is not None and one.p50 < 14 for one in dates) <= 4


def test_what_falls_on_after_a_step_is_timed_from_the_step() -> None:
    at = START + np.arange(0, 12, 1 / 12) * DAY
    days = (at - START) / DAY
    falls = 5.0 - 1.5 * (days > 6) - 0.2 * np.maximum(days - 6, 0)
    held = 0
    for seed in range(30):
        margin = falls + np.random.default_rng(seed).normal(size=len(at)) * 0.03
        found = crossing(at, margin, float(at[-1]))
        assert found is not None
        assert (found.began - START) / DAY == pytest.approx(6, abs=0.3)
        assert found.per_day == pytest.approx(-0.2, rel=0.1)
        held += found.p10 < falls[-1] / 0.2 < found.p90
    assert 18 <= held <= 29


def test_a_margin_that_grows_or_is_used_up_already_gets_no_date() -> None:
    at = START + np.arange(100) * DAY / 10
    chance = np.random.default_rng(1).normal(size=100) * 0.05
    assert crossing(at, 2 + 0.1 * np.arange(100) / 10 + chance, at[-1]) is None
    assert crossing(at, -0.5 - 0.1 * np.arange(100) / 10 + chance, at[-1]) is None


def test_what_began_to_fall_after_a_good_week_is_timed_from_there() -> None:
    at = START + np.arange(0, 10, 1 / 12) * DAY
    days = (at - START) / DAY
    noise = np.random.default_rng(2).normal(size=len(at)) * 0.03
    found = crossing(at, 3.0 - 0.5 * np.maximum(days - 7, 0) + noise, float(at[-1]))
    assert found is not None
    assert (found.began - START) / DAY == pytest.approx(7, abs=0.3)
    assert found.per_day == pytest.approx(-0.5, rel=0.05)
    assert found.p10 < 1.54 / 0.5 < found.p90


def test_a_short_past_is_believed_as_far_as_the_settings_say() -> None:
    at = START + np.arange(0, 1, 1 / 24) * DAY
    noise = np.random.default_rng(3).normal(size=len(at)) * 0.02
    margin = 3.0 - 1.0 * (at - START) / DAY + noise
    now = float(at[-1])
    assert crossing(at, margin, now) is None  # one dB in one day
    assert crossing(at, margin, now, Proof(quick_db=0.8)) is not None
    assert crossing(at, margin, now, Proof(least_past=0.5)) is not None


def test_the_same_readings_give_the_same_date() -> None:
    given_ = drift(np.random.default_rng(8), 0.2, 2.0)
    assert crossing(*given_) == crossing(*given_)


ANY = st.floats(-50, 50) | st.just(float("nan"))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1e6), ANY), max_size=40))
def test_any_past_gives_a_date_or_none(readings: list[tuple[float, float]]) -> None:
    at = START + np.sort(np.array([one for one, _ in readings], np.float64))
    found = crossing(at, np.array([one for _, one in readings], np.float64), START + 1e6)
    assert found is None or isinstance(found, Crossing)
    if found is not None:
        assert 0 <= found.p10 <= found.p50 <= found.p90
        assert found.per_day < 0
