"""What is remembered of one metric: changes, gaps, and when each series was read last.

Columns only; a window is taken in at once. Nearly every pass brings one new poll of each series,
a restart brings many, and both have a way of their own beside the general one.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats, Ids, Window
from fabrichealth.model.quantiles import row_median

GAP_PERIODS = 5.0
"""A step longer than so many of the series' own periods is a gap: nobody watched."""

SHORTEST_GAP = 60.0
"""No step shorter than this is a gap, whatever the period."""

STEPS = 5
"""A series' own period is the median of so many of its last steps."""

ROW, AT, STEP, BEFORE, AFTER, UNSEEN = range(6)


@dataclass
class Remembered:
    """What is remembered of one metric; rows are places in `table.of(metric)`."""

    until: float = float("-inf")
    mark: Any = None
    """Of the store: up to where it was read."""
    value: Floats = field(default_factory=lambda: np.empty(0))
    first_at: Floats = field(default_factory=lambda: np.empty(0))
    times: Floats = field(default_factory=lambda: np.empty((STEPS + 1, 0)))
    """When each row was read last, oldest first ([k, row]); NaN at first while there are fewer."""
    own: Floats | None = None
    """Each row's period as of `times`, once it was asked for."""
    entries: Floats = field(default_factory=lambda: np.empty((0, 6)))
    """row, at, step, before, after, unseen; ascending in time."""
    gaps: Floats = field(default_factory=lambda: np.empty((0, 3)))
    """row, start, end."""

    @property
    def seen_at(self) -> Floats:
        """When each row was read last (unix seconds)."""
        return np.asarray(self.times[-1], np.float64)

    @property
    def period(self) -> Floats:
        """Each row's own period: the median of its last steps (seconds); NaN if it has none."""
        if self.own is None:
            self.own = _median(np.diff(self.times, axis=0))
        return self.own

    def fit(self, rows: int) -> None:
        """Make room for series that are new."""
        more = rows - len(self.value)
        if more > 0:
            self.value = np.concatenate([self.value, np.full(more, np.nan)])
            self.first_at = np.concatenate([self.first_at, np.full(more, np.nan)])
            self.times = np.concatenate([self.times, np.full((STEPS + 1, more), np.nan)], axis=1)
            self.own = None

    def forget(self, until: float) -> None:
        """Let go of what ended before."""
        self.entries = self.entries[np.searchsorted(self.entries[:, AT], until, "right") :]
        self.gaps = self.gaps[self.gaps[:, 2] > until]

    def move_back(self, by: Floats, now: float) -> None:
        """Move the time stamps of each row back by so many seconds (below 0: on).

        What was read after `now` then is as if it had not been read yet; a row all of which is
        that is as long ago as it can be.
        """
        moved = np.flatnonzero(by)
        if not len(moved):
            return
        self.times[:, moved] -= by[moved]
        self.first_at[moved] -= by[moved]
        self.entries[:, AT] -= by[self.entries[:, ROW].astype(np.intp)]
        self.gaps[:, 1:] -= by[self.gaps[:, 0].astype(np.intp), None]
        self.entries = self.entries[np.argsort(self.entries[:, AT], kind="stable")]
        early = self.entries[self.entries[:, AT] > now]
        for entry in early[::-1]:
            self.value[int(entry[ROW])] = entry[BEFORE]  # as it was before the first of them
        self.entries = self.entries[: len(self.entries) - len(early)]
        self.gaps = self.gaps[self.gaps[:, 2] <= now]
        with np.errstate(invalid="ignore"):
            self.times -= np.maximum(np.nan_to_num(self.times[-1] - now), 0.0)
        self.first_at = np.minimum(self.first_at, self.times[-1])


