"""Bins: means of a store's series in equal bins of time, by accelerator, host or rack.

Of ten minutes, of one minute for less than a day, of more for more than a week: a week of 8,192
accelerators is some millions of numbers, gathered as columns and a day at a time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.inventory import Inventory
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Window
from fabrichealth.store.protocol import Store

DAY = 86_400.0
COARSE, FINE = 600.0, 60.0
MOST_BINS = 7 * 144
"""A week of ten minutes; what is longer is told in longer bins."""

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Bins:
    """Equal bins of `seconds` that end at `until`, and the accelerators they are of."""

    until: float
    seconds: float
    number: int
    step: float
    """Of the store's tier that is read."""
    inventory: Inventory
    rows: Places

    @property
    def since(self) -> float:
        """When the first begins."""
        return self.until - self.number * self.seconds

    @property
    def names(self) -> list[str]:
        """Names of the accelerators, by row."""
        return [self.inventory.names[row] for row in self.rows.tolist()]

    @classmethod
    def of(cls, inventory: Inventory, domain: str, until: float, seconds: float) -> "Bins":
        """Return the bins of the last so many seconds of a domain."""
        step = FINE if seconds < DAY else COARSE
        width = step * max(ceil(seconds / step / MOST_BINS), 1)
        number = max(round(seconds / width), 1)
        return cls(until, width, number, step, inventory, inventory.domain.rows(domain))

    def span(self, start: float, end: float) -> slice:
        """Return the bins of which most lies between two times."""
        first, last = (round((at - self.since) / self.seconds) for at in (start, end))
        return slice(max(first, 0), max(last, 0))

    def cover(self, start: float, end: float) -> tuple[int, Floats]:
        """Return the first bin that a time touches, and its share of that and the bins after."""
        low, high = ((min(max(at, self.since), self.until) - self.since) / self.seconds
                     for at in (start, end))  # fmt: skip
        edges = np.arange(int(low), max(ceil(high), int(low)) + 1, dtype=np.float64)
        return int(low), np.diff(np.clip(edges, low, max(low, high)))


def grid(store: Store, metric: Metric, bins: Bins, word: str = "") -> Floats:
    """Return the mean of a metric of accelerators in each bin, [n, k]; NaN where it said nothing.

    Of a metric with a reason only those that hold a word; of several the largest.
    """
    own = np.full(len(bins.inventory) + 1, -1, np.intp)  # the last stands for no accelerator
    own[bins.rows] = np.arange(len(bins.rows))

    def place(window: Window) -> Places:
        every = bins.inventory.places(window)
        if word:
            column = metric.labels.index("reason")
            holds = [word in window.labels(row)[column] for row in range(len(window))]
            every = np.where(np.array(holds, bool), every, -1)
        return own[every]

    return binned(store, metric, bins, len(bins.rows), place)


def binned(
    store: Store, metric: Metric, bins: Bins, number: int, place: Callable[[Window], Places]
) -> Floats:
    """Return the mean of a metric by place and bin ([number, k]), a day at a time.

    `place` gives the place of each row of a window, -1 for none; of several rows of one place the
    larger mean counts.
    """
    found = np.full((number, bins.number), np.nan)
    each = max(round(DAY / bins.seconds), 1)
    for first in range(0, bins.number, each):
        many = min(each, bins.number - first)
        since = bins.since + first * bins.seconds
        window = store.window(metric, since + many * bins.seconds, many * bins.seconds, bins.step)
        rows = place(window)
        mine = np.flatnonzero(rows >= 0)
        means = _means(window.select(mine), since, bins.seconds, many)
        part = found[:, first : first + many]
        np.fmax.at(part, rows[mine], means)
    return found


def _means(window: Window, since: float, seconds: float, number: int) -> Floats:
    """Return the mean of each row in each of so many bins ([s, number])."""
    column = np.floor((window.at - since) / seconds - 1e-9)  # of each clock's polls
    found = np.full((len(window), number), np.nan)
    for clock in np.unique(window.clock).tolist():
        rows = np.flatnonzero(window.clock == clock)
        polls = np.flatnonzero((column[clock] >= 0) & (column[clock] < number))
        into, start = np.unique(column[clock][polls].astype(np.intp), return_index=True)
        if not len(into):
            continue
        values = window.values[rows[:, None], polls]
        known = np.isfinite(values)
        total = np.add.reduceat(np.where(known, values, 0.0), start, axis=1)
        count = np.add.reduceat(known, start, axis=1, dtype=np.intp)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[rows[:, None], into] = np.where(count > 0, total / count, np.nan)
    return found


def named(places: Mapping[str, int]) -> Callable[[Window], Places]:
    """Return what gives the place of each row of a window by its first label."""

    def place(window: Window) -> Places:
        names = (window.labels(row)[0] for row in range(len(window)))
        return np.array([places.get(name, -1) for name in names], np.intp)

    return place
