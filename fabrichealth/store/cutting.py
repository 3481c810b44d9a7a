"""Cutting: what of time lines, and of values read on them, lies in a span.

A time line is a row of `times[c, k]`: it ascends from the left and ends in NaN. Clocks are many and
began together, so that most have a moment at the same column or the next.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats, Ids

Ints = NDArray[np.int64]

NEAR = 4
"""Columns around a guess that are looked at first."""

COUNTED = 1 << 15
"""Numbers that lie within so many are counted and not sorted."""

ASKED_AT_ONCE = 16
"""Moments and spans that are kept of time lines: a pass asks for a few of them again and again."""


class Span(NamedTuple):
    """What of time lines lies in (until - seconds, until]."""

    start: Ints
    """First column of each clock ([c])."""
    end: Ints
    """Column behind its last ([c])."""
    at: Floats
    """Time stamps by number of the clock, right-aligned ([n, k])."""


def read_by(times: Floats, moment: float) -> Ints:
    """Return how many polls of each clock were by a moment ([c])."""
    if not times.size:
        return np.zeros(len(times), np.int64)
    guess = int(np.searchsorted(times[0], moment, "right"))
    low, high = max(guess - NEAR, 0), min(guess + NEAR, times.shape[1])
    before, after = times[:, :low][:, -1:], times[:, high : high + 1]
    if (before <= moment).all() and not (after <= moment).any():
        found = np.full(len(times), low)
        for column in range(low, high):  # sums of short rows take longer
            found += times[:, column] <= moment
        return found
    return np.asarray((times <= moment).sum(axis=1), np.int64)


def span_of(clocks: Ids, times: Floats, until: float, seconds: float) -> Span:
    """Return what lies in (until - seconds, until]."""
    return _span(clocks, times, read_by(times, until - seconds), read_by(times, until))


def _span(clocks: Ids, times: Floats, start: Ints, end: Ints) -> Span:
    width = int((end - start).max(initial=0))
    polled = end > start
    at = np.full((int(clocks[polled].max(initial=-1)) + 1, width), np.nan)
    at[clocks[polled]] = cut(times, start, end, width, right=True)[polled]
    return Span(start, end, at)


class TimeLines:
    """Time lines that several metrics have and that do not change: what was asked is kept."""

    def __init__(self, clocks: Ids, times: Floats) -> None:
        self.clocks = clocks
        self.times = times
        self._read_by: dict[float, Ints] = {}
        self._spans: dict[tuple[float, float], Span] = {}

    def same(self, clocks: Ids, times: Floats) -> bool:
        """Return whether these are the time lines of those clocks."""
        return (
            self.times.shape == times.shape
            and np.array_equal(self.clocks, clocks)
            and np.array_equal(self.times, times, equal_nan=True)
        )

    def read_by(self, moment: float) -> Ints:
        """Return how many polls of each clock were by a moment ([c])."""
        found = self._read_by.get(moment)
        if found is None:
            if len(self._read_by) >= ASKED_AT_ONCE:
                self._read_by.clear()
            found = self._read_by[moment] = read_by(self.times, moment)
        return found

    def span(self, until: float, seconds: float) -> Span:
        """Return what lies in (until - seconds, until]."""
        found = self._spans.get((until, seconds))
        if found is None:
            if len(self._spans) >= ASKED_AT_ONCE:
                self._spans.clear()
            start, end = self.read_by(until - seconds), self.read_by(until)
            found = self._spans[until, seconds] = _span(self.clocks, self.times, start, end)
            found.at.flags.writeable = False  # windows of several metrics have it
        return found


def cut(values: Floats, start: Ints, end: Ints, width: int, *, right: bool) -> Floats:
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