def take(past: Remembered, window: Window) -> None:
    """Add the values of a window that are newer than what was seen of their series."""
    numbers = window.table.of(window.metric)
    past.fit(len(numbers))
    places = _places(numbers, window.series)
    seen_at = past.seen_at[places]
    first = _first_new(seen_at, window)
    lines, values = window.at[:, first:], window.values[:, first:]
    low, high = window.metric.valid
    with np.errstate(invalid="ignore"):
        fresh = (values >= low) & (values <= high)  # the rest is no reading
        fresh &= ~(lines[window.clock] <= seen_at[:, None])
    if not fresh.any():
        return
    past.own = None
    if fresh.shape[1] == 1:
        mine = np.flatnonzero(fresh[:, 0])
        _take_one_each(past, places[mine], lines[window.clock[mine], 0], values[mine, 0])
        return
    rest = np.ones(len(places), bool)
    for skipped in (0, 1):  # a span holds one poll more of clocks that are early in their period
        width = values.shape[1] - skipped
        if width > STEPS:
            steady = rest & fresh[:, skipped:].all(axis=1)
            steady &= ~fresh[:, :skipped].any(axis=1)
            steps = np.diff(lines[:, skipped:], axis=1)
            with np.errstate(invalid="ignore"):
                close = np.asarray((steps <= SHORTEST_GAP).all(axis=1), np.bool_)
                steady &= close[window.clock]
                begun = lines[window.clock, skipped] - seen_at
                steady &= ~(begun > SHORTEST_GAP)
            mine = np.flatnonzero(steady)
            clock = window.clock[mine].astype(np.intp)
            _take_steady(past, places[mine], lines[:, skipped:], clock, values[mine, skipped:])
            rest &= ~steady
    s, k = np.nonzero(fresh & rest[:, None])  # row by row, each ascending in time
    if len(s):
        _take_many(past, places[s], lines[window.clock[s], k], values[s, k])


def _places(numbers: Ids, series: Ids) -> NDArray[np.intp]:
    """Return where some series (ascending) stand among all."""
    if len(series) == len(numbers):
        return np.arange(len(numbers))
    return np.searchsorted(numbers, series)


def _take_steady(
    past: Remembered, row: NDArray[np.intp], lines: Floats, clock: NDArray[np.intp], values: Floats
) -> None:
    """Add many new values of rows that were read at each poll of their clocks, without a gap.

    `lines[c, k]` are the times of clock c; `values[r, k]` was read at `lines[clock[r], k]`.
    """
    if not len(row):
        return
    before, then = past.value[row], past.seen_at[row]
    known = np.isfinite(before)
    moved = np.empty(values.shape, bool)
    moved[:, 0] = known & (values[:, 0] != before)
    np.not_equal(values[:, 1:], values[:, :-1], out=moved[:, 1:])
    s, k = np.nonzero(moved)
    at = lines[clock[s], k]
    earlier = np.where(k > 0, lines[clock[s], k - 1], then[s])
    former = np.where(k > 0, values[s, k - 1], before[s])
    if len(s):
        none = np.zeros(len(s))
        _add_changes(past, row[s], at, at - earlier, former, values[s, k], none)
    past.times[:, row] = lines[clock, -STEPS - 1 :].T
    past.value[row] = values[:, -1]
    past.first_at[row] = np.fmin(past.first_at[row], lines[clock, 0])


def _take_one_each(past: Remembered, row: NDArray[np.intp], at: Floats, value: Floats) -> None:
    """Add one new value of each of some rows, as nearly every pass does."""
    before, then = past.value[row], past.seen_at[row]
    step = at - then
    long = np.flatnonzero(step > SHORTEST_GAP)
    if len(long):
        long = long[_gaps(step[long], _median(np.diff(past.times[:, row[long]], axis=0)))]
        _add_gaps(past, row[long], then[long], at[long])
    moved = np.flatnonzero((value != before) & np.isfinite(before))
    if len(moved):
        unseen = np.isin(moved, long)
        _add_changes(past, row[moved], at[moved], step[moved], before[moved], value[moved], unseen)
    if len(row) == len(past.value):
        past.times = np.concatenate([past.times[1:], past.times[:1]])
        past.times[-1, row] = at
    else:
        past.times[:-1, row] = past.times[1:, row]
        past.times[-1, row] = at
    past.value[row] = value
    past.first_at[row] = np.fmin(past.first_at[row], at)


