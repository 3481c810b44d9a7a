"""Past: the long past of a metric, as medians of bins; what a baseline is made of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabrichealth.metric import Metric
from fabrichealth.model.series import Floats, Ids, Labels, SeriesTable


@dataclass(frozen=True, eq=False)
class Past:
    """Medians of every series of a metric over bins, oldest first; the last day in finer ones.

    Row s is `series[s]`; `values[s, k]` is the median of what it said in (`starts[k]`,
    `ends[k]`] (unix seconds), NaN where it said nothing. The bin that is still open is no part
    of it. The same object is handed out until a bin closes, so what is worked out from it can
    be kept beside it.
    """

    metric: Metric
    table: SeriesTable
    series: Ids
    values: Floats
    starts: Floats
    ends: Floats

    def __len__(self) -> int:
        return len(self.series)

    def labels(self, row: int) -> Labels:
        """Return the label values of a row."""
        return self.table.labels(int(self.series[row]))

    def row(self, *labels: str) -> int | None:
        """Return the row of a series, or None if it has none yet."""
        return self.table.place(self.series, self.metric, labels)

    @cached_property
    def middles(self) -> Floats:
        """Unix seconds of the middle of each bin ([k])."""
        return (self.starts + self.ends) / 2

    @cached_property
    def first_at(self) -> Floats:
        """Start of the first bin in which each row said anything ([s]); NaN: in none."""
        known = np.isfinite(self.values)
        if not known.size:
            return np.full(len(self.series), np.nan)
        first = self.starts[np.argmax(known, axis=1)]
        return np.where(known.any(axis=1), first, np.nan)

    @classmethod
    def empty(cls, metric: Metric, table: SeriesTable) -> "Past":
        """Return the past of a metric of which nothing is known."""
        none = np.empty(0)
        return cls(metric, table, np.empty(0, np.int32), np.empty((0, 0)), none, none)
