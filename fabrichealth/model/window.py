"""Window: the recent past of one metric, as columns."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Metric
from fabrichealth.model.quantiles import row_median
from fabrichealth.model.series import Floats, Ids, Labels, SeriesTable


@dataclass(frozen=True)
class Window:
    """The last polls of every series of a metric, right-aligned in polls.

    Row s is `series[s]`; `values[s, k]` is what it said at `at[clock[s], k]` (unix seconds).
    The last column is the newest poll of each clock; NaN in `values` is missing, NaN in `at`
    is a poll that this clock did not have. `seconds` is the span asked for, `until` its end.
    """

    metric: Metric
    table: SeriesTable
    series: Ids
    values: Floats
    at: Floats
    clock: NDArray[np.int32]
    until: float
    seconds: float

    def __len__(self) -> int:
        return len(self.series)

    def labels(self, row: int) -> Labels:
        """Return the label values of a row."""
        return self.table.labels(int(self.series[row]))

    def row(self, *labels: str) -> int | None:
        """Return the row of a series, or None if it is not in the window."""
        return self.table.place(self.series, self.metric, labels)

    def codes(self, *names: str) -> NDArray[np.int64]:
        """Return one integer per row, equal where the named labels are equal."""
        return self.table.codes(self.series, self.metric, names)

    @cached_property
    def times(self) -> Floats:
        """Unix seconds of every value, [s, k]; NaN where the value is missing."""
        return np.where(np.isfinite(self.values), self.at[self.clock], np.nan)

    @cached_property
    def period(self) -> Floats:
        """Each row's own poll period in seconds ([s]): the median step between its values."""
        read = np.isfinite(self.at).sum(axis=1)[self.clock]
        whole = np.isfinite(self.values).sum(axis=1) == read  # it has every poll of its clock
        period = np.where(whole, _period(self.at)[self.clock], np.nan)
        rest = np.flatnonzero(~whole)
        if len(rest):
            period[rest] = _period(self.times[rest])
        return period

    @cached_property
    def coverage(self) -> Floats:
        """Finite values over those that each row's own period would give in the span ([s]).

        0 for a row with fewer than two values: nothing can be said of its period.
        """
        expected = np.floor(self.seconds / self.period + 1e-9)
        finite = np.isfinite(self.values).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.minimum(finite / np.maximum(expected, 1.0), 1.0)
        return np.where(np.isfinite(self.period), ratio, 0.0)

    @cached_property
    def last(self) -> Floats:
        """Newest value of each row ([s]); NaN where there is none in the window."""
        return self._of_newest(self.values, np.arange(len(self)))

    @cached_property
    def last_at(self) -> Floats:
        """When `last` was read ([s]); NaN where there is none."""
        return self._of_newest(self.at, self.clock)

    def _of_newest(self, given: Floats, row: NDArray[np.integer]) -> Floats:
        """Return given[row[s], k], k the column of the newest value of row s."""
        if not self.values.size:
            return np.full(len(self), np.nan)
        column = np.full(len(self), self.values.shape[1] - 1)
        told = np.isfinite(self.values[:, -1])  # nearly all have answered the newest poll
        late = np.flatnonzero(~told)
        finite = np.isfinite(self.values[late])
        column[late] -= np.argmax(finite[:, ::-1], axis=1)
        told[late] = finite.any(axis=1)
        return np.where(told, given[row, column], np.nan)

    def select(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "Window":
        """Return the same window of some rows (ascending), without copying their clocks."""
        return Window(
            self.metric,
            self.table,
            self.series[rows],
            self.values[rows],
            self.at,
            self.clock[rows],
            self.until,
            self.seconds,
        )


def _period(times: Floats) -> Floats:
    """Return the median step of each row of ascending times, NaN aside."""
    if times.shape[1] < 2:
        return np.full(len(times), np.nan)
    steps = np.diff(np.fmax.accumulate(times, axis=1), axis=1)
    return row_median(np.where(steps > 0, steps, np.nan))


def aligned(
    metric: Metric,
    table: SeriesTable,
    samples: Sequence[tuple[int, float, Ids, Floats]],
    until: float,
    seconds: float,
) -> Window:
    """Build a window from (clock, at, series, values) rows in any order; the slow reference.

    Only rows that hold the metric make polls: another metric of the same clock may come at its
    own pace. Of equal time stamps of one clock the later row wins, value by value. A series that
    two clocks read belongs to the one that read it last (a tie: the higher number); what the
    other read is left out. What a store returns fast must equal this.
    """
    wanted = table.of(metric)
    place = np.full(len(table), -1, np.intp)
    place[wanted] = np.arange(len(wanted))
    inside = [
        (clock, when, rows[mine], given[mine])
        for clock, when, series, given in samples
        if until - seconds < when <= until and (mine := (rows := place[series]) >= 0).any()
    ]
    times: dict[int, list[float]] = {}
    for clock, when, _, _ in inside:
        times.setdefault(clock, []).append(when)
    columns = {clock: sorted(set(every)) for clock, every in sorted(times.items())}
    width = max((len(every) for every in columns.values()), default=0)
    at = np.full((max(columns, default=-1) + 1, width), np.nan)
    for clock, every in columns.items():
        at[clock, width - len(every) :] = every
    values = np.full((len(wanted), width), np.nan)
    owner = np.zeros(len(wanted), np.int32)
    newest = np.full(len(wanted), -np.inf)
    for clock, when, rows, _ in sorted(inside, key=lambda row: row[:2]):
        later = rows[when >= newest[rows]]
        owner[later], newest[later] = clock, when
    for clock, when, rows, given in inside:
        own = owner[rows] == clock
        column = width - len(columns[clock]) + bisect_left(columns[clock], when)
        values[rows[own], column] = given[own]
    seen = np.isfinite(newest)
    return Window(metric, table, wanted[seen], values[seen], at, owner[seen], until, seconds)
