"""Grid: samples of one metric as a matrix, each clock with its own time line.

The shape in which samples are folded out of the head, packed into chunks, merged again and
handed out as a `Window`. Everything here is pure and works on whole columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Floats, Ids, SeriesTable, Window

Ints = NDArray[np.int64]

MEAN_DIGITS = 2
"""A mean is kept to a hundredth of the step its instrument reads in: finer is noise."""

MOST_SHAPES = 32
"""Different (polls, series a poll) of clocks that are worth a transposition each."""

HUGE = 1e30
"""No instrument reads this; means of such numbers are only kept from overflowing."""


@dataclass(frozen=True)
class Runs:
    """Readings of one metric as they were appended, oldest first.

    Run b is `count[b]` neighbouring samples of `series[n]` and `values[n]`, read by `clock[b]`
    at `at[b]` (unix seconds).
    """

    clock: Ids
    at: Floats
    count: Ids
    series: Ids
    values: Floats

    @classmethod
    def joined(cls, parts: Sequence["Runs"]) -> "Runs":
        """Return several as one, in order."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("clock", "at", "count", "series", "values")
            )
        )

    def within(self, keep: NDArray[np.bool_]) -> "Runs":
        """Return the samples that `keep[n]` says, without runs that have none left."""
        run = np.repeat(np.arange(len(self.count)), self.count)[keep]
        count = np.bincount(run, minlength=len(self.count))
        some = count > 0
        return Runs(
            self.clock[some],
            self.at[some],
            count[some].astype(np.int32),
            self.series[keep],
            self.values[keep],
        )


@dataclass(frozen=True)
class Grid:
    """Row r is one series as one clock read it; `values[r, j]` was read at `times[clock[r], j]`.

    Rows ascend by series (a series that two clocks read has two rows, by clock); `clocks[c]`
    ascend; `times[c, :]` ascend from the left and end in NaN; NaN in `values` is absent.
    """

    series: Ids
    clock: Ints
    clocks: Ids
    times: Floats
    values: Floats

    def __len__(self) -> int:
        return len(self.series)

    @property
    def samples(self) -> int:
        """How many values there are."""
        return int(np.count_nonzero(~np.isnan(self.values)))

    @property
    def first(self) -> float:
        """Oldest time stamp."""
        return float(self.times[:, 0].min())

    @property
    def last(self) -> float:
        """Newest time stamp."""
        return float(np.nanmax(self.times))

    @classmethod
    def empty(cls) -> "Grid":
        """Return a grid of nothing."""
        none = np.empty(0, np.int32)
        return cls(none, none.astype(np.int64), none, np.empty((0, 0)), np.empty((0, 0)))

    @classmethod
    def of(cls, runs: Runs) -> "Grid":
        """Return runs as a grid; of equal (clock, at, series) the later sample wins."""
        if not len(runs.series):
            return cls.empty()
        regular, rest = _regular(runs)
        if rest is not None:
            regular.append(_scattered(rest))
        return _beside(regular)

    def rows(self, keep: NDArray[np.bool_] | slice) -> "Grid":
        """Return some rows, with only the clocks and columns that these have."""
        clock, values = self.clock[keep], self.values[keep]
        mine = np.unique(clock)
        times = self.times[mine]
        width = int(np.count_nonzero(~np.isnan(times), axis=1).max(initial=0))
        return Grid(
            self.series[keep],
            np.searchsorted(mine, clock),
            self.clocks[mine],
            times[:, :width],
            values[:, :width],
        )

    def between(self, start: float, end: float) -> "Grid":
        """Return what was read in (start, end]."""
        inside = (self.times > start) & (self.times <= end)
        if inside.all() or (inside | np.isnan(self.times)).all():
            return self
        run_clock, run_column = np.nonzero(inside)
        width = inside.sum(axis=1)
        to = np.arange(len(run_clock)) - np.repeat(np.cumsum(width) - width, width)
        times = np.full((len(self.clocks), int(width.max(initial=0))), np.nan)
        times[run_clock, to] = self.times[run_clock, run_column]
        start_column = np.argmax(inside, axis=1)  # time lines ascend, so the rest follows
        values = _shifted(self.values, start_column[self.clock], width[self.clock], times.shape[1])
        some = has_any(values)
        return Grid(self.series, self.clock, self.clocks, times, values).rows(some)

    def downsampled(self, step: float, kind: Kind) -> "Grid":
        """Return one column per step: last value of counters and infos, mean of gauges.

        A step is (n - 1, n] * step, stamped with its newest poll, so that rates stay exact.
        """
        if not len(self):
            return self
        clock, column = np.nonzero(~np.isnan(self.times))
        at = self.times[clock, column]
        bucket = np.ceil(at / step)
        new = np.ones(len(at), bool)
        new[1:] = (bucket[1:] != bucket[:-1]) | (clock[1:] != clock[:-1])
        count = np.bincount(clock[new], minlength=len(self.clocks))
        to = np.cumsum(new) - 1 - np.repeat(np.cumsum(count) - count, np.bincount(clock))
        width = int(count.max())
        times = np.full((len(self.clocks), width), np.nan)
        times[clock, to] = at  # ascending: the newest of each step stays
        where = np.zeros(self.times.shape, np.int64)
        where[clock, column] = to
        present = ~np.isnan(self.values)
        cell = (np.arange(len(self))[:, None] * width + where[self.clock])[present]
        values = np.full(len(self) * width, np.nan)
        if kind is Kind.GAUGE:
            known = np.bincount(cell, minlength=len(values))
            some = known > 0
            given = self.values[present]
            shares = given / known[cell] if np.abs(given).max(initial=0.0) > HUGE else given
            total = np.bincount(cell, shares, len(values))
            values[some] = total[some] if shares is not given else total[some] / known[some]
            values = _rounded(values, given)
        else:
            values[cell] = self.values[present]
        return Grid(self.series, self.clock, self.clocks, times, values.reshape(len(self), width))

    def window(self, metric: Metric, table: SeriesTable, until: float, seconds: float) -> Window:
        """Return (until - seconds, until] right-aligned, as `fabrichealth.model.aligned` would."""
        end = (self.times <= until).sum(axis=1)
        start = (self.times <= until - seconds).sum(axis=1)
        width = int((end - start).max(initial=0))
        polled = end > start
        at = np.full((int(self.clocks[polled].max(initial=-1)) + 1, width), np.nan)
        at[self.clocks[polled]] = _right(self.times, start, end, width)[polled]
        values = _right(self.values, start[self.clock], end[self.clock], width)
        keep = has_any(values)
        series, clock = self.series, self.clocks[self.clock]
        if (series[1:] == series[:-1]).any():
            keep &= _newest_clock(series, clock, keep, values, at)
        if not keep.all():
            series, clock, values = series[keep], clock[keep], values[keep]
        return Window(metric, table, series, values, at, clock, until, seconds)


