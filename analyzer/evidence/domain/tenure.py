"""Tenure: who had each accelerator for most of a window, and not only at its end.

Who idles all along idles for whoever had it all along, and not for who took it a moment ago. At
each of a few moments the rule of `allocation` holds: the scheduler's series says whether anybody
had it, events say who; a series that calls it free knows of an end that no event told, and while
the scheduler is silent nobody knows.
"""

from dataclasses import dataclass, replace

import numpy as np

from analyzer.evidence.domain.allocation import (
    FREE,
    HELD,
    NOBODY,
    UNKNOWN,
    Allocation,
    Places,
    States,
)
from analyzer.evidence.domain.distribution import Bools
from analyzer.evidence.domain.inventory import Inventory, Rows
from analyzer.evidence.domain.ticks import held
from fabrichealth.catalogue.accelerators import ALLOCATED, UTILIZATION
from fabrichealth.model import Floats, View

MOMENTS = 9
"""Moments of a window at which it is looked who had an accelerator."""

UNNAMED, UNSAID = -2, -3
"""Beside NOBODY, in place of a job: one that is not named; nothing is known."""


@dataclass(frozen=True, eq=False)
class Tenure:
    """Who had some accelerators for most of a window; no two of them hold for one."""

    job: Places
    """The job, as its place in `told.rows` ([n]); NOBODY where none had it so long."""
    unnamed: Bools
    """A job that is not named had it ([n])."""
    turns: Bools
    """Several jobs in turn had it, none of them for long ([n])."""
    late: Bools
    """None had it, but one does now ([n])."""


def tenure(view: View, stock: Inventory, found: Allocation, rows: Rows) -> Tenure:
    """Return who had accelerators, as rows of the inventory, while they were watched."""
    state, now = found.of([stock.names[row] for row in rows.tolist()])
    none = np.zeros(len(rows), np.bool_)
    start = np.nanmin(view[UTILIZATION].at, initial=view.now)
    if start >= view.now:
        return Tenure(now, none, none, none)
    had, of_row = _had(view, stock, found, rows, np.linspace(start, view.now, MOMENTS))
    own = np.where(now != NOBODY, of_row[now], _unnamed(state))
    still = _share(had == own[:, None], had != UNSAID) > 0.5  # of what is known, so is it now
    job = np.where(still, now, NOBODY)
    open_ = ~still
    for number in np.unique(had[open_ & (had >= 0).any(axis=1)]).tolist():
        most = open_ & _most(had == number)
        if number >= 0 and most.any():
            job[most] = np.flatnonzero(of_row[:-1] == number)[-1]
            open_ &= ~most
    unnamed = open_ & _most(had == UNNAMED)
    turns = open_ & ~unnamed & _most((had >= 0) | (had == UNNAMED))
    free = _share(had == NOBODY, had != UNSAID) > 0.5
    late = open_ & free & ((own >= 0) | (own == UNNAMED))
    undecided = open_ & ~unnamed & ~turns & ~late
    job[undecided] = now[undecided]  # half and half, or too little is known: as it is now
    return Tenure(job, unnamed, turns, late)


def _had(
    view: View, stock: Inventory, found: Allocation, rows: Rows, at: Floats
) -> tuple[Places, Places]:
    """Return who had each at each moment ([n, k]), and the code of each of `told.rows`.

    Jobs go by their names: one that is told anew, on more accelerators, is the same.
    """
    told = found.told.rows
    code = {name: number for number, name in enumerate(dict.fromkeys(row.name for row in told))}
    of_row = np.array([*(code[row.name] for row in told), NOBODY], np.intp)
    since = np.array([*(row.since for row in told), np.inf])
    names = [stock.names[row] for row in rows.tolist()]
    place = found.during(names, at)
    read, read_at, ever = _read(view, stock, rows, at)
    alone = ~ever & (found.of(names)[0] != UNKNOWN) & ~np.isin(names, found.silent)
    with np.errstate(invalid="ignore"):
        ended = (read < 0.5) & (read_at >= since[place])
    had = np.where(ended, NOBODY, of_row[place])
    had[(had == NOBODY) & (read >= 0.5)] = UNNAMED
    had[np.isnan(read) & ~alone[:, None]] = UNSAID
    return had, of_row


def _read(view: View, stock: Inventory, rows: Rows, at: Floats) -> tuple[Floats, Floats, Bools]:
    """Return what the scheduler said at each moment and when ([n, k]), and of whom it ever did."""
    window = view[ALLOCATED]
    read = np.full((len(rows), len(at)), np.nan)
    read_at = read.copy()
    place = np.full(len(stock), -1, np.intp)
    known = stock.places(window)
    inside = np.flatnonzero(known >= 0)
    place[known[inside]] = inside
    there = place[rows] >= 0
    if there.any():
        mine = window.select(place[rows][there])
        read[there] = held(mine, at)
        read_at[there] = held(replace(mine, values=mine.times), at)
    return read, read_at, there


def _unnamed(state: States) -> Places:
    """Return what stands in place of a job where none is known ([n])."""
    return np.select([state == HELD, state == FREE], [UNNAMED, NOBODY], UNSAID).astype(np.intp)


def _most(those: Bools) -> Bools:
    """Return of whom something is so at most of all moments ([n] from [n, k])."""
    return np.asarray(those.mean(axis=1) > 0.5, np.bool_)


def _share(those: Bools, known: Bools) -> Floats:
    """Return at what share of the moments that are known something is so ([n] from [n, k])."""
    return np.asarray((those & known).sum(axis=1) / np.maximum(known.sum(axis=1), 1), np.float64)