def _take_many(past: Remembered, row: NDArray[np.intp], at: Floats, value: Floats) -> None:
    """Add new values, row by row, each ascending in time."""
    start = np.flatnonzero(np.diff(row, prepend=-1))  # the first new value of each row
    before = np.concatenate([[np.nan], value[:-1]])
    before[start] = past.value[row[start]]
    then = np.concatenate([[np.nan], at[:-1]])
    then[start] = past.seen_at[row[start]]
    step = at - then
    begin = np.repeat(start, np.diff(start, append=len(row)))
    long = np.flatnonzero(step > SHORTEST_GAP)
    if len(long):
        own = _median(np.diff(_times_before(past, row, at, begin, long), axis=0))
        long = long[_gaps(step[long], own)]
        _add_gaps(past, row[long], then[long], at[long])
    moved = np.flatnonzero((value != before) & np.isfinite(before))
    if len(moved):
        unseen = np.isin(moved, long)
        _add_changes(past, row[moved], at[moved], step[moved], before[moved], value[moved], unseen)
    mine, last = row[start], np.append(start[1:], len(row)) - 1
    past.times[:, mine] = np.concatenate(
        [_times_before(past, row, at, begin, last)[1:], at[None, last]]
    )
    past.value[mine] = value[last]
    past.first_at[mine] = np.fmin(past.first_at[mine], at[start])


def _gaps(step: Floats, own: Floats) -> NDArray[np.bool_]:
    """Return which steps are gaps beside the row's own period before."""
    return np.asarray(step > GAP_PERIODS * np.where(np.isfinite(own), own, np.inf), np.bool_)


def _add_gaps(past: Remembered, row: NDArray[np.intp], start: Floats, end: Floats) -> None:
    past.gaps = np.concatenate([past.gaps, np.column_stack([row, start, end])])


def _add_changes(past: Remembered, *columns: NDArray[Any]) -> None:
    """Add entries: row, at, step, before, after, unseen."""
    new = np.column_stack(columns)
    new = new[np.argsort(new[:, AT], kind="stable")]
    old = past.entries
    joined = np.concatenate([old, new])
    if len(old) and new[0, AT] < old[-1, AT]:
        joined = joined[np.argsort(joined[:, AT], kind="stable")]
    past.entries = joined


def _first_new(seen_at: Floats, window: Window) -> int:
    """Return the first column that holds a poll newer than what was seen of some row."""
    width = window.at.shape[1]
    if width <= 1:
        return 0
    oldest = np.full(len(window.at), np.inf)
    np.minimum.at(oldest, window.clock, np.where(np.isfinite(seen_at), seen_at, -np.inf))
    new = np.flatnonzero((window.at > oldest[:, None]).any(axis=0))
    return int(new[0]) if len(new) else width


def _times_before(
    past: Remembered,
    row: NDArray[np.intp],
    at: Floats,
    begin: NDArray[np.intp],
    entries: NDArray[np.intp],
) -> Floats:
    """Return the readings before some new ones, oldest first ([STEPS + 1, entry]).

    They lie among the new ones of the same row (`begin` is its first), then in the past.
    """
    lag = np.arange(STEPS + 1, 0, -1)[:, None]
    place = entries - lag
    beyond = begin[entries] - place  # > 0: so many before the first new one
    old = past.times[np.minimum(STEPS + 1 - beyond, STEPS), row[entries]]
    return np.asarray(np.where(beyond > 0, old, at[np.maximum(place, 0)]), np.float64)


def _median(steps: Floats) -> Floats:
    """Return the median of the steps of each row, NaN aside ([n] from [STEPS, n])."""
    middle = _median_of_five(*steps)
    some = np.flatnonzero(~np.isfinite(middle))
    if len(some):
        middle[some] = row_median(steps[:, some].T)
    return middle


def _median_of_five(a: Floats, b: Floats, c: Floats, d: Floats, e: Floats) -> Floats:
    """Return the middle of five columns, NaN where one of them is.

    The middle two of four are `low` and `high`; then the middle of three. A sort of many short
    rows takes ten times as long.
    """
    a, b = np.minimum(a, b), np.maximum(a, b)
    c, d = np.minimum(c, d), np.maximum(c, d)
    low, high = np.maximum(a, c), np.minimum(b, d)
    middle = np.maximum(np.minimum(low, high), np.minimum(np.maximum(low, high), e))
    return np.asarray(middle, np.float64)
