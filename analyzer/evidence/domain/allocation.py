"""Allocation: which accelerator is held, which is free, of which nobody knows, and by which job.

The scheduler's series says of each accelerator whether a job holds it; events say which job, and
stand alone where no scheduler is read. The younger word counts. A scheduler that fell silent
leaves its accelerators unknown, which is neither free nor held; so are those of a domain of which
nobody ever spoke.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.inventory import NOWHERE, Inventory, inventory
from analyzer.evidence.domain.jobs import Job, Jobs, Oddity, Waiting, jobs
from analyzer.evidence.durations import fresh
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.model import Floats, View, Window

States = NDArray[np.int8]
Places = NDArray[np.intp]

UNKNOWN, FREE, HELD = -1, 0, 1
"""States of an accelerator, as int8."""

NOBODY = -1
"""In place of a job: none, or none that is known."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """Who holds what at `at` (unix seconds); the inventory's accelerators, then any others."""

    at: float
    names: tuple[str, ...]
    state: States
    """HELD, FREE or UNKNOWN ([a])."""
    job: Places
    """The job that holds it, as its place in `told.rows` ([a]); NOBODY where none is known."""
    told: Jobs
    on_host: Mapping[str, int] = field(default_factory=dict)
    """How many accelerators of a host are held, where the scheduler counts them now."""
    silent: tuple[str, ...] = ()
    """Accelerators whose scheduler spoke of them once and says nothing any more."""
    place: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Where each accelerator stands in `names`."""

    @property
    def known(self) -> bool:
        """Whether anything is known of any accelerator."""
        return bool((self.state != UNKNOWN).any() or self.on_host)

    @property
    def running(self) -> tuple[Job, ...]:
        """The jobs that hold accelerators now."""
        return self.told.running(self.at)

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The jobs that wait, as events tell it."""
        return self.told.waiting

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """What is said of jobs and cannot be so."""
        return self.told.oddities

    def of(self, names: Sequence[str]) -> tuple[States, Places]:
        """Return state and job of accelerators in an order of one's own ([n], [n])."""
        if names is self.names:
            return self.state, self.job
        found = np.array([self.place.get(name, -1) for name in names], np.intp)
        if not len(self.names):
            return np.full(len(found), UNKNOWN, np.int8), np.full(len(found), NOBODY, np.intp)
        known = found >= 0
        state = np.where(known, self.state[found], UNKNOWN).astype(np.int8)
        return state, np.where(known, self.job[found], NOBODY)

    def holder(self, name: str) -> Job | None:
        """Return the job that holds an accelerator now; None if none is known."""
        place = self.place.get(name)
        if place is None or self.job[place] == NOBODY:
            return None
        return self.told.rows[int(self.job[place])]

    def during(self, names: Sequence[str], at: Floats) -> Places:
        """Return which job held each accelerator at each moment ([n, k] from at [k], ascending).

        As events tell it: places in `told.rows`, NOBODY where no job is known to have held it.
        """
        row = {name: place for place, name in enumerate(names)}
        found = np.full((len(names), len(at)), NOBODY, np.intp)
        for number, job in enumerate(self.told.rows):
            first, last = np.searchsorted(at, [job.since, job.until])
            mine = [row[one] for one in job.accelerators if one in row]
            if mine and last > first:
                found[mine, first:last] = number
        return found


def allocation(view: View) -> Allocation:
    """Return who holds what now, by the scheduler's series and by events."""
    key = ("allocation", view[ALLOCATED].seconds)
    return view.once(key, lambda: _allocation(view))


def _allocation(view: View) -> Allocation:
    stock, window = inventory(view), view[ALLOCATED]
    told = jobs(view.events, stock if len(stock) else None)
    every = window.table.of(ALLOCATED)
    inside = stock.places_in(window.table, ALLOCATED)
    strangers = {window.table.labels(int(series))[0] for series in every[inside < 0].tolist()}
    strangers |= {one for job in told.rows for one in job.accelerators if one not in stock}
    names, place = _roster(stock, tuple(sorted(strangers, key=str.encode)))
    once = inside.copy()
    for row in np.flatnonzero(inside < 0).tolist():
        once[row] = place[window.table.labels(int(every[row]))[0]]
    state, read_at = _by_series(window, once[np.searchsorted(every, window.series)], len(names))
    job, began = _by_events(told, view.now, place)
    heard = state != UNKNOWN
    # A series that calls it free after the job began knows of an end that no event told.
    job[heard & (state == FREE) & (read_at >= began)] = NOBODY
    state[heard & (job != NOBODY)] = HELD
    alone = _by_events_alone(view, stock, told, once, len(names), place)
    state[alone] = np.where(job[alone] != NOBODY, HELD, FREE)
    job[state == UNKNOWN] = NOBODY
    ever = np.zeros(len(names), np.bool_)
    ever[once] = True
    silent = tuple(names[row] for row in np.flatnonzero(ever & ~heard).tolist())
    return Allocation(view.now, names, state, job, told, _counted(view), silent, place)


@lru_cache(maxsize=4)
def _roster(stock: Inventory, strangers: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the inventory's names and then others that are spoken of, and the place of each."""
    names = (*stock.names, *strangers) if strangers else stock.names
    return names, {name: place for place, name in enumerate(names)}


def _by_series(window: Window, places: Places, many: int) -> tuple[States, Floats]:
    """Return what the scheduler says now ([a]), and when it did; UNKNOWN where it is silent."""
    state, read_at = np.full(many, UNKNOWN, np.int8), np.full(many, -np.inf)
    rows = np.flatnonzero(fresh(window) & np.isfinite(window.last))
    state[places[rows]] = np.where(window.last[rows] >= 0.5, HELD, FREE)
    read_at[places[rows]] = window.last_at[rows]
    return state, read_at


def _by_events(told: Jobs, now: float, place: Mapping[str, int]) -> tuple[Places, Floats]:
    """Return the job that each accelerator is in ([a]), and since when; the later has it."""
    job, began = np.full(len(place), NOBODY, np.intp), np.full(len(place), -np.inf)
    for number, one in enumerate(told.rows):
        if one.runs(now):
            mine = [place[each] for each in one.accelerators]
            job[mine], began[mine] = number, one.since
    return job, began


def _by_events_alone(
    view: View, stock: Inventory, told: Jobs, once: Places, many: int, place: Mapping[str, int]
) -> NDArray[np.bool_]:
    """Return the accelerators of domains in which jobs ran and no scheduler was ever read ([a])."""
    domain = np.full(many, NOWHERE, np.int64)
    domain[: len(stock)] = stock.domain.code
    named = [place[one] for job in told.rows for one in job.accelerators]
    journal = np.setdiff1d(domain[named], domain[once])
    return np.asarray(np.isin(domain, journal), np.bool_)


def _counted(view: View) -> dict[str, int]:
    """Return how many accelerators of each host are held, as far as the scheduler counts now."""
    window = view[HOST_ALLOCATED]
    rows = np.flatnonzero(fresh(window) & np.isfinite(window.last)).tolist()
    return {window.labels(row)[0]: round(float(window.last[row])) for row in rows}
