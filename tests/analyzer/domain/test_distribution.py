"""How unevenness is measured, by hand, by invariants, and against a real recording."""

import csv
import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analyzer.evidence.domain.distribution import IDLE, Distribution, distribution, packed
from analyzer.evidence.domain.inventory import Tier
from fabrichealth.model import Floats
from tests.house.checkout import ROOT

DUTY = ROOT.parent / "shared" / "datasets" / "gentd26-gpu-duty" / "duty.csv.gz"


def of(*values: float, size: int | None = None) -> Distribution:
    return distribution(np.array([values]), None if size is None else np.array([size]))


def test_equal_work_is_even() -> None:
    even = of(0.5, 0.5, 0.5, 0.5)
    assert (even.gini[0], even.jain[0], even.deviation[0], even.peak[0]) == (0.0, 1.0, 0.0, 1.0)


def test_one_of_four_that_does_everything_is_as_uneven_as_can_be() -> None:
    lone = of(0.0, 0.0, 0.0, 0.8)
    assert lone.gini[0] == pytest.approx(0.75)
    assert lone.jain[0] == pytest.approx(0.25)
    assert lone.deviation[0] == pytest.approx(3**0.5)
    assert lone.peak[0] == pytest.approx(4.0)
    assert lone.idle.tolist() == [3]


def test_an_idle_machine_is_neither_even_nor_uneven() -> None:
    idle = of(0.0, 0.0, 0.0)
    for measure in (idle.gini, idle.jain, idle.deviation, idle.peak, idle.split.between):
        assert np.isnan(measure[0])
    assert idle.idle_share[0] == 1.0
    assert not idle.split.two[0]


def test_who_says_nothing_is_missing_and_no_zero() -> None:
    there = of(0.5, np.nan, 0.5, 0.5, size=8)
    assert there.missing.tolist() == [5]
    assert there.missing_share[0] == 0.625
    assert there.idle.tolist() == [0]
    assert (there.gini[0], there.mean[0]) == (0.0, 0.5)


def test_quantiles_rank_over_all_there_should_be_and_say_nothing_of_the_silent() -> None:
    there = of(0.2, 0.4, 0.6, np.nan, size=5)
    # ranks 0 and 1 are silent; the median is the lowest that speaks
    assert np.isnan(there.quantiles[0, :3]).all()
    assert there.quantiles[0, 3:].tolist() == pytest.approx([0.2, 0.4, 0.52, 0.6])


@pytest.mark.parametrize("values", [[0.7], [np.nan], []])
def test_one_card_or_none_has_no_two_classes(values: list[float]) -> None:
    one = distribution(np.array([values], np.float64))
    assert np.isnan(one.split.between[0])
    assert not one.split.two[0]


SHAPES = {
    "half idle, half busy": ([0.01] * 50 + [0.95] * 50, True),
    "a tenth idle": ([0.0] * 10 + [0.9] * 90, True),
    "one of twenty idle": ([0.0] * 5 + [0.9] * 95, False),
    "wide": (list(np.linspace(0.0, 1.0, 100)), False),
    "skewed": (list(np.linspace(0.0, 1.0, 100) ** 4), False),
    "two that are close": ([0.5] * 50 + [0.7] * 50, False),
    "all alike": ([0.9] * 100, False),
}


@pytest.mark.parametrize(("values", "two"), SHAPES.values(), ids=SHAPES)
def test_two_classes_are_told_from_one_that_is_wide(values: list[float], two: bool) -> None:
    assert bool(of(*values).split.two[0]) is two


@given(arrays(np.float64, (3, 12), elements=st.floats(0.0, 1.0, width=32)))
def test_no_split_beats_the_one_found(values: Floats) -> None:
    found = distribution(values).split
    for row, between in zip(np.sort(values, axis=1), found.between, strict=True):
        spread = row.var()
        if spread < 1e-12:
            continue
        best = max(
            k * (12 - k) / 144 * (row[k:].mean() - row[:k].mean()) ** 2 / spread
            for k in range(1, 12)
        )
        assert between == pytest.approx(best, abs=1e-6)


