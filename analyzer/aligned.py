"""Aligned: the store as judging sees it, where clocks that stand apart are put right.

The time stamps of a device whose clock is so many seconds ahead are moved back by as many, those
of one that is behind are moved on. Readings that an ahead clock stamped with a time to come are
there already and are looked at; those of a clock that is behind are not before their time. A
target that reads several devices stamps with its own clock and is left as it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from analyzer.evidence.clocks import BOUND, clock_of
from analyzer.slow_rows import beside
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, SeriesTable, Window
from fabrichealth.store.protocol import News, Store
from fabrichealth.topology import Topology

LATE = 330.0
"""Readings that carry their device's own time stamp may be five minutes old and are not stale
yet."""

OVERLAP = LATE + BOUND
"""News are looked for so far back: a clock may be behind by as much before that is known."""


class Reads(Protocol):
    """What judging asks of a store."""

    @property
    def table(self) -> SeriesTable:
        """Names of series and clocks."""
        ...

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        """Return all samples of a metric in (until - seconds, until]."""
        ...

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        """Return what of that is new since a mark was given out."""
        ...

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp held."""
        ...


class Aligned:
    """Windows and news of a store, by one clock."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.table = store.table
        self.offsets: Mapping[str, float] = {}
        """Seconds that a device's clock is ahead; of devices that own one."""
        self._topology = Topology()
        self._known: dict[Metric, Floats] = {}
        """What `ahead` returned, as far as it was worked out."""

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp held, as they were given."""
        return self._store.span()

    def put_right(self, offsets: Mapping[str, float], topology: Topology) -> None:
        """Take other offsets, of the devices of a topology."""
        self.offsets, self._topology = dict(offsets), topology
        self._known.clear()

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        """Return what `Store.window` returns, in true time."""
        found = self._store.window(metric, until, seconds, step)
        return self._with_others(found, step) if self._apart(metric) else found

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        """Return what `Store.news` returns, in true time."""
        found = self._store.news(metric, until, seconds, mark)
        if not self._apart(metric):
            return found
        again = replace(found.window, seconds=max(seconds - BOUND, LATE))
        return News(self._with_others(again, 0), found.mark)

    def _apart(self, metric: Metric) -> bool:
        return bool(self.offsets) and metric.labels[:1] == ("device",)

    def ahead(self, metric: Metric) -> Floats:
        """Return by how many seconds the clock of each of `table.of(metric)` is ahead."""
        numbers = self.table.of(metric)
        if not self._apart(metric):
            return np.zeros(len(numbers))
        known = self._known.get(metric, np.empty(0))
        if len(known) < len(numbers):
            new = [self._ahead_of(self.table.labels(int(n))) for n in numbers[len(known) :]]
            known = self._known[metric] = np.concatenate([known, new])
        return known

    def _ahead_of(self, labels: tuple[str, ...]) -> float:
        return self.offsets.get(clock_of(self._topology, labels[0]), 0.0)

    def _with_others(self, found: Window, step: float) -> Window:
        """Return a window in which the rows of clocks that stand apart are put right."""
        later = max(0.0, *self.offsets.values())
        sooner = min(0.0, *self.offsets.values())
        until, seconds = found.until + later, found.seconds + later - sooner
        wide = self._store.window(found.metric, until, seconds, step)
        numbers = self.table.of(found.metric)
        by = _of_clocks(wide, self.ahead(found.metric)[np.searchsorted(numbers, wide.series)])
        clocks = np.flatnonzero(np.isfinite(by))
        if not len(clocks):
            return found
        return beside(found, _moved(wide, by, found.until - found.seconds, found.until), clocks)


def _of_clocks(wide: Window, ahead: Floats) -> Floats:
    """Return by how much each clock is ahead; NaN: it is not, or serves others as well."""
    least, most = np.full(len(wide.at), np.inf), np.full(len(wide.at), -np.inf)
    np.minimum.at(least, wide.clock, ahead)
    np.maximum.at(most, wide.clock, ahead)
    return np.where((least == most) & (most != 0), most, np.nan)


def _moved(wide: Window, by: Floats, after: float, until: float) -> Window:
    """Return the rows of clocks that are moved back by so much, as read in (after, until]."""
    mine = wide.select(np.isfinite(by)[wide.clock])
    at = wide.at - by[:, None]
    with np.errstate(invalid="ignore"):
        inside = (at > after) & (at <= until)
    width = int(inside.sum(axis=1).max(initial=0))
    order = np.argsort(inside, axis=1, kind="stable")[:, at.shape[1] - width :]
    kept = np.take_along_axis(inside, order, axis=1)
    at = np.where(kept, np.take_along_axis(at, order, axis=1), np.nan)
    clock = mine.clock.astype(np.intp)
    values = np.where(kept[clock], np.take_along_axis(mine.values, order[clock], axis=1), np.nan)
    told = np.flatnonzero(np.isfinite(values).any(axis=1))
    return Window(
        wide.metric, wide.table, mine.series[told], values[told], at, mine.clock[told],
        until, until - after,
    )  # fmt: skip
