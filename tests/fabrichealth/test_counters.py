"""Counters that wrap, reset, saturate, stop and change their width."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fabrichealth.counters import NARROW_FOR_GOOD, Increases, Repair, increases, saturated

GBIT = 1e9 / 8
"""Bytes per second."""


def repaired(
    polls: list[tuple[float, int]], bits: int = 32, most: float = GBIT
) -> tuple[list[int], Repair]:
    """Return what a counter of (time, raw value) becomes."""
    repair = Repair()
    values = [repair.monotone(0, raw, at, bits=bits, most_per_second=most) for at, raw in polls]
    return values, repair


def of(values: list[float], step: float = 60.0, most: float = np.inf) -> Increases:
    """Return the increases of one counter polled at even steps."""
    at = np.arange(len(values), dtype=np.float64) * step
    return increases(np.array([values], np.float64), at[np.newaxis], most)


def test_a_wrap_with_the_device_up_all_the_time_is_undone() -> None:
    values, repair = repaired([(0, 4_294_967_000), (60, 704)])
    assert values == [4_294_967_000, 4_294_968_000]
    assert (repair.wraps, repair.resets) == (1, 0)
    assert of([float(value) for value in values]).rate()[0, 1] == pytest.approx(16.67, abs=0.01)


def test_a_fall_of_a_wide_counter_is_a_reset_and_the_series_recovers_at_once() -> None:
    values, repair = repaired([(0, 9_000_000_000_000), (60, 120_000), (120, 720_000)], bits=64)
    assert values == [9_000_000_000_000, 120_000, 720_000]
    assert repair.resets == 1
    found = of([float(value) for value in values])
    assert found.reset.tolist() == [[False, True, False]]
    assert np.isnan(found.rate()[0, 1])
    assert found.rate()[0, 2] == 10_000
    assert np.nanmin(found.amount) >= 0


def test_a_poll_of_fewer_bits_is_no_part_of_the_series() -> None:
    repair = Repair()
    polls = [(0, 64, 8_589_934_592_000), (60, 32, 2_000_000), (120, 64, 8_589_994_592_000)]
    values = [
        float(repair.monotone(0, raw, at, bits=bits, most_per_second=GBIT))
        if repair.continues(0, bits)
        else np.nan
        for at, bits, raw in polls
    ]
    found = of(values)
    assert np.isnan(values[1])
    assert found.rate()[0].tolist()[2] == 500_000
    assert found.seconds[0, 2] == 120
    assert not found.reset.any()


def test_a_counter_that_stays_narrow_goes_on_so() -> None:
    repair = Repair()
    assert repair.continues(0, 64)
    repair.monotone(0, 2**40, 0.0, bits=64, most_per_second=GBIT)
    taken = [repair.continues(0, 32) for _ in range(NARROW_FOR_GOOD + 2)]
    assert taken == [False] * (NARROW_FOR_GOOD - 1) + [True] * 3
    assert repair.monotone(0, 500, 400.0, bits=32, most_per_second=GBIT) == 500
    assert repair.resets == 0
    assert repair.continues(0, 64)  # and grows wide again
    assert repair.continues(1, 32)  # each series by itself


@pytest.mark.parametrize(
    ("before", "after", "seconds"),
    [
        pytest.param(3_000_000_000, 100, 60.0, id="not from the last tenth"),
        pytest.param(4_294_967_000, 4_000_000_000, 1.0, id="a step that the line cannot make"),
        pytest.param(4_294_967_000, 704, 0.0, id="in no time"),
    ],
)
def test_a_fall_that_is_no_proven_wrap_is_a_reset(before: int, after: int, seconds: float) -> None:
    values, repair = repaired([(0, before), (seconds, after)])
    assert values == [before, after]
    assert (repair.wraps, repair.resets) == (0, 1)


def test_a_reset_after_wraps_falls_to_the_devices_own_value() -> None:
    values, _ = repaired([(0, 4_294_967_000), (60, 704), (120, 1000), (180, 5), (240, 6)])
    assert values == [4_294_967_000, 4_294_968_000, 4_294_968_296, 5, 6]


@given(
    start=st.integers(0, 2**32 - 1),
    adds=st.lists(st.integers(0, 2**32 // 10 - 1), max_size=60),
)
@example(start=0, adds=[2**32 // 10 - 1] * 11)
def test_a_wrapping_counter_is_as_monotone_as_what_it_counts(start: int, adds: list[int]) -> None:
    """Truth: a counter without bound. Read: its last 32 bits, each 10 s.

    What moves by more than a tenth of its range in a poll may wrap from below it: not proven.
    """
    truth = np.cumsum([start, *adds]).tolist()
    values, repair = repaired([(10.0 * n, total % 2**32) for n, total in enumerate(truth)])
    assert [value - values[0] for value in values] == [total - start for total in truth]
    assert repair.resets == 0


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=30), st.integers(1, 29))
def test_what_is_kept_over_a_restart_goes_on_as_if_there_was_none(
    raws: list[int], cut: int
) -> None:
    polls = [(10.0 * n, raw) for n, raw in enumerate(raws)]
    whole, _ = repaired(polls)
    _, before = repaired(polls[:cut])
    after = Repair(dict(before.offsets), dict(before.raw), dict(before.at))
    rest = [after.monotone(0, raw, at, bits=32, most_per_second=GBIT) for at, raw in polls[cut:]]
    assert rest == whole[cut:]


@pytest.mark.parametrize(
    ("value", "bits", "full"),
    [(65_535, 16, True), (65_534, 16, False), (2**32 - 1, 32, True), (255, 8, True), (0, 8, False)],
)
def test_a_saturated_counter_says_at_least(value: int, bits: int, full: bool) -> None:
    assert saturated(value, bits) is full


def test_gaps_are_bridged_and_never_filled() -> None:
    found = of([0.0, np.nan, np.nan, 30.0, 40.0], step=10.0)
    assert found.amount[0].tolist()[3:] == [30.0, 10.0]
    assert found.seconds[0].tolist()[3:] == [30.0, 10.0]
    assert np.isnan(found.amount[0, :3]).all()
    assert (found.total()[0], found.exposure()[0]) == (40.0, 40.0)


def test_where_nothing_is_known_nothing_is_said() -> None:
    for values in ([], [5.0], [np.nan, 5.0, np.nan]):
        found = of(values)
        assert np.isnan(found.total()).all()
        assert found.exposure()[0] == 0.0


def test_an_old_recorders_wraps_are_undone() -> None:
    top = 2.0**32
    found = of([top - 1000, 500.0, 900.0], step=10.0)
    assert found.amount[0].tolist()[1:] == [1500.0, 400.0]
    assert not found.reset.any()


def test_a_step_beyond_the_line_is_no_increase() -> None:
    found = of([0.0, 1e15, 1e15 + 100], step=10.0, most=GBIT)
    assert np.isnan(found.amount[0, 1])
    assert found.total()[0] == 100.0


def test_two_readings_of_one_moment_say_nothing() -> None:
    found = increases(np.array([[1.0, 5.0, 6.0]]), np.array([[0.0, 0.0, 10.0]]))
    assert np.isnan(found.amount[0, 1])
    assert found.amount[0, 2] == 1.0


counts = st.lists(st.none() | st.floats(0, 1e18, allow_nan=False), min_size=0, max_size=12)


@given(rows=st.lists(counts, min_size=1, max_size=4), step=st.floats(0.1, 3600.0))
def test_increases_are_those_of_a_slow_reader(rows: list[list[float | None]], step: float) -> None:
    width = max(map(len, rows))
    values = np.full((len(rows), width), np.nan)
    for number, row in enumerate(rows):
        values[number, : len(row)] = [np.nan if value is None else value for value in row]
    times = np.broadcast_to(np.arange(width) * step, values.shape)
    found = increases(values, times)
    for number, polls in enumerate(values.tolist()):
        last: tuple[float, float] | None = None
        for poll, value in enumerate(polls):
            if np.isnan(value):
                assert np.isnan(found.amount[number, poll])
                continue
            if last is None:
                assert np.isnan(found.amount[number, poll])
            else:
                at, before = last
                wrapped = (
                    before > 0.9 * 2**32
                    and before < 2**32
                    and (value - before + 2**32 <= 0.2 * 2**32)
                )
                if value >= before:
                    wanted = value - before
                else:
                    wanted = value - before + 2**32 if wrapped else value
                assert found.amount[number, poll] == wanted
                assert found.seconds[number, poll] == pytest.approx(times[number, poll] - at)
            last = (float(times[number, poll]), float(value))
    assert not (found.amount < 0).any()
