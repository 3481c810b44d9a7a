"""Changes: the long past of a metric that seldom moves, without its columns.

A day of polls of an error counter is thousands of equal numbers. What counts are the moments
at which it moved, and for how long it was watched at all.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Metric
from fabrichealth.model.series import Floats, Ids, Labels, SeriesTable


@dataclass(frozen=True)
class Changes:
    """Every change of a metric's series in (until - seconds, until], ascending in time.

    Entry i: `series[i]` went from `before[i]` to `after[i]`, read at `at[i]`, `step[i]`
    seconds after the reading before it; `unseen[i]` marks those that happened in a gap, while
    nobody watched. Of each of `rows` (series that were read in the span, ascending) tell
    `first_at[r]` since when it is watched (not before the span begins), `seen_at[r]` when it
    was read last, `value[r]` what it said then, and `period[r]` how many seconds lie between
    its polls (NaN before there are two). Gap g is the time from `gap_start[g]` to `gap_end[g]`
    in which row `gap_row[g]` was not read.
    """

    metric: Metric
    table: SeriesTable
    until: float
    seconds: float
    series: Ids
    at: Floats
    step: Floats
    before: Floats
    after: Floats
    unseen: NDArray[np.bool_]
    rows: Ids
    first_at: Floats
    seen_at: Floats
    value: Floats
    period: Floats
    gap_row: NDArray[np.intp]
    gap_start: Floats
    gap_end: Floats

    def labels(self, row: int) -> Labels:
        """Return the label values of one of `rows`."""
        return self.table.labels(int(self.rows[row]))

    def row(self, *labels: str) -> int | None:
        """Return the place of a series among `rows`, or None."""
        return self.table.place(self.rows, self.metric, labels)

    @cached_property
    def row_of(self) -> NDArray[np.intp]:
        """Place among `rows` of each change."""
        return np.searchsorted(self.rows, self.series)

    @cached_property
    def increase(self) -> Floats:
        """Increase of a counter at each change; NaN where it fell (a reset says nothing here)."""
        return np.where(self.after >= self.before, self.after - self.before, np.nan)

    @cached_property
    def changed_at(self) -> Floats:
        """When each row's present value was read first ([r]); NaN: it never changed in the span."""
        changed = np.full(len(self.rows), np.nan)
        changed[self.row_of] = self.at  # ascending, so the last one stays
        return changed

    @cached_property
    def watched(self) -> Floats:
        """Seconds of the span in which each row was watched ([r])."""
        return self.exposure(self.seconds)

    def last(self, seconds: float) -> NDArray[np.bool_]:
        """Return which changes lie in the last so many seconds."""
        return self.at > self.until - seconds

    def total(self, seconds: float, leaving_out: NDArray[np.bool_] | None = None) -> Floats:
        """Return each row's increase in the last so many seconds, as far as watched ([r]).

        What came while nobody watched has no exposure, so it is no part of a rate; of a step that
        reaches back beyond the span only the share within it counts.
        """
        taken = self.last(seconds) & np.isfinite(self.increase) & ~self.unseen
        if leaving_out is not None:
            taken &= ~leaving_out
        inside = (self.at[taken] - (self.until - seconds)) / self.step[taken]
        share = self.increase[taken] * np.minimum(inside, 1.0)
        return np.bincount(self.row_of[taken], weights=share, minlength=len(self.rows)).astype(
            np.float64
        )

    def exposure(self, seconds: float) -> Floats:
        """Return for how many of the last so many seconds each row was watched ([r])."""
        start = self.until - min(seconds, self.seconds)
        watched = self.seen_at - np.maximum(self.first_at, start)
        lost = self.gap_end - np.maximum(self.gap_start, start)
        np.subtract.at(watched, self.gap_row, np.maximum(lost, 0.0))
        return np.maximum(watched, 0.0)
