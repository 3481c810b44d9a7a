"""Polled: runs of clocks that read the same series at each poll, as a grid.

That is nearly everything there is, and for these each value is moved once, from where it was
appended to its place. Readings and indices go through in blocks that stay in a processor's cache:
columns of a fleet are tens of megabytes, and memory that is fresh for each step costs more than
the step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats, Ids
from fabrichealth.store.cutting import Ints
from fabrichealth.store.grid import Grid, roomy_width, widened
from fabrichealth.store.runs import Runs

MOST_SHAPES = 32
"""Different (polls, series a poll) of clocks that are worth a transposition each."""

BLOCK_VALUES = 1 << 16
"""Values that are looked at or moved in one step."""


@dataclass(frozen=True)
class Polled:
    """Clocks that read the same series at each poll, all as many and as often.

    `clocks[c]` read `series[c, e]` at `at[c, k]`; the value is the runs' number `start[c, k] + e`.
    """

    clocks: Ids
    at: Floats
    series: Ids
    start: Ints

    @property
    def owners(self) -> Ints:
        """Which of the clocks each series belongs to, flat."""
        return np.repeat(np.arange(len(self.clocks)), self.series.shape[1])


def regular(runs: Runs) -> tuple[list[Polled], Runs | None]:
    """Return the clocks that read the same series at each poll, and what is left."""
    order = _clock_by_clock(runs)
    clock, at, count = runs.clock[order], runs.at[order], runs.count[order]
    new = np.diff(clock, prepend=clock[:1] - 1) != 0
    first = np.flatnonzero(new)
    polls = np.diff(first, append=len(clock))
    same = np.minimum.reduceat(count, first) == np.maximum.reduceat(count, first)
    again = (at[1:] == at[:-1]) & ~new[1:]
    same[(np.cumsum(new) - 1)[1:][again]] = False
    shape = np.where(same, polls * (int(count.max()) + 1) + count[first], 0)
    kinds = [int(kind) for kind in np.unique(shape) if kind]
    start = (np.cumsum(runs.count) - runs.count)[order]
    polled = []
    left = np.ones(len(clock), bool)
    for kind in kinds if len(kinds) <= MOST_SHAPES else ():
        mine = first[shape == kind]
        many, each = divmod(kind, int(count.max()) + 1)
        run = mine[:, None] + np.arange(many)
        begun = start[run]
        series = runs.series[begun[:, :1] + np.arange(each)]
        steady = (np.diff(series, axis=1) > 0).all(axis=1)
        steady &= _as_at_first(runs.series, series, begun)
        if not steady.all():
            run, begun, series = run[steady], begun[steady], series[steady]
        if not len(run):
            continue
        left[run] = False
        polled.append(Polled(clock[run[:, 0]], at[run], series, begun))
    if not left.any():
        return polled, None
    keep = np.zeros(len(clock), bool)
    keep[order[left]] = True
    return polled, runs if not polled else runs.within(np.repeat(keep, runs.count))


def _clock_by_clock(runs: Runs) -> NDArray[np.intp]:
    """Return the order by clock, and of each clock by time; equal ones stay in order."""
    order = np.argsort(runs.clock, kind="stable")
    clock, at = runs.clock[order], runs.at[order]
    if ((at[1:] < at[:-1]) & (clock[1:] == clock[:-1])).any():  # some came late
        order = np.lexsort((runs.at, runs.clock))
    return order


def _as_at_first(column: Ids, series: Ids, start: Ints) -> NDArray[np.bool_]:
    """Return which clocks read series[c] at each of their polls, begun at start[c, k] ([c])."""
    same = np.empty(len(series), bool)
    each = series.shape[1]
    for part in _blocks(start, each):
        same[part] = (_rows(column, start[part], each) == series[part, None]).all(axis=(1, 2))
    return same


def _rows(column: Ids, start: Ints, each: int) -> Ids:
    """Return column[start[c, k] : start[c, k] + each] as [c, k, each]."""
    if (start % each).any():
        cells: Ids = column[start[:, :, None] + np.arange(each)]
        return cells
    # whole polls of equal length: rows are copied, not cells
    rows: Ids = column[: len(column) // each * each].reshape(-1, each)[start // each]
    return rows


def _blocks(start: Ints, each: int) -> Iterator[slice]:
    """Yield some clocks after the others, so many that a step has BLOCK_VALUES values."""
    step = max(BLOCK_VALUES // (start.shape[1] * each), 1)
    for low in range(0, len(start), step):
        yield slice(low, low + step)


def transposed(parts: Sequence[Polled], given: Floats, *, roomy: bool = False) -> Grid:
    """Return clocks of several shapes as one grid; `given` are the values of their runs."""
    width = max(part.at.shape[1] for part in parts)
    room = roomy_width(width) if roomy else width
    series = np.concatenate([part.series.ravel() for part in parts])
    clocks = np.concatenate([part.clocks for part in parts])
    first = np.cumsum([0, *(len(part.clocks) for part in parts)])
    by_clock = np.argsort(clocks)
    place = np.empty(len(clocks), np.int64)
    place[by_clock] = np.arange(len(clocks))
    owner = np.concatenate([part.owners + at for part, at in zip(parts, first, strict=False)])
    clock = place[owner]
    order = np.lexsort((clock, series))
    row = np.empty(len(order), np.int64)
    row[order] = np.arange(len(order))
    values, done = np.empty((len(order), room)), 0
    for part in parts:
        number, polls = part.series.size, part.at.shape[1]
        mine = row[done : done + number].reshape(part.series.shape)
        values[mine if len(parts) > 1 else slice(None), polls:] = np.nan
        each = np.arange(part.series.shape[1])[:, None]
        for some in _blocks(part.start, len(each)):
            values[mine[some], :polls] = given[part.start[some, None] + each]
        done += number
    times = np.concatenate([widened(part.at, room) for part in parts])[by_clock]
    return Grid(series[order], clock[order], clocks[by_clock], times, values)
