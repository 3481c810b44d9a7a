"""Lines: the answer of an engine, a series a line, and the same as a grid of polls."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats, Ids
from fabrichealth.store.cutting import Ints
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import gridded, merged
from fabrichealth.store.runs import Runs


@dataclass(frozen=True)
class Lines:
    """Line i is what `clock[i]` read of `series[i]` at `stamps[which[i]]` (unix seconds).

    `values` holds the lines one after the other. Lines that share their times share a stamp.
    """

    series: Ids
    clock: Ids
    which: Ints
    stamps: list[Floats]
    values: Floats


@dataclass
class Gathered:
    """Lines as they come in, piece by piece; of equal texts of time stamps one is kept."""

    series: list[int] = field(default_factory=list)
    clock: list[int] = field(default_factory=list)
    which: list[int] = field(default_factory=list)
    stamps: list[Floats] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)

    def lines(self) -> Lines:
        """Return what came."""
        return Lines(
            np.array(self.series, np.int32),
            np.array(self.clock, np.int32),
            np.array(self.which, np.int64),
            self.stamps,
            np.concatenate(self.values) if self.values else np.empty(0),
        )


def grid_of(lines: Lines) -> Grid:
    """Return lines as a grid; what is not finite is absent, of equal times the later wins."""
    if not len(lines.series):
        return Grid.empty()
    values = np.where(np.isfinite(lines.values), lines.values, np.nan)
    count = np.array([len(stamp) for stamp in lines.stamps], np.int64)[lines.which]
    start = np.cumsum(count) - count
    regular = _regular(lines) & (count > 0)
    grids = []
    for width in np.unique(count[regular]).tolist():
        mine = np.flatnonzero(regular & (count == width))
        grids.append(_rectangle(lines, mine, values[start[mine][:, None] + np.arange(width)]))
    rest = np.flatnonzero(~regular)
    if len(rest):
        cells = np.concatenate([np.arange(start[i], start[i] + count[i]) for i in rest])
        at = np.concatenate([lines.stamps[which] for which in lines.which[rest]])
        there = ~np.isnan(values[cells])
        one = np.repeat(rest, count[rest])[there]
        grids.append(
            gridded(
                Runs(
                    lines.clock[one],
                    at[there],
                    np.ones(len(one), np.int32),
                    lines.series[one],
                    values[cells][there],
                )
            )
        )
    return merged(grids)


def _regular(lines: Lines) -> NDArray[np.bool_]:
    """Return the lines of clocks whose lines all have the same, ascending times."""
    order = np.lexsort((lines.series, lines.clock))
    clock, which, series = lines.clock[order], lines.which[order], lines.series[order]
    first = np.flatnonzero(np.diff(clock, prepend=clock[:1] - 1))
    ascending = np.array([bool((np.diff(stamp) > 0).all()) for stamp in lines.stamps])
    same = np.minimum.reduceat(which, first) == np.maximum.reduceat(which, first)
    same &= ascending[which[first]]
    of = np.cumsum(np.diff(clock, prepend=clock[:1] - 1) != 0) - 1
    twice = np.zeros(len(order), bool)
    twice[1:] = (series[1:] == series[:-1]) & (clock[1:] == clock[:-1])
    same[of[twice]] = False
    found = np.empty(len(order), bool)
    found[order] = same[of]
    return found


def _rectangle(lines: Lines, mine: NDArray[np.intp], values: Floats) -> Grid:
    """Return lines of as many values each, of clocks that are regular."""
    order = np.lexsort((lines.clock[mine], lines.series[mine]))
    mine, values = mine[order], values[order]
    clocks, slot = np.unique(lines.clock[mine], return_inverse=True)
    times = np.empty((len(clocks), values.shape[1]))
    for clock, which in dict(zip(slot.tolist(), lines.which[mine].tolist(), strict=True)).items():
        times[clock] = lines.stamps[which]
    return Grid(lines.series[mine], slot.astype(np.int64), clocks, times, values)
