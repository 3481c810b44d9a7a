"""The multivariate screen: what parts from what goes together, seldom by chance, and explained."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.evidence.screen import ERRORS, Features, Odd, odd
from fabrichealth.catalogue.optics import RX_POWER, SNR, TEMPERATURE
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS

NAMES = (ERRORS, "rx_power", "snr_media", "temperature")
METRICS = (FEC_CORRECTED_BITS, RX_POWER, SNR, TEMPERATURE)


def links(number: int, seed: int = 1) -> np.ndarray:
    """Return features of links that are well: signal follows light, errors follow signal."""
    chance = np.random.default_rng(seed)
    light = chance.normal(-1.5, 1.0, number)
    signal = 22.0 + 0.8 * light + chance.normal(0, 0.1, number)
    errors = -8.0 - 1.5 * (signal - 21.0) + chance.normal(0, 0.1, number)
    return np.stack([errors, light, signal, chance.normal(45, 3, number)], axis=1)


def screen(values: np.ndarray, stratum: np.ndarray | None = None) -> list[Odd]:
    group = np.zeros(len(values), np.int64) if stratum is None else stratum
    return list(odd(Features(NAMES, METRICS, values), group, 0.01))


def test_a_link_within_every_range_that_breaks_what_goes_together_is_odd() -> None:
    values = links(300)
    # bright, and yet a poor signal: each is within the range of the others
    values[7, 1:3] = np.quantile(values[:, 1], 0.9), np.quantile(values[:, 2], 0.1)
    (one,) = screen(values)
    assert one.unit == 7
    assert set(one.features[:2]) <= {"rx_power", "snr_media", ERRORS}
    assert one.distance > 1
    assert sum(one.shares) == pytest.approx(1.0)
    assert list(one.shares) == sorted(one.shares, reverse=True)


def test_links_that_are_well_are_hardly_ever_odd() -> None:
    found = sum(len(screen(links(128, seed))) for seed in range(30))
    assert found <= 3  # 30 fleets at one in a hundred: beyond the 99 % quantile


def test_a_fifth_of_a_stratum_that_is_ill_does_not_hide_itself() -> None:
    values = links(200)
    values[:40, 2] -= 4.0
    assert {one.unit for one in screen(values)} == set(range(40))


def test_another_sort_of_link_is_not_odd_among_its_own() -> None:
    values = links(200)
    values[100:, 1] -= 6.0
    stratum = np.repeat([0, 1], 100)
    assert screen(values, stratum) == []


@pytest.mark.parametrize("number", [0, 1, 10, 23])
def test_too_few_links_say_nothing(number: int) -> None:
    values = links(number)
    values[:1, 1] += 40.0
    assert screen(values) == []


def test_readings_that_never_differ_are_no_trouble() -> None:
    values = np.tile(links(1), (60, 1))
    assert screen(values) == []
    values[3, 1] += 4.0
    assert [one.unit for one in screen(values)] == [3]


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32), lost=st.floats(0, 1), scale=st.sampled_from([0.0, 1.0, 1e6]))
def test_whatever_is_read_the_screen_says_numbers(seed: int, lost: float, scale: float) -> None:
    chance = np.random.default_rng(seed)
    values = chance.standard_t(1.5, (80, 4)) * scale
    values[chance.random((80, 4)) < lost] = np.nan
    for one in screen(values):
        assert np.isfinite([one.distance, *one.shares, *one.values, *one.usual]).all()
        assert np.isfinite(values[one.unit]).sum() >= 2
