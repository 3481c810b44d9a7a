"""Grid: samples of one metric as a matrix, each clock with its own time line.

The shape in which samples are folded out of the head (`gridding`), packed into chunks, merged
again and handed out as a `Window`. Everything here is pure and works on whole columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Floats, Ids, SeriesTable, Window

Ints = NDArray[np.int64]

MEAN_DIGITS = 2
"""A mean is kept to a hundredth of the step its instrument reads in: finer is noise."""

NEAR = 4
"""Columns around a guess that are looked at first."""

COUNTED = 1 << 15
"""Numbers that lie within so many are counted and not sorted."""

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
        times = _cut(self.times, first, first + width, most, right=False)
        values = _cut(
            self.values, first[self.clock], (first + width)[self.clock], most, right=False
        )
        return Grid(self.series, self.clock, self.clocks, times, values).rows(has_any(values))

    def _read_by(self, moment: float) -> Ints:
        """Return how many polls of each clock were by a moment ([c]).

        Time lines ascend and end in NaN. Clocks that began together have it at about the same
        column, so that a look around the first one's mostly does.
        """
        if not self.times.size:
            return np.zeros(len(self.times), np.int64)
        guess = int(np.searchsorted(self.times[0], moment, "right"))
        low, high = max(guess - NEAR, 0), min(guess + NEAR, self.times.shape[1])
        before, after = self.times[:, :low][:, -1:], self.times[:, high : high + 1]
        if (before <= moment).all() and not (after <= moment).any():
            found = np.full(len(self.times), low)
            for column in range(low, high):  # sums of short rows take longer
                found += self.times[:, column] <= moment
            return found
        return np.asarray((self.times <= moment).sum(axis=1), np.int64)

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
        end, start = self._read_by(until), self._read_by(until - seconds)
        width = int((end - start).max(initial=0))
        polled = end > start
        at = np.full((int(self.clocks[polled].max(initial=-1)) + 1, width), np.nan)
        at[self.clocks[polled]] = _cut(self.times, start, end, width, right=True)[polled]
        values = _cut(self.values, start[self.clock], end[self.clock], width, right=True)
        keep = has_any(values)
        series, clock = self.series, self.clocks[self.clock]
        if (series[1:] == series[:-1]).any():
            keep &= _newest_clock(series, clock, keep, values, at)
        if not keep.all():
            series, clock, values = series[keep], clock[keep], values[keep]
        return Window(metric, table, series, values, at, clock, until, seconds)


def _cut(values: Floats, start: Ints, end: Ints, width: int, *, right: bool) -> Floats:
    """Return values[r, start[r] : end[r]] at one edge of `width` columns, NaN in the others.

    Most rows were read at the same polls: they are copied as one block, and the few that were not
    are written over it. Where all were, nothing is copied: what is returned cannot be written to.
    """
    size = values.shape[1] + 1
    pairs = start * size + end
    if right and len(pairs) and (pairs == pairs[0]).all():
        same = values[:, int(start[0]) : int(end[0])]
        same.flags.writeable = False
        return same
    out = np.empty((len(values), width))
    for rank, pair in enumerate(_most_first(pairs)):
        first, stop = divmod(pair, size)
        mine = np.flatnonzero(pairs == pair) if rank else slice(None)
        left = width - (stop - first) if right else 0
        out[mine, :left], out[mine, left + stop - first :] = np.nan, np.nan
        out[mine, left : left + stop - first] = values[mine, first:stop]
    return out


def _most_first(numbers: Ints) -> list[int]:
    """Return the distinct numbers, the most frequent first."""
    if not len(numbers):
        return []
    least, most = int(numbers.min()), int(numbers.max())
    if least == most:
        return [least]
    if most - least <= max(COUNTED, len(numbers)):  # counting beats sorting
        number = np.bincount(numbers - least)
        kinds = np.flatnonzero(number)
        number = number[kinds]
        kinds += least
    else:
        kinds, number = np.unique(numbers, return_counts=True)
    found: list[int] = kinds[np.argsort(-number, kind="stable")].tolist()
    return found


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