def _scattered(runs: Runs) -> Grid:
    """Return any runs as a grid, sample by sample."""
    clocks, slot = np.unique(runs.clock, return_inverse=True)
    column, times = _time_lines(slot, runs.at, len(clocks))
    run = np.repeat(np.arange(len(runs.count)), runs.count)
    series, owner, row = _rows(runs.series, slot[run], len(clocks))
    values = np.full((len(series), times.shape[1]), np.nan)
    values.reshape(-1)[row * times.shape[1] + column[run]] = runs.values
    return Grid(series, owner, clocks.astype(np.int32), times, values)


def _regular(runs: Runs) -> tuple[list[Grid], Runs | None]:
    """Return grids of the clocks that read the same series at each poll, and what is left.

    That is nearly all of them, and for these a transposition does.
    """
    order = np.lexsort((runs.at, runs.clock))
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
    grids = []
    left = np.ones(len(clock), bool)
    for kind in kinds if len(kinds) <= MOST_SHAPES else ():
        mine = first[shape == kind]
        many, each = divmod(kind, int(count.max()) + 1)
        run = mine[:, None] + np.arange(many)
        sample = start[run][:, :, None] + np.arange(each)
        series = runs.series[sample]
        steady = (series == series[:, :1]).all(axis=(1, 2))
        steady &= (np.diff(series[:, 0], axis=1) > 0).all(axis=1)
        if not steady.all():
            run, series, sample = run[steady], series[steady], sample[steady]
        if not len(run):
            continue
        left[run] = False
        values = np.ascontiguousarray(runs.values[sample].transpose(0, 2, 1)).reshape(-1, many)
        owner = np.repeat(np.arange(len(run)), each)
        grids.append(Grid(series[:, 0].ravel(), owner, clock[run[:, 0]], at[run], values))
    if not left.any():
        return grids, None
    keep = np.zeros(len(clock), bool)
    keep[order[left]] = True
    return grids, runs if not grids else runs.within(np.repeat(keep, runs.count))


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


