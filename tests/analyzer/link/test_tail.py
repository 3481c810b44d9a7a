"""Codewords that will be lost, told from the histogram of those that were not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom, binom, poisson

from analyzer.evidence.link.fec import (
    KP4,
    KR4,
    LL272,
    Code,
    codeword_error_ratio,
    frame_loss_ratio,
    symbol_error_ratio,
)
from analyzer.evidence.link.tail import Tail, tail_of
from fabrichealth.model import Floats

WINDOW = 7.8e7 * 120
"""Codewords of two minutes at 400 Gb/s."""

WRONG = np.arange(120)


@pytest.mark.parametrize(
    ("code", "ber", "lost"),
    [
        (KP4, 2.4e-4, 8.15e-13),
        (KP4, 1e-3, 1.5e-4),
        (KP4, 1e-4, 1.4e-18),
        (KP4, 1e-5, 2e-34),
        (KR4, 5e-5, 4.4e-10),
        (LL272, 5e-5, 2.3e-12),
        (LL272, 1e-4, 5.3e-10),
    ],
)
def test_the_cliff_of_each_code(code: Code, ber: float, lost: float) -> None:
    assert codeword_error_ratio(ber, code) == pytest.approx(lost, rel=0.08)


def test_the_chain_of_formulas_is_the_standards() -> None:
    """64-octet frames, codewords interleaved by two: 1.7e-12 is what 802.3bs allows."""
    assert frame_loss_ratio(8.15e-13, 2) == pytest.approx(1.73e-12, rel=0.01)


def seen(mass: Floats, seed: int = 1) -> tuple[Tail, float]:
    """Return what is told of codewords drawn by a law, and the share that law really loses."""
    drawn = np.random.default_rng(seed).poisson(mass[:16] * WINDOW).astype(np.float64)
    found = tail_of(drawn, KP4)
    assert found is not None
    return found, float(mass[16:].sum())


def random(ber: float) -> Floats:
    return np.asarray(binom.pmf(WRONG, 544, float(symbol_error_ratio(ber))), np.float64)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ber", [3e-4, 2e-4, 1e-5])
def test_independent_errors_are_taken_for_what_they_are(ber: float, seed: int) -> None:
    found, truth = seen(random(ber), seed)
    assert found.estimator == "binomial"
    assert found.ratio == pytest.approx(truth, rel=0.1)
    assert found.ber == pytest.approx(ber, rel=0.02)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rho", [1e-3, 5e-3])
def test_errors_that_come_together_are_told_within_a_fifth(rho: float, seed: int) -> None:
    share = float(symbol_error_ratio(1e-5))
    a, b = share * (1 - rho) / rho, (1 - share) * (1 - rho) / rho
    found, truth = seen(np.asarray(betabinom.pmf(WRONG, 544, a, b)), seed)
    assert found.bursts
    assert found.ratio == pytest.approx(truth, rel=0.2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("share", "length"), [(1e-6, 9), (1e-7, 12), (1e-9, 12)])
def test_rare_bursts_are_told_within_a_factor_of_three(
    share: float, length: int, seed: int
) -> None:
    """A fit of all bins is low by a factor of twelve here, the bit error ratio by 26 decades."""
    burst = np.convolve(random(1e-5), poisson.pmf(WRONG, length))[: len(WRONG)]
    found, truth = seen((1 - share) * random(1e-5) + share * burst, seed)
    assert found.bursts
    assert truth / 3 < found.ratio < truth * 3


def test_time_to_the_next_loss_follows_from_the_rate() -> None:
    """A codeword in 1e12 at 400 Gb/s is one in three and a half hours."""
    assert Tail(1e-12, "tail", True, 0.0, 1.0).seconds_to_loss(7.8e7) / 3600 == pytest.approx(
        3.56, abs=0.01
    )


def test_without_codewords_nothing_is_said_and_without_errors_nothing_is_lost() -> None:
    assert tail_of(np.zeros(16), KP4) is None
    clean = tail_of(np.array([1e9, *[0.0] * 15]), KP4)
    assert clean is not None
    assert clean.ratio == 0.0
    assert clean.seconds_to_loss(7.8e7) == float("inf")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1e12) | st.just(float("nan")), min_size=1, max_size=20))
def test_any_histogram_gives_a_share_or_nothing(bins: list[Any]) -> None:
    found = tail_of(np.array(bins), KP4)
    assert found is None or 0.0 <= found.ratio <= 1.0