@given(
    arrays(np.float64, (2, 9), elements=st.floats(0.0, 1.0, width=32) | st.just(np.nan)),
    st.floats(0.1, 10.0),
)
def test_unevenness_knows_no_unit_and_keeps_its_bounds(values: Floats, by: float) -> None:
    one, other = distribution(values), distribution(values * by)
    assert np.allclose(one.gini, other.gini, atol=1e-6, equal_nan=True)
    for row in range(2):
        if one.speaking[row] and np.isfinite(one.gini[row]):
            assert -1e-9 <= one.gini[row] <= 1.0
            assert 1.0 / one.speaking[row] - 1e-9 <= one.jain[row] <= 1.0 + 1e-9
            assert one.jain[row] == pytest.approx(1 / (1 + one.deviation[row] ** 2), rel=1e-6)


def test_groups_of_unequal_size_are_packed_beside_each_other() -> None:
    tier = Tier(("r1", "r2"), np.array([1, 0, 1, -1, 1], np.int32))
    values, size = packed(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), tier)
    assert size.tolist() == [1, 3]
    assert values[1].tolist() == [0.1, 0.3, 0.5]
    assert distribution(values, size).missing.tolist() == [0, 0]


def duty() -> tuple[Floats, Floats]:
    """Return times ([t]) and duty of pods (0..1, [t, pod], NaN: not there)."""
    if not DUTY.exists():
        pytest.skip("the public recording is not beside this checkout")
    with gzip.open(DUTY, "rt") as lines:
        rows = [(float(r["t"]), r["pod"], float(r["value"])) for r in csv.DictReader(lines)]
    times = sorted({at for at, _, _ in rows})
    pods = sorted({pod for _, pod, _ in rows})
    where = {at: n for n, at in enumerate(times)}, {pod: n for n, pod in enumerate(pods)}
    found = np.full((len(times), len(pods)), np.nan)
    for at, pod, value in rows:
        found[where[0][at], where[1][pod]] = value / 100.0
    return np.array(times), found


def test_measures_of_a_real_cluster_are_those_published_with_it() -> None:
    times, values = duty()
    every = distribution(values)
    idle = every.idle / every.speaking
    means = [np.nanmean(one) for one in (every.mean * 100, idle, every.gini, every.jain,
                                         every.deviation, every.peak)]  # fmt: skip
    assert means[:5] == pytest.approx([9.69, 0.611, 0.723, 0.284, 2.119], abs=1e-3, rel=5e-4)
    assert means[5] == pytest.approx(12.8, abs=0.05)
    (row,) = np.flatnonzero(times == 27360)
    assert every.speaking[row] == 107
    assert [
        every.mean[row] * 100, idle[row], every.gini[row], every.jain[row],
        every.deviation[row], every.peak[row],
    ] == pytest.approx([16.3424, 0.2617, 0.4425, 0.5894, 0.8346, 4.6199], abs=1e-3)  # fmt: skip


def test_each_tick_of_a_real_cluster_where_half_the_pods_idle_is_classed() -> None:
    _, values = duty()
    every = distribution(values)
    assert int((every.mean >= 0.10).sum()) == 439
    marked = np.flatnonzero(every.idle_majority)
    assert len(marked) == 70
    for row in marked.tolist():
        idle = np.flatnonzero(values[row] < IDLE)
        assert len(idle) == every.idle[row]  # the list of pods, tick by tick
        assert len(idle) * 2 >= every.speaking[row]
    # What works there is spread wide: by the rule for two classes none of these ticks has them.
    assert not every.split.two[marked].any()
    assert (every.split.between[marked] > 0.5).all()
    assert int((every.split.gap[marked] >= 0.3).sum()) == 40


def test_half_that_does_nothing_is_told_apart_from_a_machine_that_rests() -> None:
    shapes = distribution(np.array([[0.0, 0.0, 0.3, 0.5], [0.0, 0.0, 0.0, 0.06], [0.5] * 4]))
    assert shapes.idle_majority.tolist() == [True, False, False]
