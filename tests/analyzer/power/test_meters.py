"""Meters that contradict what else is known."""

import numpy as np
import pytest

from fabrichealth.catalogue.power import FEED_ENERGY, FEED_POWER_FACTOR, RACK_POWER
from tests.analyzer.power.racks import Said, amperes, flat, noisy, said, volts, watts

POLLS = 120


def meter(feed: str, power: float, factor: float = 0.97) -> tuple[Said, ...]:
    """Return a meter of a feed at 24 A and 230 V."""
    return (
        amperes(feed, noisy(24.0, 0.01, POLLS)),
        volts(feed, flat(230.0, POLLS)),
        watts(feed, flat(power, POLLS)),
        {(FEED_POWER_FACTOR, ("r1", feed)): flat(factor, POLLS)},
    )


TRUE = 3 * 24.0 * 230.0 * 0.97


@pytest.mark.parametrize("share", [-0.12, -0.08, 0.08, 0.12])
def test_power_that_is_not_volts_times_amperes_times_factor_is_told(share: float) -> None:
    (finding,) = said("power_meter_drift", *meter("r1-A", TRUE * (1 + share)))
    assert str(finding.about) == "r1-A"
    assert ("-" if share < 0 else "+") in finding.because
    assert finding.score == pytest.approx(abs(share) / 0.05, rel=0.05)
    assert "V x I x power factor says" in finding.because


@pytest.mark.parametrize("share", [-0.03, 0.0, 0.03])
def test_what_meters_differ_by_anyway_is_none(share: float) -> None:
    assert said("power_meter_drift", *meter("r1-A", TRUE * (1 + share))) == []


def test_more_than_volts_times_amperes_is_impossible_whatever_the_factor() -> None:
    volts_and_amperes = meter("r1-A", 3 * 24.0 * 230.0 * 1.1)[:3]
    (finding,) = said("power_meter_drift", *volts_and_amperes)
    assert "the most that can flow" in finding.because
    assert said("power_meter_drift", *meter("r1-A", 3 * 24.0 * 230.0 * 0.8)[:3]) == []


def test_an_energy_counter_that_rises_otherwise_is_told_and_who_agrees() -> None:
    energy: Said = {(FEED_ENERGY, ("r1", "r1-A")): (np.arange(POLLS) * 30.0 * TRUE * 0.9).tolist()}
    (finding,) = said("power_meter_drift", *meter("r1-A", TRUE), energy)
    assert "the energy counter says" in finding.because
    assert finding.because.endswith("V x I x power factor agrees with it")


def test_what_flowed_while_nobody_read_the_meter_is_no_drift() -> None:
    """A job that began and ended within five minutes without an answer."""
    deaf = (np.arange(POLLS) >= 75) & (np.arange(POLLS) < 85)
    counted = np.cumsum(np.where(deaf, 3.0 * TRUE, TRUE) * 30.0)
    read, energy = (np.where(deaf, np.nan, one).tolist() for one in (flat(TRUE, POLLS), counted))
    assert said("power_meter_drift", watts("r1-A", read), amperes("r1-A", flat(24.0, POLLS)),
                {(FEED_ENERGY, ("r1", "r1-A")): energy}) == []  # fmt: skip


def test_a_coarse_or_dead_energy_counter_says_nothing() -> None:
    for step in (3.6e6, 1e12):
        rises = np.floor(np.arange(POLLS) * 30.0 * TRUE / step) * step
        energy: Said = {(FEED_ENERGY, ("r1", "r1-A")): rises.tolist()}
        assert said("power_meter_drift", *meter("r1-A", TRUE), energy) == []


def test_the_racks_own_meter_accuses_one_feed_but_not_all() -> None:
    total: Said = {(RACK_POWER, ("r1",)): flat(20_000.0, POLLS)}
    both = said("power_meter_drift", watts("r1-A", flat(11_000.0, POLLS)),
                watts("r1-B", flat(11_000.0, POLLS)), total)  # fmt: skip
    assert both == []


def test_a_feed_that_carries_little_is_not_judged() -> None:
    assert said("power_meter_drift", *meter("r1-A", 300.0)[2:], amperes("r1-A", flat(0.3, POLLS)),
                volts("r1-A", flat(230.0, POLLS))) == []  # fmt: skip
