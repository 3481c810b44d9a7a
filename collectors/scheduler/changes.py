"""Changes: what of jobs is new since the visit before, as events (contract 4).

A job that is met running began when the scheduler says so, but not before it was told to have
ended; one that is listed no more has ended, or was cancelled while it waited. A list that was not
had changes nothing, and a row that could not be read nothing of its job. What is told survives
restarts, so that nothing is told twice; a job that runs on is told anew each week, for whoever
forgets what is older than a month.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from collectors.scheduler.cluster import Cluster, RunningJob, WaitingJob
from collectors.scheduler.telling import Names, domain_of, home, named
from fabrichealth.events import Event

REMEMBERED = 86_400.0
"""Seconds for which it is known when a job was told to be over."""

TOLD_AGAIN = 7 * 86_400.0
"""Seconds after which a job that still runs is told anew."""

OVER = frozenset({"job_end", "job_cancelled"})

ORDER = ("job_end", "job_cancelled", "job_start", "job_pending")
"""Of events of one moment: what ends makes room for what begins."""

MOST_JOBS = 200_000
"""Jobs that are followed at a time; a list beyond that is none of a scheduler."""


@dataclass(frozen=True, slots=True)
class _Run:
    told_at: float
    accelerators: tuple[str, ...]
    size: int | None
    """How many it has, named or not; None as older versions kept it."""


@dataclass(frozen=True, slots=True)
class _Wait:
    size: int
    domain: str


class JobChanges:
    """The jobs of one scheduler as they were told last."""

    def __init__(self) -> None:
        self._running: dict[str, _Run] = {}
        self._waiting: dict[str, _Wait] = {}
        self._over: dict[str, float] = {}
        """When jobs were told to have ended or to be cancelled, those of a day."""

    def events(self, cluster: Cluster, names: Names, at: float) -> list[Event]:
        """Return what changed, oldest first, and take note of it."""
        found: list[Event] = []
        if cluster.running is not None:
            found += self._runs(cluster, cluster.running[:MOST_JOBS], names, at)
        if cluster.waiting is not None:
            began = {one.scope["job"]: one.at for one in found if one.kind == "job_start"}
            found += self._waits(cluster, cluster.waiting[:MOST_JOBS], names, at, began)
        self._over = {name: when for name, when in self._over.items() if at - when < REMEMBERED}
        self._over |= {one.scope["job"]: one.at for one in found if one.kind in OVER}
        return sorted(found, key=lambda event: (event.at, ORDER.index(event.kind)))

    def memory(self) -> dict[str, Any]:
        """Return what must survive a restart."""
        kept: dict[str, Any] = {}
        if self._running:
            runs = self._running.items()
            kept["running"] = {
                name: [one.told_at, one.size or 0, *one.accelerators] for name, one in runs
            }
        if self._waiting:
            waits = self._waiting.items()
            kept["waiting"] = {name: [one.size, one.domain] for name, one in waits}
        if self._over:
            kept["over"] = dict(self._over)
        return kept

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up `memory` of before the restart; what cannot be used is ignored."""
        running, waiting, over = (memory.get(key) for key in ("running", "waiting", "over"))
        for name, when in over.items() if isinstance(over, dict) else ():
            if isinstance(when, int | float) and isfinite(when):
                self._over[str(name)] = float(when)
        for name, row in running.items() if isinstance(running, dict) else ():
            match row:
                case [int() | float() as told_at, *more] if isfinite(told_at):
                    names = tuple(one for one in more if isinstance(one, str))
                    size = more[0] if more and isinstance(more[0], int) else 0
                    self._running[str(name)] = _Run(float(told_at), names, size or None)
        for name, row in waiting.items() if isinstance(waiting, dict) else ():
            match row:
                case [int() as size, str() as domain]:
                    self._waiting[str(name)] = _Wait(size, domain)

    def _runs(
        self, cluster: Cluster, running: list[RunningJob], names: Names, at: float
    ) -> Iterator[Event]:
        now: dict[str, _Run] = {}
        taken: dict[str, float] = {}
        """When a job that is new began, by accelerator."""
        for job in running:
            by_host = named(job, names)
            every = tuple(sorted({one for mine in by_host.values() for one in mine}))
            before = self._running.get(job.name)
            if before is not None and not job.known and _may_be(before.accelerators, job, names):
                every = before.accelerators  # as many as ever; which, this visit does not say
            if (
                before is not None
                and before.accelerators == every
                and before.size in {None, job.size}
                and at - before.told_at < TOLD_AGAIN
            ):
                now[job.name] = before
                continue
            now[job.name] = _Run(at, every, job.size)
            began = at if before is not None else self._since(job.name, job.since, at)
            taken.update(dict.fromkeys(every, began))
            more: dict[str, Any] = {"accelerators": list(every), "size": job.size}
            if len(every) != job.size:
                more["hosts"] = [names.host(one) for one in job.hosts]
            yield Event(began, "job_start", {"job": job.name}, more=more)
        for name in self._running.keys() - now.keys():
            if not cluster.whole or name in cluster.unread:
                now[name] = self._running[name]
                continue
            # it had ended when the next one began, whenever we came by
            next_began = (taken.get(one, at) for one in self._running[name].accelerators)
            yield Event(min(next_began, default=at), "job_end", {"job": name})
        self._running = now

    def _waits(
        self,
        cluster: Cluster,
        waiting: list[WaitingJob],
        names: Names,
        at: float,
        began: Mapping[str, float],
    ) -> Iterator[Event]:
        """Yield what changed of the queue; `began` are the jobs that were just told to run."""
        now: dict[str, _Wait] = {}
        own = home(cluster, names)
        for job in waiting:
            if not job.size:
                continue
            before = self._waiting.get(job.name)
            lost = before is not None and cluster.hosts is None
            domain = before.domain if before is not None and lost else domain_of(job, names, own)
            row = now[job.name] = _Wait(job.size, domain)
            if before == row and job.name not in began:
                continue
            since = at if job.name in self._waiting else self._since(job.name, job.since, at)
            scope = {"job": job.name} | ({"domain": row.domain} if row.domain else {})
            more = {"size": job.size} | ({"tasks": job.tasks} if job.tasks > 1 else {})
            yield Event(max(since, began.get(job.name, since)), "job_pending", scope, more=more)
        for name in self._waiting.keys() - now.keys():
            if cluster.running is None or not cluster.whole or name in cluster.unread:
                now[name] = self._waiting[name]
            elif name not in self._running:
                yield Event(at, "job_cancelled", {"job": name})
            elif name not in began:  # it runs on, and what it waited for besides was given up
                yield Event(at, "job_pending", {"job": name}, more={"size": 0})
        self._waiting = now

    def _since(self, name: str, since: float | None, at: float) -> float:
        """Return since when a job is what it is now: not before it was told to be over."""
        return at if since is None else max(min(since, at), self._over.get(name, since))


def _may_be(accelerators: tuple[str, ...], job: RunningJob, names: Names) -> bool:
    """Return whether a job may still have these: as many as it has, and on its hosts."""
    hosts = {names.host(one) for one in job.hosts}
    holders = {names.holder(one) for one in accelerators}
    return len(accelerators) == job.size and holders - {""} <= hosts
