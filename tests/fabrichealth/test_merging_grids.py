"""Pieces of readings, joined in any order of times and series, against a plain dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import gridded, merged
from fabrichealth.store.runs import Runs

Sample = tuple[int, int, int, float]
"""clock, time, series, value."""

PIECES = st.lists(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 8), st.integers(0, 2), st.floats(-1e3, 1e3)),
        min_size=1,
        max_size=10,
    ),
    min_size=1,
    max_size=5,
)


def piece(samples: list[Sample]) -> Grid:
    """Return samples as one grid."""
    return gridded(
        Runs(
            np.array([one[0] for one in samples], np.int32),
            np.array([one[1] for one in samples], np.float64),
            np.ones(len(samples), np.int32),
            np.array([one[2] for one in samples], np.int32),
            np.array([one[3] for one in samples], np.float64),
        )
    )


def held(grid: Grid) -> dict[tuple[int, float, int], float]:
    """Return every value of a grid by clock, time and series."""
    return {
        (int(grid.clocks[clock]), float(at), int(series)): float(value)
        for series, clock, row in zip(grid.series, grid.clock, grid.values, strict=True)
        for at, value in zip(grid.times[clock], row, strict=True)
        if not np.isnan(value)
    }


@given(PIECES)
def test_nothing_is_lost_and_of_equal_ones_the_later_stays(pieces: list[list[Sample]]) -> None:
    expected = {
        (clock, float(at), series): value
        for samples in pieces
        for clock, at, series, value in samples
    }
    assert held(merged([piece(samples) for samples in pieces])) == expected


def test_a_piece_that_repeats_the_beginning_of_another_leaves_its_end() -> None:
    pieces = [[(0, 10, 0, 1.0), (0, 20, 0, 2.0)], [(0, 10, 1, 3.0)], [(0, 30, 0, 4.0)]]
    found = held(merged([piece(samples) for samples in pieces]))
    assert found[0, 20.0, 0] == 2.0
    assert len(found) == 4


POLLED = st.lists(
    st.tuples(
        st.integers(1, 4),  # series
        st.integers(1, 5),  # polls
        st.booleans(),  # whether one poll has other series than the rest
        st.booleans(),  # whether one comes late
    ),
    min_size=1,
    max_size=5,
)


def polled(clocks: list[tuple[int, int, bool, bool]]) -> Runs:
    """Return runs poll by poll, of clocks that read so many series so often."""
    runs = []
    for number in range(max(polls for _, polls, _, _ in clocks)):
        for clock, (each, polls, odd, late) in enumerate(clocks):
            if number < polls:
                first = 100 * clock + (1 if odd and number == 1 else 0)
                at = number - 1.5 if late and number == 2 else float(number)
                runs.append((clock, at, range(first, first + each)))
    series = np.array([one for _, _, mine in runs for one in mine], np.int32)
    return Runs(
        np.array([clock for clock, _, _ in runs], np.int32),
        np.array([at for _, at, _ in runs], np.float64),
        np.array([len(mine) for _, _, mine in runs], np.int32),
        series,
        np.arange(len(series), dtype=np.float64),
    )


@given(POLLED, st.booleans())
def test_clocks_that_read_the_same_at_each_poll_lose_nothing(
    clocks: list[tuple[int, int, bool, bool]], roomy: bool
) -> None:
    runs = polled(clocks)
    sample = np.repeat(np.arange(len(runs.count)), runs.count)
    expected = {
        (int(runs.clock[run]), float(runs.at[run]), int(series)): float(value)
        for run, series, value in zip(sample, runs.series, runs.values, strict=True)
    }
    grid = gridded(runs, roomy=roomy)
    assert held(grid) == expected
    assert (np.diff(grid.series) >= 0).all()
    assert (np.diff(grid.clocks) > 0).all()
