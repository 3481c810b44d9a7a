"""Gridding: runs become a grid, and grids become one."""

from collections.abc import Sequence

import numpy as np

from fabrichealth.model import Floats, Ids
from fabrichealth.store.cutting import Ints
from fabrichealth.store.grid import Grid, has_any, widened
from fabrichealth.store.polled import regular, transposed
from fabrichealth.store.runs import Runs


def gridded(runs: Runs, *, roomy: bool = False) -> Grid:
    """Return runs as a grid; of equal (clock, at, series) the later sample wins.

    A roomy one may have columns at the right that hold nothing yet.
    """
    if not len(runs.series):
        return Grid.empty()
    polled, rest = regular(runs)
    grids = [transposed(polled, runs.values, roomy=roomy and rest is None)] if polled else []
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
        again = np.flatnonzero(~follows)
        if len(again):
            before = times[slot[again, None], where[again]]
            if not np.array_equal(before, grid.times[again], equal_nan=True):
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
    offset = where[:, 0]
    if np.array_equal(where, offset[:, None] + np.arange(where.shape[1])):
        whole = ~np.isnan(grid.times)
        width = np.count_nonzero(whole, axis=1)
        if np.count_nonzero(~np.isnan(grid.values)) == width[grid.clock].sum():
            _lay_whole(values, row, offset[grid.clock], width[grid.clock], grid.values)
            return
    present = ~np.isnan(grid.values)
    cell = row[:, None] * values.shape[1] + where[grid.clock]
    values.reshape(-1)[cell[present]] = grid.values[present]


def _lay_whole(values: Floats, row: Ints, offset: Ints, width: Ints, given: Floats) -> None:
    """Put given[r, : width[r]] to values[row[r], offset[r] :]; most have their place alike."""
    pairs = offset * (values.shape[1] + 1) + width
    for pair in np.unique(pairs).tolist():
        start, many = divmod(pair, values.shape[1] + 1)
        mine = np.flatnonzero(pairs == pair)
        values[row[mine], start : start + many] = given[mine, :many]


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
