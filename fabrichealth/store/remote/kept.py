"""Kept: columns of the metrics that are asked for again and again, brought up to date.

A pass asks the engine only for what came since the last one, and a little more, for readings arrive
late. Every few minutes the whole is read anew: what was spooled for long is found then.
"""

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Protocol

from fabrichealth.metric import Metric
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import merged

SAME_MOMENT = 1.0
"""Seconds for which an answer serves for the same moment again: detectors share a pass."""


class GivesColumns(Protocol):
    """What is asked of an engine."""

    def columns(self, metric: Metric, start: float, end: float) -> Grid:
        """Return at least what was read in (start, end]."""
        ...


@dataclass(frozen=True)
class _Known:
    """What is known of a metric in (start, until]."""

    grid: Grid
    start: float
    until: float
    seconds: float
    """Longest span asked for."""
    whole: float
    """Until when it was, when all of it was read at once."""
    asked: float
    """When the engine was asked last (`time.monotonic`)."""

    @property
    def bytes(self) -> int:
        """Memory it holds."""
        return self.grid.values.nbytes + self.grid.times.nbytes


class Kept:
    """Columns by metric, within a bound of memory; the least lately asked for go first."""

    def __init__(self, reads: GivesColumns, lateness: float, reread: float, bound: int) -> None:
        """`lateness` is read again each time, everything after `reread` (both seconds)."""
        self._reads = reads
        self._lateness = lateness
        self._reread = reread
        self._bound = bound
        self._known: OrderedDict[Metric, _Known] = OrderedDict()

    def columns(self, metric: Metric, start: float, until: float) -> Grid:
        """Return what was read in (start, until], asking for what is not known."""
        known = self._known.get(metric)
        if known is not None and until < known.until:
            return self._reads.columns(metric, start, until).between(start, until)
        now = time.monotonic()
        fresh = known is not None and now < known.asked + SAME_MOMENT
        if known is not None and fresh and until == known.until and start >= known.start:
            return known.grid.between(start, until)
        seconds = max(until - start, known.seconds if known is not None else 0.0)
        first = until - seconds
        if known is None or first < known.start or until >= known.whole + self._reread:
            whole = until
            grid = self._reads.columns(metric, first, until).between(first, until)
        else:
            whole, cut = known.whole, max(first, known.until - self._lateness)
            late = self._reads.columns(metric, cut, until).between(cut, until)
            grid = merged([known.grid.between(first, cut), late])
        self._keep(metric, _Known(grid, first, until, seconds, whole, now))
        return grid.between(start, until)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()

    def _keep(self, metric: Metric, known: _Known) -> None:
        self._known[metric] = known
        self._known.move_to_end(metric)
        while sum(one.bytes for one in self._known.values()) > self._bound:
            self._known.popitem(last=False)
