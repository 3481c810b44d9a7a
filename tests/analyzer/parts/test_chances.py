"""How likely so many ill members are, against plain sums over the laws themselves."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln

from analyzer.evidence.parts.chances import (
    false_discovery,
    least_excess,
    likeness,
    of_events,
    of_members,
)


def one(value: float) -> np.ndarray:
    return np.array([value], np.float64)


def plain(hits: int, members: int, share: float, correlation: float) -> float:
    """Return the beta-binomial tail, summed term by term."""
    strength = (1 - correlation) / correlation
    a, b = share * strength, (1 - share) * strength
    return sum(
        comb(members, k) * float(np.exp(betaln(k + a, members - k + b) - betaln(a, b)))
        for k in range(hits, members + 1)
    )


@given(
    members=st.integers(3, 40),
    part=st.floats(0, 1),
    share=st.floats(0.02, 0.6),
    correlation=st.floats(0.005, 0.3),
)
def test_the_tail_is_that_of_a_beta_binomial(
    members: int, part: float, share: float, correlation: float
) -> None:
    hits = round(part * members)
    found = of_members(one(hits), one(members), one(share), correlation)
    assert found[0] == pytest.approx(plain(hits, members, share, correlation), rel=1e-4, abs=1e-11)


@pytest.mark.parametrize(
    ("failed", "chance"), [(4, 0.04), (5, 9e-3), (6, 1.9e-3), (7, 3.4e-4), (8, 5e-5)]
)
def test_a_lot_of_500_with_a_quarter_percent_is_as_the_table_says(
    failed: int, chance: float
) -> None:
    found = of_members(one(failed), one(500.0), one(0.0025), 0.0)
    assert found[0] == pytest.approx(chance, rel=0.1)


def test_what_comes_in_bursts_is_less_surprising() -> None:
    alike = [float(of_members(one(5), one(20.0), one(0.05), r)[0]) for r in (0.0, 0.05, 0.2)]
    assert alike == sorted(alike)
    bursts = [float(of_events(np.array([5]), one(1.0), spread)[0]) for spread in (1.0, 1.5, 3.0)]
    assert bursts == sorted(bursts)


def test_half_a_hit_is_no_hit() -> None:
    whole, half = (of_members(one(k), one(10.0), one(0.05), 0.0)[0] for k in (3.0, 3.5))
    assert whole == half


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 100))
def test_q_orders_as_p_does_and_is_never_less(p: list[float], more: int) -> None:
    q = false_discovery(np.array(p), len(p) + more)
    order = np.argsort(p, kind="stable")
    assert (np.diff(q[order]) >= 0).all()
    assert (q >= np.array(p) - 1e-12).all()
    assert (q <= 1).all()


def test_among_true_nulls_hardly_any_is_discovered() -> None:
    chance = np.random.default_rng(3)
    found = [bool((false_discovery(chance.random(200), 200) < 0.05).any()) for _ in range(400)]
    assert np.mean(found) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_an_excess_is_proven_only_by_several_events() -> None:
    assert least_excess(one(3), one(0.1))[0] < 2 < least_excess(one(8), one(0.1))[0]


@pytest.mark.parametrize("alike", [0.0, 0.05, 0.2])
def test_likeness_is_found_again(alike: float) -> None:
    chance = np.random.default_rng(5)
    share, members, groups = 0.2, 16, 4000
    if alike:
        strength = (1 - alike) / alike
        each = chance.beta(share * strength, (1 - share) * strength, groups)
    else:
        each = np.full(groups, share)
    hits = chance.binomial(members, each).astype(np.float64)
    found = likeness(hits, np.full(groups, 16.0), np.full(groups, share))
    assert found == pytest.approx(alike, abs=0.015)
