"""Recent: decoded columns of the metrics that are asked for again and again.

A judge asks for nearly the same window at each pass. What it got is kept as a grid with spare
columns, and a pass reads only what has been appended since.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from fabrichealth.metric import Metric
from fabrichealth.store.cutting import Ints, TimeLines
from fabrichealth.store.grid import Grid, roomy_width, widened
from fabrichealth.store.gridding import gridded, lay, merged
from fabrichealth.store.runs import Runs


@dataclass
class Recent:
    """Everything of one metric in (start, stop] that entries up to `seen` of the head brought."""

    grid: Grid
    """Its columns beyond the newest poll are NaN, room for what comes."""
    count: Ints
    """Polls of each clock, [c]."""
    start: float
    stop: float
    """Infinite for a judge of the present; a replay reads on from here."""
    seconds: float
    """Longest span that was asked for."""
    seen: int
    imported: int
    """How many imports of the metric there had been."""

    @classmethod
    def of(
        cls,
        grid: Grid,
        start: float,
        stop: float,
        seconds: float,
        seen: int,
        imported: int,
    ) -> "Recent":
        """Keep a grid that is whole in (start, stop]; one that has an end needs no room."""
        kept, count = _roomy(grid) if stop == np.inf else (grid, _polls_of(grid))
        return cls(kept, count, start, stop, seconds, seen, imported)

    @property
    def bytes(self) -> int:
        """Memory it holds."""
        return self.grid.values.nbytes + self.grid.times.nbytes

    def used(self) -> Grid:
        """Return the grid without its spare columns (a view: later polls do not change it)."""
        width = int(self.count.max(initial=0))
        grid = self.grid
        if width == grid.times.shape[1]:
            return grid
        return Grid(
            grid.series, grid.clock, grid.clocks, grid.times[:, :width], grid.values[:, :width]
        )

    def share(self, others: Iterable["Recent"]) -> None:
        """Let go of time lines that are those of another metric; none of them will change."""
        grid = self.grid
        known = (other.grid.lines for other in others if other.grid.lines is not None)
        lines = next((one for one in known if one.same(grid.clocks, grid.times)), None)
        lines = lines or TimeLines(grid.clocks, grid.times)
        self.grid = replace(grid, clocks=lines.clocks, times=lines.times, lines=lines)

    def outweighed(self, runs: list[Runs]) -> bool:
        """Return whether runs bring more than is kept: then all is read anew with fewer moves."""
        new = sum(len(one.values) for one in runs)
        return new > len(self.grid) * int(self.count.max(initial=0))

    def extend(self, runs: list[Runs], seen: int, keep_after: float) -> None:
        """Add what entries up to `seen` brought; older columns may go when room is needed."""
        self.seen = seen
        if not runs:
            return
        new = gridded(Runs.joined(runs))
        if self.grid.lines is not None:
            self.grid = replace(self.grid, times=self.grid.times.copy(), lines=None)
        if self._put(new):
            return
        self.start = max(self.start, keep_after)
        past = self.used().between(self.start, np.inf)
        self.grid, self.count = _roomy(past, more=new.times.shape[1])
        if not self._put(new):
            whole = merged([past, new]).between(self.start, np.inf)
            self.grid, self.count = _roomy(whole)

    def _put(self, new: Grid) -> bool:
        """Write new polls beside those there are; False if they do not simply follow them."""
        grid = self.grid
        slot = np.searchsorted(grid.clocks, new.clocks)
        row = np.searchsorted(grid.series, new.series)
        if not len(grid) or int(row.max()) >= len(grid) or int(slot.max()) >= len(grid.clocks):
            return False
        many = (~np.isnan(new.times)).sum(axis=1)
        if not (
            np.array_equal(grid.clocks[slot], new.clocks)
            and np.array_equal(grid.series[row], new.series)
            and np.array_equal(grid.clock[row], slot[new.clock])
            and (grid.times[slot, self.count[slot] - 1] < new.times[:, 0]).all()
            and int((self.count[slot] + many).max()) <= grid.times.shape[1]
        ):
            return False
        where = self.count[slot][:, None] + np.arange(new.times.shape[1])
        inside = ~np.isnan(new.times)
        grid.times[np.repeat(slot, many), where[inside]] = new.times[inside]
        lay(grid.values, row, where, new)
        self.count[slot] += many
        return True


def _roomy(grid: Grid, more: int = 0) -> tuple[Grid, Ints]:
    """Return a grid with spare columns beyond `more`, and how many of them each clock uses."""
    count = _polls_of(grid)
    width = max(roomy_width(int(count.max(initial=0)) + more), grid.times.shape[1])
    times, values = widened(grid.times, width), widened(grid.values, width)
    return Grid(grid.series, grid.clock, grid.clocks, times, values), count


def _polls_of(grid: Grid) -> Ints:
    return np.asarray((~np.isnan(grid.times)).sum(axis=1), np.int64)


class RecentColumns:
    """Recent columns by metric, within a bound of memory; the least lately asked for go first."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._kept: OrderedDict[Metric, Recent] = OrderedDict()

    def get(self, metric: Metric) -> Recent | None:
        """Return what is kept of a metric."""
        found = self._kept.get(metric)
        if found is not None:
            self._kept.move_to_end(metric)
        return found

    def put(self, metric: Metric, recent: Recent) -> None:
        """Keep a metric's columns unless they alone would break the bound."""
        if recent.bytes > self._bound:
            return
        if isfinite(recent.stop) and recent.grid.lines is None:
            recent.share(self._kept.values())
        self._kept[metric] = recent
        self._kept.move_to_end(metric)
        while sum(one.bytes for one in self._kept.values()) > self._bound:
            self._kept.popitem(last=False)

    def drop(self, metric: Metric) -> None:
        """Forget a metric."""
        self._kept.pop(metric, None)
