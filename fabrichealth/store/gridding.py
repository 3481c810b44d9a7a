"""Gridding: runs become a grid, and grids become one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats, Ids
from fabrichealth.store.grid import Grid, Ints, has_any, widened
from fabrichealth.store.runs import Runs

Number = TypeVar("Number", np.int32, np.float64)

MOST_SHAPES = 32
"""Different (polls, series a poll) of clocks that are worth a transposition each."""


def gridded(runs: Runs) -> Grid:
    """Return runs as a grid; of equal (clock, at, series) the later sample wins."""
    if not len(runs.series):
        return Grid.empty()
    regular, rest = _regular(runs)
    grids = [_transposed(regular)] if regular else []
    if rest is not None:
        grids.append(_scattered(rest))
    return _beside(grids)


def _scattered(runs: Runs) -> Grid:
    """Return any runs as a grid, sample by sample."""
    clocks, slot = np.unique(runs.clock, return_inverse=True)
    column, times = _time_lines(slot, runs.at, len(clocks))
    run = np.repeat(np.arange(len(runs.count)), runs.count)
    series, owner, row = _rows(runs.series, slot[run], len(clocks))
    values = np.full((len(series), times.shape[1]), np.nan)
    values.reshape(-1)[row * times.shape[1] + column[run]] = runs.values
    return Grid(series, owner, clocks.astype(np.int32), times, values)


@dataclass(frozen=True)
class _Polled:
    """Clocks that read the same series at each poll, all as many and as often.

    `clocks[c]` read `values[c, k, e]` of `series[c, e]` at `at[c, k]`.
    """

    clocks: Ids
    at: Floats
    series: Ids
    values: Floats

    @property
    def owners(self) -> Ints:
        """Which of the clocks each series belongs to, flat."""
        return np.repeat(np.arange(len(self.clocks)), self.series.shape[1])


def _regular(runs: Runs) -> tuple[list[_Polled], Runs | None]:
    """Return the clocks that read the same series at each poll, and what is left.

    That is nearly all of them, and for these a transposition does.
    """
    order = _clock_by_clock(runs)
    clock, at, count = runs.clock[order], runs.at[order], runs.count[order]
    new = np.diff(clock, prepend=clock[:1] - 1) != 0
    first = np.flatnonzero(new)
    polls = np.diff(first, append=len(clock))
    same = np.minimum.reduceat(count, first) == np.maximum.reduceat(count, first)
    again = (at[1:] == at[:-1]) & ~new[1:]
    same[(np.cumsum(new) - 1)[1:][again]] = False
    shape = np.where(same, polls * (int(count.max()) + 1) + count[first], 0)
    kinds = [int(kind) for kind in np.unique(shape) if kind]
    start = (np.cumsum(runs.count) - runs.count)[order]
    polled = []
    left = np.ones(len(clock), bool)
    for kind in kinds if len(kinds) <= MOST_SHAPES else ():
        mine = first[shape == kind]
        many, each = divmod(kind, int(count.max()) + 1)
        run = mine[:, None] + np.arange(many)
        series = _polls(runs.series, start[run], each)
        steady = (series == series[:, :1]).all(axis=(1, 2))
        steady &= (np.diff(series[:, 0], axis=1) > 0).all(axis=1)
        if not steady.all():
            run, series = run[steady], series[steady]
        if not len(run):
            continue
        left[run] = False
        given = _polls(runs.values, start[run], each)
        polled.append(_Polled(clock[run[:, 0]], at[run], series[:, 0], given))
    if not left.any():
        return polled, None
    keep = np.zeros(len(clock), bool)
    keep[order[left]] = True
    return polled, runs if not polled else runs.within(np.repeat(keep, runs.count))


def _clock_by_clock(runs: Runs) -> NDArray[np.intp]:
    """Return the order by clock, and of each clock by time; equal ones stay in order."""
    order = np.argsort(runs.clock, kind="stable")
    clock, at = runs.clock[order], runs.at[order]
    if ((at[1:] < at[:-1]) & (clock[1:] == clock[:-1])).any():  # some came late
        order = np.lexsort((runs.at, runs.clock))
    return order


def _polls(column: NDArray[Number], start: Ints, each: int) -> NDArray[Number]:
    """Return column[start[c, k] : start[c, k] + each] as [c, k, each]."""
    polls: NDArray[Number]
    if not (start % each).any():  # whole polls of equal length: rows are copied, not cells
        polls = column[: len(column) // each * each].reshape(-1, each)[start // each]
    else:
        polls = column[start[:, :, None] + np.arange(each)]
    return polls


def _transposed(parts: Sequence[_Polled]) -> Grid:
    """Return clocks of several shapes as one grid: every value is moved once."""
    width = max(part.at.shape[1] for part in parts)
    series = np.concatenate([part.series.ravel() for part in parts])
    clocks = np.concatenate([part.clocks for part in parts])
    first = np.cumsum([0, *(len(part.clocks) for part in parts)])
    by_clock = np.argsort(clocks)
    place = np.empty(len(clocks), np.int64)
    place[by_clock] = np.arange(len(clocks))
    owner = np.concatenate([part.owners + at for part, at in zip(parts, first, strict=False)])
    clock = place[owner]
    order = np.lexsort((clock, series))
    row = np.empty(len(order), np.int64)
    row[order] = np.arange(len(order))
    values, done = np.empty((len(order), width)), 0
    for part in parts:
        number, polls = part.series.size, part.at.shape[1]
        mine = row[done : done + number].reshape(part.series.shape)
        values[mine, :polls] = part.values.transpose(0, 2, 1)
        values[mine, polls:] = np.nan
        done += number
    times = np.concatenate([widened(part.at, width) for part in parts])[by_clock]
    return Grid(series[order], clock[order], clocks[by_clock], times, values)


def _beside(grids: Sequence[Grid]) -> Grid:
    """Return grids of different clocks as one."""
    if len(grids) == 1:
        clocks, times, values = grids[0].clocks, grids[0].times, grids[0].values
        series, clock = grids[0].series, grids[0].clock
    else:
        width = max(grid.times.shape[1] for grid in grids)
        offset = np.cumsum([0, *(len(grid.clocks) for grid in grids)])
        series = np.concatenate([grid.series for grid in grids])
        clock = np.concatenate([g.clock + at for g, at in zip(grids, offset, strict=False)])
        clocks = np.concatenate([grid.clocks for grid in grids])
        times = np.concatenate([widened(grid.times, width) for grid in grids])
        values = np.concatenate([widened(grid.values, width) for grid in grids])
        by_clock = np.argsort(clocks)
        place = np.empty(len(clocks), np.int64)
        place[by_clock] = np.arange(len(clocks))
        clocks, times, clock = clocks[by_clock], times[by_clock], place[clock]
    if not (series[1:] > series[:-1]).all():
        order = np.lexsort((clock, series))
        series, clock, values = series[order], clock[order], values[order]
    return Grid(series, clock, clocks, times, values)


def merged(grids: Sequence[Grid]) -> Grid:
    """Return several grids of one metric as one; of equal (clock, at, series) the later wins."""
    grids = [grid for grid in grids if len(grid)]
    if len(grids) <= 1:
        return grids[0] if grids else Grid.empty()
    clocks = np.unique(np.concatenate([grid.clocks for grid in grids]))
    slots = [np.searchsorted(clocks, grid.clocks) for grid in grids]
    columns, times = _in_turn(grids, slots, len(clocks)) or _interleaved(grids, slots, len(clocks))
    series, owner, row = _rows(
        np.concatenate([grid.series for grid in grids]),
        np.concatenate([slot[grid.clock] for slot, grid in zip(slots, grids, strict=True)]),
        len(clocks),
    )
    values = np.full((len(series), times.shape[1]), np.nan)
    seen = 0
    for grid, where in zip(grids, columns, strict=True):
        lay(values, row[seen : seen + len(grid)], where, grid)
        seen += len(grid)
    return Grid(series, owner, clocks, times, values)


def _in_turn(
    grids: Sequence[Grid], slots: Sequence[Ints], clocks: int
) -> tuple[list[Ints], Floats] | None:
    """Return the column of each grid's times, and all time lines, where nothing must be sorted.

    Each follows the one before, as pieces of one history do, or repeats its times for other
    series. None if it is not so.
    """
    times = np.full((clocks, sum(grid.times.shape[1] for grid in grids)), np.nan)
    filled, begun = np.zeros(clocks, np.int64), np.zeros(clocks, np.int64)
    last = np.full(clocks, -np.inf)
    columns = []
    for grid, slot in zip(grids, slots, strict=True):
        follows = grid.times[:, 0] > last[slot]
        begun[slot] = np.where(follows, filled[slot], begun[slot])
        count = (~np.isnan(grid.times)).sum(axis=1)
        if (count[~follows] != (filled - begun)[slot[~follows]]).any():
            return None  # a part of the piece before: what follows has its place beyond it
        where = begun[slot][:, None] + np.arange(grid.times.shape[1])
        cell = (slot[:, None], where)
        if not np.array_equal(times[cell][~follows], grid.times[~follows], equal_nan=True):
            return None
        times[cell] = grid.times
        filled[slot] = begun[slot] + count
        last[slot] = times[slot, filled[slot] - 1]
        columns.append(where)
    return columns, times[:, : int(filled.max())]


def _interleaved(
    grids: Sequence[Grid], slots: Sequence[Ints], clocks: int
) -> tuple[list[Ints], Floats]:
    """Return the column of each grid's times, and all time lines, whatever their order."""
    points = [np.nonzero(~np.isnan(grid.times)) for grid in grids]
    column, times = _time_lines(
        np.concatenate([slot[clock] for slot, (clock, _) in zip(slots, points, strict=True)]),
        np.concatenate([grid.times[at] for grid, at in zip(grids, points, strict=True)]),
        clocks,
    )
    columns, seen = [], 0
    for grid, at in zip(grids, points, strict=True):
        where = np.zeros(grid.times.shape, np.int64)
        where[at] = column[seen : seen + len(at[0])]
        seen += len(at[0])
        columns.append(where)
    return columns, times


