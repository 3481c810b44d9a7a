"""Memory: the changes of slow metrics, kept from pass to pass.

A pass reads only what is new; after a restart the past is read again from the store, so memory
is derived and never saved, and equals what it would have been. Samples that come late are taken
as long as nothing newer of their series was seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats, Window
from fabrichealth.store.protocol import Store

GAP_PERIODS = 5.0
"""A step longer than so many of the series' own periods is a gap: nobody watched."""

SHORTEST_GAP = 60.0
"""No step shorter than this is a gap, whatever the period."""

STEPS = 5
"""A series' own period is the median of so many of its last steps."""

OVERLAP = 330.0
"""Read so far back again at each pass: readings that carry their device's own time stamp may be
five minutes old and are not stale yet."""

LEAD = 3600.0
"""After a start the past is read from so long before the span, so that what the span begins
with (the value before its first change, the period) is known as if there had been no restart;
of series read less than once in ten minutes a gap at that very place may not be seen as one."""

BLOCK = 1800.0
"""The past is read in blocks of this length after a start, so that memory stays bounded."""

ROW, AT, STEP, BEFORE, AFTER, UNSEEN = range(6)


@dataclass
class _Past:
    """What is remembered of one metric; rows are places in `table.of(metric)`."""

    until: float = float("-inf")
    value: Floats = field(default_factory=lambda: np.empty(0))
    first_at: Floats = field(default_factory=lambda: np.empty(0))
    times: Floats = field(default_factory=lambda: np.empty((0, STEPS + 1)))
    """When each row was read last, oldest first; NaN on the left while there are fewer."""
    entries: Floats = field(default_factory=lambda: np.empty((0, 6)))
    """row, at, step, before, after, unseen; ascending in time."""
    gaps: Floats = field(default_factory=lambda: np.empty((0, 3)))
    """row, start, end."""

    @property
    def seen_at(self) -> Floats:
        return np.asarray(self.times[:, -1], np.float64)

    def fit(self, rows: int) -> None:
        """Make room for series that are new."""
        more = rows - len(self.value)
        if more > 0:
            self.value = np.concatenate([self.value, np.full(more, np.nan)])
            self.first_at = np.concatenate([self.first_at, np.full(more, np.nan)])
            self.times = np.concatenate([self.times, np.full((more, STEPS + 1), np.nan)])

    def forget(self, until: float) -> None:
        """Let go of what ended before."""
        self.entries = self.entries[np.searchsorted(self.entries[:, AT], until, "right") :]
        self.gaps = self.gaps[self.gaps[:, 2] > until]


class Memory:
    """Changes of the metrics asked for, each over its own span (seconds)."""

    def __init__(self, store: Store, spans: Mapping[Metric, float]) -> None:
        self._store = store
        self._spans = dict(spans)
        self._pasts = {metric: _Past() for metric in spans}

    def advance(self, now: float) -> None:
        """Take in everything up to `now`."""
        held = self._store.span()
        if held is None:
            return
        for metric, span in self._spans.items():
            past = self._pasts[metric]
            start = max(past.until - OVERLAP, now - span - LEAD, held[0] - 1.0)
            while start < now:
                end = min(start + BLOCK, now)
                _take(past, self._store.window(metric, end, end - start))
                start = end
            past.until = now
            past.forget(now - span)

    def changes(self, metric: Metric, until: float, seconds: float) -> Changes:
        """Return the changes of a metric in (until - seconds, until].

        Raises:
            KeyError: nobody asked for this metric to be remembered.
        """
        past, table = self._pasts[metric], self._store.table
        start = until - seconds
        numbers = table.of(metric)[: len(past.value)]
        with np.errstate(invalid="ignore"):
            known = np.flatnonzero(past.seen_at > start)
        place = np.full(len(numbers) + 1, -1)
        place[known] = np.arange(len(known))
        entries = past.entries[np.searchsorted(past.entries[:, AT], start, "right") :]
        gaps = past.gaps[past.gaps[:, 2] > start]
        gap_row = place[gaps[:, 0].astype(np.intp)]
        gaps, gap_row = gaps[gap_row >= 0], gap_row[gap_row >= 0]
        return Changes(
            metric,
            table,
            until,
            seconds,
            numbers[entries[:, ROW].astype(np.intp)],
            entries[:, AT],
            entries[:, STEP],
            entries[:, BEFORE],
            entries[:, AFTER],
            entries[:, UNSEEN] > 0,
            numbers[known],
            np.maximum(past.first_at[known], start),
            past.seen_at[known],
            past.value[known],
            _median(np.diff(past.times[known], axis=1)),
            gap_row,
            gaps[:, 1],
            gaps[:, 2],
        )