def widened(values: Floats, width: int) -> Floats:
    """Return values[r, k] with columns of NaN up to a width."""
    if values.shape[1] == width:
        return values
    wide = np.full((len(values), width), np.nan)
    wide[:, : values.shape[1]] = values
    return wide


def merged(grids: Sequence[Grid]) -> Grid:
    """Return several grids of one metric as one; of equal (clock, at, series) the later wins."""
    grids = [grid for grid in grids if len(grid)]
    if len(grids) <= 1:
        return grids[0] if grids else Grid.empty()
    clocks = np.unique(np.concatenate([grid.clocks for grid in grids]))
    slots = [np.searchsorted(clocks, grid.clocks) for grid in grids]
    points = [np.nonzero(~np.isnan(grid.times)) for grid in grids]
    column, times = _time_lines(
        np.concatenate([slot[clock] for slot, (clock, _) in zip(slots, points, strict=True)]),
        np.concatenate([grid.times[at] for grid, at in zip(grids, points, strict=True)]),
        len(clocks),
    )
    series, owner, row = _rows(
        np.concatenate([grid.series for grid in grids]),
        np.concatenate([slot[grid.clock] for slot, grid in zip(slots, grids, strict=True)]),
        len(clocks),
    )
    values = np.full((len(series), times.shape[1]), np.nan)
    seen_points = seen_rows = 0
    for grid, at in zip(grids, points, strict=True):
        where = np.zeros(grid.times.shape, np.int64)
        where[at] = column[seen_points : seen_points + len(at[0])]
        seen_points += len(at[0])
        lay(values, row[seen_rows : seen_rows + len(grid)], where, grid)
        seen_rows += len(grid)
    return Grid(series, owner, clocks, times, values)


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


def _shifted(values: Floats, start: Ints, count: Ints, width: int) -> Floats:
    """Return values[r, start[r] : start[r] + count[r]] from the left, NaN after."""
    out = np.full((len(values), width), np.nan)
    pairs = start * (values.shape[1] + 1) + count
    for pair in np.unique(pairs):
        mine = np.flatnonzero(pairs == pair)
        first, many = divmod(int(pair), values.shape[1] + 1)
        out[mine, :many] = values[mine, first : first + many]
    return out


def _right(values: Floats, start: Ints, end: Ints, width: int) -> Floats:
    """Return values[r, start[r] : end[r]] aligned to the right of `width` columns."""
    size = values.shape[1] + 1
    pairs = start * size + end
    kinds = np.unique(pairs)
    if len(kinds) == 1 and kinds[0] // size + width == kinds[0] % size:
        return values[:, kinds[0] // size : kinds[0] % size].copy()
    out = np.empty((len(values), width))
    for pair in kinds:
        mine = np.flatnonzero(pairs == pair)
        first, stop = divmod(int(pair), size)
        out[mine, width - (stop - first) :] = values[mine, first:stop]
        out[mine, : width - (stop - first)] = np.nan
    return out


def has_any(values: Floats) -> NDArray[np.bool_]:
    """Return which rows have a value; looks at the newest first, where nearly all have one."""
    if not values.shape[1]:
        return np.zeros(len(values), bool)
    some = ~np.isnan(values[:, -1])
    doubtful = np.flatnonzero(~some)
    some[doubtful] = (~np.isnan(values[doubtful])).any(axis=1)
    return some


def _newest_clock(
    series: Ids, clock: Ids, some: NDArray[np.bool_], values: Floats, at: Floats
) -> NDArray[np.bool_]:
    """Of rows of one series keep that of the clock which read it last; a tie: the higher clock."""
    keep = np.ones(len(series), bool)
    twice = np.flatnonzero(np.isin(series, series[1:][series[1:] == series[:-1]]) & some)
    times = np.where(np.isnan(values[twice]), -np.inf, at[clock[twice]])
    order = np.lexsort((clock[twice], times.max(axis=1, initial=-np.inf), series[twice]))
    rows = twice[order]
    keep[rows[:-1][series[rows[1:]] == series[rows[:-1]]]] = False
    return keep


def _rounded(means: Floats, given: Floats) -> Floats:
    """Return means without digits that no reading of theirs has."""
    if np.abs(given).max(initial=0.0) > HUGE:
        return means
    for digits in range(5):
        scale = 10.0**digits
        if np.array_equal(np.rint(given * scale) / scale, given):
            return np.round(means, digits + MEAN_DIGITS)
    return means.astype(np.float32).astype(np.float64)
