"""Changes: what of jobs is new since the visit before, as events (contract 4).

A job that is met running began when the scheduler says so; one that is listed no more has ended, or
was cancelled while it waited. A list that was not had changes nothing. What is told survives
restarts, so that nothing is told twice; a job that runs on is told anew each week, for whoever
forgets what is older than a month.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from collectors.scheduler.cluster import Cluster, RunningJob, WaitingJob
from collectors.scheduler.telling import Names, domain_of, named
from fabrichealth.events import Event

TOLD_AGAIN = 7 * 86_400.0
"""Seconds after which a job that still runs is told anew."""

MOST_JOBS = 200_000
"""Jobs that are followed at a time; a list beyond that is none of a scheduler."""


@dataclass(frozen=True, slots=True)
class _Run:
    told_at: float
    accelerators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Wait:
    size: int
    domain: str


class JobChanges:
    """The jobs of one scheduler as they were told last."""

    def __init__(self) -> None:
        self._running: dict[str, _Run] = {}
        self._waiting: dict[str, _Wait] = {}

    def events(self, cluster: Cluster, names: Names, at: float) -> list[Event]:
        """Return what changed, oldest first, and take note of it."""
        found: list[Event] = []
        running, waiting = cluster.running, cluster.waiting
        if running is not None:
            found += self._runs(running[:MOST_JOBS], names, at)
        if waiting is not None:
            found += self._waits(waiting[:MOST_JOBS], names, at, known=running is not None)
        return sorted(found, key=lambda event: (event.at, event.kind != "job_end"))

    def memory(self) -> dict[str, Any]:
        """Return what must survive a restart."""
        kept: dict[str, Any] = {}
        if self._running:
            runs = self._running.items()
            kept["running"] = {name: [one.told_at, *one.accelerators] for name, one in runs}
        if self._waiting:
            waits = self._waiting.items()
            kept["waiting"] = {name: [one.size, one.domain] for name, one in waits}
        return kept

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up `memory` of before the restart; what cannot be used is ignored."""
        running, waiting = memory.get("running"), memory.get("waiting")
        for name, row in running.items() if isinstance(running, dict) else ():
            match row:
                case [int() | float() as told_at, *accelerators] if isfinite(told_at):
                    names = tuple(one for one in accelerators if isinstance(one, str))
                    self._running[str(name)] = _Run(float(told_at), names)
        for name, row in waiting.items() if isinstance(waiting, dict) else ():
            match row:
                case [int() as size, str() as domain]:
                    self._waiting[str(name)] = _Wait(size, domain)

    def _runs(self, running: list[RunningJob], names: Names, at: float) -> Iterator[Event]:
        now: dict[str, _Run] = {}
        taken: dict[str, float] = {}
        """When a job that is new began, by accelerator."""
        for job in running:
            by_host = named(job, names)
            every = tuple(sorted({one for mine in by_host.values() for one in mine}))
            before = self._running.get(job.name)
            if (
                before is not None
                and before.accelerators == every
                and at - before.told_at < TOLD_AGAIN
            ):
                now[job.name] = before
                continue
            now[job.name] = _Run(at, every)
            began = min(job.since, at) if before is None and job.since is not None else at
            taken.update(dict.fromkeys(every, began))
            more: dict[str, Any] = {"accelerators": list(every), "size": job.size}
            if not job.known:
                more["hosts"] = [names.host(one) for one in job.hosts]
            yield Event(began, "job_start", {"job": job.name}, more=more)
        for name in self._running.keys() - now.keys():
            # it had ended when the next one began, whenever we came by
            next_began = (taken.get(one, at) for one in self._running[name].accelerators)
            yield Event(min(next_began, default=at), "job_end", {"job": name})
        self._running = now

    def _waits(
        self, waiting: list[WaitingJob], names: Names, at: float, *, known: bool
    ) -> Iterator[Event]:
        now: dict[str, _Wait] = {}
        for job in waiting:
            if not job.size:
                continue
            row = now[job.name] = _Wait(job.size, domain_of(job, names))
            if self._waiting.get(job.name) == row:
                continue
            since = at if job.since is None or job.name in self._waiting else min(job.since, at)
            scope = {"job": job.name} | ({"domain": row.domain} if row.domain else {})
            more = {"size": job.size} | ({"tasks": job.tasks} if job.tasks > 1 else {})
            yield Event(since, "job_pending", scope, more=more)
        for name in self._waiting.keys() - now.keys():
            if known and name not in self._running:
                yield Event(at, "job_cancelled", {"job": name})
        self._waiting = now
