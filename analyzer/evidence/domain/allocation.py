"""Allocation: which accelerator is held, which is free, of which nobody knows, and by which job.

The scheduler's series says of each accelerator whether a job holds it; events say which job, and
stand alone where no scheduler is read. The younger word counts. A scheduler that fell silent
leaves its accelerators unknown, which is neither free nor held; so are those of a domain of which
nobody ever spoke.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.jobs import Job, Jobs, Oddity, Waiting, jobs
from analyzer.evidence.durations import fresh
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View

States = NDArray[np.int8]
Places = NDArray[np.intp]

UNKNOWN, FREE, HELD = -1, 0, 1
"""States of an accelerator, as int8."""

NOBODY = -1
"""In place of a job: none, or none that is known."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """Who holds what at `at` (unix seconds); accelerators by name, in byte order."""

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

    @cached_property
    def place(self) -> dict[str, int]:
        """Where each accelerator stands in `names`."""
        return {name: place for place, name in enumerate(self.names)}

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
    topology = view.topology
    inventory = {name for name, row in topology.devices.items() if row.role == "accelerator"}
    told = jobs(view.events, inventory)
    said, said_at, once = _said(view, ALLOCATED)
    named = {one for job in told.rows for one in job.accelerators}
    names = tuple(sorted(inventory | named | once, key=str.encode))
    place = {name: number for number, name in enumerate(names)}
    state = np.full(len(names), UNKNOWN, np.int8)
    read_at = np.full(len(names), -np.inf)
    for name, value in said.items():
        state[place[name]] = HELD if value >= 0.5 else FREE
        read_at[place[name]] = said_at[name]
    by_series = np.isin(np.array(names, object), list(once)) if once else np.zeros(len(names), bool)
    heard = state != UNKNOWN
    job = np.full(len(names), NOBODY, np.intp)
    began = np.full(len(names), -np.inf)
    for number, one in enumerate(told.rows):
        if one.runs(view.now):
            mine = [place[each] for each in one.accelerators]
            job[mine], began[mine] = number, one.since
    held = job != NOBODY
    # A series that calls it free after the job began knows of an end that no event told.
    job[held & heard & (state == FREE) & (read_at >= began)] = NOBODY
    held = job != NOBODY
    state[held & heard] = HELD
    spoken = {topology.domain_of(name) for name in once}
    journal = {topology.domain_of(name) for name in named} - spoken
    alone = np.array([topology.domain_of(name) in journal for name in names], np.bool_)
    alone &= ~by_series
    state[alone] = np.where(held[alone], HELD, FREE)
    job[state == UNKNOWN] = NOBODY
    counted, _, _ = _said(view, HOST_ALLOCATED)
    return Allocation(
        view.now,
        names,
        state,
        job,
        told,
        {host: round(count) for host, count in counted.items()},
        tuple(name for name in names if name in once and name not in said),
    )


def _said(view: View, metric: Metric) -> tuple[dict[str, float], dict[str, float], set[str]]:
    """Return by device what a series says now and when it did, and which ever had a series."""
    window = view[metric]
    table = window.table
    once = {table.labels(int(series))[0] for series in table.of(metric)}
    rows = np.flatnonzero(fresh(window) & np.isfinite(window.last)).tolist()
    names = [window.labels(row)[0] for row in rows]
    said = dict(zip(names, window.last[rows].tolist(), strict=True))
    return said, dict(zip(names, window.last_at[rows].tolist(), strict=True)), once
