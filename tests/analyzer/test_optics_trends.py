"""Slopes with their interval, and what temperature explains of a laser's bias."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.evidence.optics.trends import DAY, ageing, follows, theil_sen, trend
from fabrichealth.model import Floats

AT = 1_800_000_000.0 + np.arange(0.0, 20 * DAY, DAY / 6)


def daily(kelvin: float = 5.0) -> Floats:
    """Return a case's temperature over twenty days, six times a day."""
    return np.asarray(45.0 + kelvin * np.sin(2 * np.pi * AT / DAY), np.float64)


def test_one_wild_reading_in_ten_does_not_move_the_slope() -> None:
    values = -0.05 * (AT - AT[0]) / DAY
    values[::10] -= 20.0
    assert theil_sen(AT, values) == pytest.approx(-0.05, abs=0.01)


@pytest.mark.parametrize("per_day", [-0.1, 0.0, 0.1])
def test_the_interval_holds_the_truth_as_often_as_it_says(per_day: float) -> None:
    chance = np.random.default_rng(1)
    inside = 0
    for _ in range(60):
        values = per_day * (AT - AT[0]) / DAY + chance.normal(0, 0.3, len(AT))
        found = trend(AT, values)
        assert found is not None
        inside += found.lower <= per_day <= found.upper
    assert inside >= 45  # 90 % of 60 are 54


def test_a_daily_cycle_is_no_trend() -> None:
    found = trend(AT, daily())
    assert found is not None
    assert not found.proven


@given(st.lists(st.floats(-50, 50) | st.just(float("nan")), max_size=12))
def test_a_trend_is_told_or_it_is_not_and_never_fails(values: list[float]) -> None:
    at = AT[: len(values)]
    found = trend(at, np.array(values))
    assert found is None or found.lower <= found.upper


def test_a_laser_that_ages_is_told_from_one_that_is_warm() -> None:
    chance = np.random.default_rng(2)
    days = (AT - AT[0]) / DAY
    noise = chance.normal(0, 0.004, (3, len(AT)))
    log = np.log(7e-3) + np.stack([0.015 * daily(), 0.015 * daily() + 0.01 * days, 0.015 * daily()])
    log[2] += 0.015 * 0.5 * days  # the room grows warmer by half a kelvin a day
    celsius = np.stack([daily(), daily(), daily() + 0.5 * days])
    found = ageing(AT, np.exp(log + noise), celsius)
    assert found.warmth == pytest.approx(0.015, abs=0.001)
    assert found.per_day == pytest.approx([0.0, 0.01, 0.0], abs=0.0006)
    assert found.doubt[1] < 1e-6
    assert (found.doubt[[0, 2]] > 0.01).all()
    assert found.grown == pytest.approx([1.0, np.exp(0.01 * days[-1]), 1.0], abs=0.02)


def test_of_what_is_not_read_nothing_is_told() -> None:
    unread = np.full((1, len(AT)), np.nan)
    for bias, celsius in ((unread, unread), (unread + 0.0, daily()[None, :]), (unread, unread)):
        found = ageing(AT, bias, celsius)
        assert np.isnan(found.per_day).all()
        assert np.isnan(found.grown).all()
    few = np.full((1, len(AT)), 7e-3)
    few[0, 9:] = np.nan
    assert np.isnan(ageing(AT, few, daily()[None, :]).per_day).all()
    assert len(ageing(np.empty(0), np.empty((2, 0)), np.empty((2, 0))).per_day) == 2


def test_what_follows_the_temperature_does_so_beyond_any_trend() -> None:
    drift = -0.3 * (AT - AT[0]) / DAY
    margin = 3.0 - 0.1 * daily() + drift
    assert follows(margin, daily(), AT) == pytest.approx(-1.0, abs=0.01)
    noise = np.random.default_rng(3).normal(0, 1, len(AT))
    alone = follows(noise + drift, daily(), AT)
    assert alone is not None
    assert abs(alone) < 0.6
    assert follows(np.full(len(AT), 2.0), daily(), AT) is None