def lay(values: Floats, row: Ints, where: Ints, grid: Grid) -> None:
    """Put a grid's values where its rows and columns have their places in `values`."""
    width = grid.values.shape[1]
    straight = not np.isnan(grid.times).any() and (np.diff(where, axis=1) == 1).all()
    if straight and not np.isnan(grid.values).any():
        offset = where[:, 0][grid.clock]
        for start in np.unique(offset):
            mine = offset == start
            values[row[mine], start : start + width] = grid.values[mine]
        return
    present = ~np.isnan(grid.values)
    cell = row[:, None] * values.shape[1] + where[grid.clock]
    values.reshape(-1)[cell[present]] = grid.values[present]


def _time_lines(slot: Ints, at: Floats, clocks: int) -> tuple[Ints, Floats]:
    """Return the column of each point (clock slot, time), and times[c, k] of all of them."""
    order = np.lexsort((at, slot))
    by_slot, by_time = slot[order], at[order]
    new = np.ones(len(order), bool)
    new[1:] = (by_slot[1:] != by_slot[:-1]) | (by_time[1:] != by_time[:-1])
    count = np.bincount(by_slot[new], minlength=clocks)
    start = np.cumsum(count) - count
    sorted_column = np.cumsum(new) - 1 - start[by_slot]
    column = np.empty(len(order), np.int64)
    column[order] = sorted_column
    times = np.full((clocks, int(count.max(initial=0))), np.nan)
    times[by_slot, sorted_column] = by_time
    return column, times


def _rows(series: Ids, slot: Ints, clocks: int) -> tuple[Ids, Ints, Ints]:
    """Return distinct (series, clock slot), ascending, and the row of each pair given."""
    low = int(series.min())
    span = int(series.max()) - low + 1
    key = (series.astype(np.int64) - low) * clocks + slot
    if span * clocks <= max(8 * len(key), 1 << 16):  # dense: counting beats sorting
        there = np.zeros(span * clocks, bool)
        there[key] = True
        distinct = np.flatnonzero(there)
        place = np.empty(span * clocks, np.int64)
        place[distinct] = np.arange(len(distinct))
        row = place[key]
    else:
        distinct, row = np.unique(key, return_inverse=True)
    return (distinct // clocks + low).astype(np.int32), distinct % clocks, row


def some_columns(grid: Grid, mine: slice) -> Grid:
    """Return some columns, without rows that have nothing in them."""
    values = grid.values[:, mine]
    part = Grid(grid.series, grid.clock, grid.clocks, grid.times[:, mine], values)
    return part.rows(has_any(values))
