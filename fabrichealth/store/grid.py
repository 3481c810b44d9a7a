"""Grid: samples of one metric as a matrix, each clock with its own time line.

The shape in which samples are folded out of the head (`gridding`), packed into chunks, merged
again and handed out as a `Window`. Everything here is pure and works on whole columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Floats, Ids, SeriesTable, Window
from fabrichealth.store.cutting import Ints, TimeLines, cut, read_by, span_of

MEAN_DIGITS = 2
"""A mean is kept to a hundredth of the step its instrument reads in: finer is noise."""

SPARE = 1.25
"""Columns held for those in use; full ones are let go in one move, not at each poll."""

HUGE = 1e30
"""No instrument reads this; means of such numbers are only kept from overflowing."""


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
    lines: TimeLines | None = None
    """Of `clocks` and `times`, where other grids have the same and none will change."""

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

    @property
    def tight(self) -> bool:
        """Whether every clock has a row, and the last column a poll."""
        if not len(self) or np.isnan(self.times[:, -1:]).all():
            return False
        return bool((np.bincount(self.clock, minlength=len(self.clocks)) > 0).all())

    def rows(self, keep: NDArray[np.bool_] | slice) -> "Grid":
        """Return some rows, with only the clocks and columns that these have."""
        if isinstance(keep, np.ndarray) and keep.all() and self.tight:
            return self
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
        first = self._read_by(start)
        width = self._read_by(end) - first
        if not first.any() and (width == (~np.isnan(self.times)).sum(axis=1)).all():
            return self
        most = int(width.max(initial=0))
        times = cut(self.times, first, first + width, most, right=False)
        values = cut(self.values, first[self.clock], (first + width)[self.clock], most, right=False)
        return Grid(self.series, self.clock, self.clocks, times, values).rows(has_any(values))

    def _read_by(self, moment: float) -> Ints:
        """Return how many polls of each clock were by a moment ([c])."""
        return read_by(self.times, moment) if self.lines is None else self.lines.read_by(moment)

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

    def line(self) -> tuple[Floats, Floats]:
        """Return (at, values) of a grid of one series; of equal times the higher clock stays."""
        there = ~np.isnan(self.values)
        at = self.times[self.clock][there]
        values = self.values[there]
        order = np.argsort(at, kind="stable")
        at, values = at[order], values[order]
        last = np.append(at[1:] != at[:-1], True) if len(at) else np.zeros(0, bool)
        return at[last], values[last]

    def window(self, metric: Metric, table: SeriesTable, until: float, seconds: float) -> Window:
        """Return (until - seconds, until] right-aligned, as `fabrichealth.model.aligned` would."""
        if not len(self):
            none = np.empty((0, 0))
            return Window(metric, table, self.series, none, none, self.series, until, seconds)
        if self.lines is None:
            start, end, at = span_of(self.clocks, self.times, until, seconds)
        else:
            start, end, at = self.lines.span(until, seconds)
        width = at.shape[1]
        values = cut(self.values, start[self.clock], end[self.clock], width, right=True)
        keep = has_any(values)
        series, clock = self.series, self.clocks[self.clock]
        if (series[1:] == series[:-1]).any():
            keep &= _newest_clock(series, clock, keep, values, at)
        if not keep.all():
            series, clock, values = series[keep], clock[keep], values[keep]
        return Window(metric, table, series, values, at, clock, until, seconds)


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


def roomy_width(width: int) -> int:
    """Return how many columns to hold where so many are in use and more polls will come."""
    return int(width * SPARE) + 8


def widened(values: Floats, width: int) -> Floats:
    """Return values[r, k] with columns of NaN up to a width."""
    if values.shape[1] == width:
        return values
    wide = np.empty((len(values), width))
    wide[:, : values.shape[1]], wide[:, values.shape[1] :] = values, np.nan
    return wide
