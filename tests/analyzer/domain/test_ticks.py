"""What everybody said at the same moments, against a plain look at each series."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.evidence.domain.ticks import held, moments, possible, row_mean, speaks
from analyzer.evidence.durations import FRESH_POLLS, FRESH_SECONDS, fresh
from fabrichealth.catalogue.accelerators import UTILIZATION
from fabrichealth.model import SeriesTable, Window, aligned

START = 1_800_000_000.0
SPAN = 120.0

Polls = list[tuple[int, float, list[float]]]
"""Of a clock: number, seconds after the start, and what its two series said; NaN is nothing."""

value = st.sampled_from([0.0, 0.25, 0.5, 1.0, float("nan")])
polls = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 120).map(float), st.lists(value, min_size=2,
                                                                         max_size=2)),
    max_size=30,
)  # fmt: skip


def window_of(told: Polls) -> Window:
    table = SeriesTable()
    own = {
        clock: table.intern_all((UTILIZATION, (f"host-{clock}-{n}",)) for n in range(2))
        for clock in range(3)
    }
    samples = []
    for clock, at, values in told:
        said = np.array(values)
        known = np.isfinite(said)
        samples.append((clock, START + at, own[clock][known], said[known]))
    samples = [row for row in samples if len(row[2])]
    return aligned(UTILIZATION, table, samples, START + SPAN, SPAN + 1.0)


@settings(max_examples=100)
@given(polls)
def test_each_moment_holds_the_newest_reading_that_is_not_old(told: Polls) -> None:
    window = window_of(told)
    at = START + np.arange(10.0, SPAN + 1.0, 10.0)
    found = held(window, at) if window.values.size else np.full((len(window), len(at)), np.nan)
    period = window.period
    usual = np.median(period[np.isfinite(period)]) if np.isfinite(period).any() else window.seconds
    for row in range(len(window)):
        own = period[row] if np.isfinite(period[row]) else usual
        limit = max(FRESH_POLLS * own, FRESH_SECONDS)
        for column, moment in enumerate(at):
            seen = np.isfinite(window.values[row]) & (window.times[row] <= moment)
            plain = np.nan
            if seen.any() and moment - window.times[row][seen][-1] <= limit:
                plain = window.values[row][seen][-1]
            assert found[row, column] == plain or (np.isnan(found[row, column]) and np.isnan(plain))


@given(polls)
def test_who_speaks_is_who_is_fresh(told: Polls) -> None:
    window = window_of(told)
    assert speaks(window).tolist() == fresh(window).tolist()


def test_targets_read_in_step_and_out_of_step_tell_the_same() -> None:
    steady: Polls = [(c, 10.0 * k, [0.5, 0.25]) for c in range(3) for k in range(12)]
    late: Polls = [(c, at + 3.0 * c, values) for c, at, values in steady]
    at = START + np.arange(20.0, SPAN - 5.0, 10.0)
    assert np.array_equal(held(window_of(steady), at), held(window_of(late), at))


def test_no_moment_lies_before_anything_was_read() -> None:
    window = window_of([(0, 60.0 + 10.0 * k, [1.0, 1.0]) for k in range(7)])
    at = moments(window)
    assert at[0] >= START + 60.0
    assert at[-1] == START + SPAN
    assert np.allclose(np.diff(at), 10.0)
    assert len(moments(window_of([]))) == 0


def test_what_no_instrument_can_say_is_missing() -> None:
    window = window_of([(0, 10.0, [1.0, 0.5])])
    told = possible(window, np.array([[0.5, 7.0, -1.0, np.nan]]))
    assert np.isnan(told[0]).tolist() == [False, True, True, True]


def test_a_mean_is_over_what_is_known() -> None:
    found = row_mean(np.array([[1.0, 0.0], [1.0, np.nan], [np.nan, np.nan]]))
    assert found[:2].tolist() == [0.5, 1.0]
    assert np.isnan(found[2])