def _take(past: _Past, window: Window) -> None:
    """Add the values of a window that are newer than what was seen of their series."""
    numbers = window.table.of(window.metric)
    past.fit(len(numbers))
    places = np.searchsorted(numbers, window.series)
    first = _first_new(past.seen_at[places], window)
    times, values = window.at[window.clock, first:], window.values[:, first:]
    low, high = window.metric.valid
    with np.errstate(invalid="ignore"):
        fresh = (values >= low) & (values <= high)  # the rest is no reading
        fresh &= ~(times <= past.seen_at[places][:, None])
    s, k = np.nonzero(fresh)  # row by row, each ascending in time
    if not len(s):
        return
    row, at, value = places[s], times[s, k], values[s, k]
    start = np.flatnonzero(np.diff(row, prepend=-1))  # the first new value of each row
    before = np.concatenate([[np.nan], value[:-1]])
    before[start] = past.value[row[start]]
    then = np.concatenate([[np.nan], at[:-1]])
    then[start] = past.seen_at[row[start]]
    step = at - then
    begin = np.repeat(start, np.diff(start, append=len(row)))
    long = np.flatnonzero(step > SHORTEST_GAP)
    if len(long):
        own = _median(np.diff(_times_before(past, row, at, begin, long), axis=1))
        long = long[step[long] > GAP_PERIODS * np.where(np.isfinite(own), own, np.inf)]
        found = np.column_stack([row[long], then[long], at[long]])
        past.gaps = np.concatenate([past.gaps, found])
    moved = np.flatnonzero(np.isfinite(before) & (value != before))
    if len(moved):
        unseen = np.isin(moved, long)
        columns = (row[moved], at[moved], step[moved], before[moved], value[moved], unseen)
        joined = np.concatenate([past.entries, np.column_stack(columns)])
        past.entries = joined[np.argsort(joined[:, AT], kind="stable")]
    mine, last = row[start], np.append(start[1:], len(row)) - 1
    past.times[mine] = np.column_stack(
        [_times_before(past, row, at, begin, last)[:, 1:], at[last]]
    )  # fmt: skip
    past.value[mine] = value[last]
    past.first_at[mine] = np.fmin(past.first_at[mine], at[start])


def _first_new(seen_at: Floats, window: Window) -> int:
    """Return the first column that holds a poll newer than what was seen of some row."""
    oldest = np.full(len(window.at), np.inf)
    np.minimum.at(oldest, window.clock, np.where(np.isfinite(seen_at), seen_at, -np.inf))
    new = np.flatnonzero((window.at > oldest[:, None]).any(axis=0))
    return int(new[0]) if len(new) else window.at.shape[1]


def _times_before(
    past: _Past,
    row: NDArray[np.intp],
    at: Floats,
    begin: NDArray[np.intp],
    entries: NDArray[np.intp],
) -> Floats:
    """Return the readings before some new ones, oldest first ([entry, STEPS + 1]).

    They lie among the new ones of the same row (`begin` is its first), then in the past.
    """
    lag = np.arange(STEPS + 1, 0, -1)
    place = entries[:, None] - lag
    beyond = begin[entries][:, None] - place  # > 0: so many before the first new one
    old = past.times[row[entries][:, None], np.minimum(STEPS + 1 - beyond, STEPS)]
    return np.asarray(np.where(beyond > 0, old, at[np.maximum(place, 0)]), np.float64)


def _median(steps: Floats) -> Floats:
    """Return the median of each row of steps, NaN aside ([n] from [n, STEPS])."""
    ordered = np.sort(steps, axis=1)  # NaN last
    known = np.isfinite(ordered).sum(axis=1)
    rows = np.arange(len(ordered))
    low, high = ordered[rows, np.maximum(known - 1, 0) // 2], ordered[rows, known // 2]
    return np.asarray((low + high) / 2, np.float64)
