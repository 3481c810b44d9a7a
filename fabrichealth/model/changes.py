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
    seconds after the reading before it. `watched[r]` tells for each of `rows` (series that
    were read in the span, ascending) since when it has been watched within the span, less the
    time in gaps: the exposure in seconds; `seen_at[r]` when it was read last, `value[r]` what it
    said then.
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
    rows: Ids
    watched: Floats
    seen_at: Floats
    value: Floats

    def labels(self, row: int) -> Labels:
        """Return the label values of one of `rows`."""
        return self.table.labels(int(self.rows[row]))

    def row(self, *labels: str) -> int | None:
        """Return the place of a series among `rows`, or None."""
        number = self.table.find(self.metric, labels)
        if number is None:
            return None
        place = int(np.searchsorted(self.rows, number))
        return place if place < len(self.rows) and self.rows[place] == number else None

    @cached_property
    def row_of(self) -> NDArray[np.intp]:
        """Place among `rows` of each change."""
        return np.searchsorted(self.rows, self.series)

    @cached_property
    def increase(self) -> Floats:
        """Increase of a counter at each change; NaN where it fell (a reset says nothing here)."""
        return np.where(self.after >= self.before, self.after - self.before, np.nan)

    def last(self, seconds: float) -> NDArray[np.bool_]:
        """Return which changes lie in the last so many seconds."""
        return self.at > self.until - seconds

    def total(self, seconds: float, leaving_out: NDArray[np.bool_] | None = None) -> Floats:
        """Return the increase of each of `rows` in the last so many seconds ([r])."""
        taken = self.last(seconds) & np.isfinite(self.increase)
        if leaving_out is not None:
            taken &= ~leaving_out
        return np.bincount(
            self.row_of[taken], weights=self.increase[taken], minlength=len(self.rows)
        ).astype(np.float64)

    def exposure(self, seconds: float) -> Floats:
        """Return for how many of the last so many seconds each of `rows` was watched ([r])."""
        return np.minimum(self.watched, seconds)
