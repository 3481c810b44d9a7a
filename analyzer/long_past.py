"""Long past: weeks of gauges that move at every poll, kept as medians of bins.

The last day is kept by the half hour, what is older by four hours: enough for a daily swing of
temperature, and a few dozen columns for weeks. Each pass reads only bins that have closed since;
after a restart the past is read again from the store's downsampled tiers, so it is derived and
never saved (bins made of means over ten minutes then differ a little from those made of polls).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from analyzer.aligned import LATE, Reads
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Past, Window
from fabrichealth.model.quantiles import row_median

FINE = 1800.0
"""Length of a bin of the last day."""

COARSE = 4 * 3600.0
"""Length of an older bin."""

RECENT = 86_400.0
"""So much of the past is kept in fine bins."""

FINE_STEP, COARSE_STEP = 60.0, 600.0
"""Tiers of the store that bins are read from."""


@dataclass
class _Bins:
    """What is kept of one metric; rows are places in `table.of(metric)`."""

    values: Floats = field(default_factory=lambda: np.empty((0, 0)))
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    past: Past | None = None

    def add(self, start: float, end: float, window: Window) -> None:
        """Close a bin with the median of what the metric's series said in it."""
        numbers = window.table.of(window.metric)
        low, high = window.metric.valid
        with np.errstate(invalid="ignore"):
            possible = (window.values >= low) & (window.values <= high)
        column = np.full((len(numbers), 1), np.nan)
        place = np.searchsorted(numbers, window.series)
        column[place, 0] = row_median(np.where(possible, window.values, np.nan))
        self.fit(len(numbers))
        self.values = np.concatenate([self.values, column], axis=1)
        self.starts.append(start)
        self.ends.append(end)
        self.past = None

    def fit(self, rows: int) -> None:
        """Make room for series that are new."""
        more = rows - len(self.values)
        if more > 0:
            room = np.full((more, len(self.ends)), np.nan)
            self.values = np.concatenate([self.values, room])

    def coarsen(self, recent: float) -> None:
        """Join the fine bins of each whole four hours that ended before `recent`."""
        while self._join(recent):
            pass

    def _join(self, recent: float) -> bool:
        """Join the oldest fine bins, if their four hours ended before; say whether they did."""
        fine = [k for k, start in enumerate(self.starts) if self.ends[k] - start < COARSE]
        if not fine or COARSE * np.ceil(self.ends[fine[0]] / COARSE) > recent:
            return False
        end = float(COARSE * np.ceil(self.ends[fine[0]] / COARSE))
        members = [k for k in fine if self.ends[k] <= end]
        first, last = members[0], members[-1]
        joined = row_median(self.values[:, first : last + 1])[:, None]
        self.values = np.concatenate(
            [self.values[:, :first], joined, self.values[:, last + 1 :]], axis=1
        )
        self.starts[first : last + 1] = [end - COARSE]
        self.ends[first : last + 1] = [end]
        self.past = None
        return True

    def forget(self, until: float) -> None:
        """Let go of bins that ended before."""
        gone = sum(end <= until for end in self.ends)
        if gone:
            self.values, self.past = self.values[:, gone:], None
            del self.starts[:gone], self.ends[:gone]


class LongPast:
    """Bins of the metrics asked for, each over its own span (seconds)."""

    def __init__(self, store: Reads, spans: Mapping[Metric, float]) -> None:
        self._store = store
        self._spans = dict(spans)
        self._bins = {metric: _Bins() for metric in spans}
        self._until = float("-inf")

    def advance(self, now: float) -> None:
        """Close the bins that have ended."""
        held = self._store.span()
        until = float(FINE * np.floor((now - LATE) / FINE))
        if held is None or until <= self._until:
            return
        recent = float(COARSE * np.ceil((until - RECENT) / COARSE))
        for metric, bins in self._bins.items():
            start = max(self._until, held[0] - 1.0, until - self._spans[metric])
            whole = COARSE if start < recent else FINE
            self._read(metric, bins, float(whole * np.floor(start / whole)), until, recent)
            bins.coarsen(recent)
            bins.forget(until - self._spans[metric])
        self._until = until

    def _read(self, metric: Metric, bins: _Bins, start: float, until: float, recent: float) -> None:
        while start < until:
            length = COARSE if start + COARSE <= recent else FINE
            step = COARSE_STEP if length == COARSE else FINE_STEP
            end = start + length
            bins.add(start, end, self._store.window(metric, end, length, step))
            start = end

    def past(self, metric: Metric) -> Past:
        """Return the closed bins of a metric.

        Raises:
            KeyError: nobody asked for this metric to be recalled.
        """
        bins, table = self._bins[metric], self._store.table
        numbers = table.of(metric)
        if bins.past is None or len(bins.past) != len(numbers):
            bins.fit(len(numbers))
            bins.past = Past(
                metric, table, numbers, bins.values, np.array(bins.starts), np.array(bins.ends)
            )
        return bins.past
