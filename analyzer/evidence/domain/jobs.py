"""Jobs: which ran when on which accelerators, and which wait, as events tell it (contract 4).

Events come from a scheduler that is read, or from a file that a site writes, so they may be odd:
ends without a beginning, accelerators in two jobs, names that nobody knows. What can be used is
used, and what is odd is said.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from fabrichealth.events import Event

OVER = frozenset({"job_end", "job_cancelled"})


@dataclass(frozen=True, slots=True)
class Job:
    """One job on one set of accelerators; one that grows or shrinks has a row for each set.

    It holds them in [since, until) (unix seconds; `until` is infinite while it runs).
    """

    name: str
    since: float
    until: float
    accelerators: tuple[str, ...]
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Accelerators by what they do in the job (stage of a pipeline), where the event says so."""

    def runs(self, at: float) -> bool:
        """Return whether it holds its accelerators at a moment."""
        return self.since <= at < self.until


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that waits for so many accelerators since then; `domain` is empty where any will do."""

    name: str
    size: int
    since: float
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something that is said of jobs and cannot be so, or cannot be used."""

    what: str
    """two_jobs, unknown_accelerator or unreadable_event."""
    job: str
    accelerator: str
    says: str
    since: float = 0.0
    """Since when it is so (unix seconds)."""
    until: float = inf


@dataclass(frozen=True, eq=False)
class Jobs:
    """What events tell of jobs, by the beginning."""

    rows: tuple[Job, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    unreadable: tuple[Oddity, ...] = ()
    known: Container[str] | None = None
    """Accelerators of the inventory; None where there is no such, and none is odd for it."""

    def running(self, at: float) -> tuple[Job, ...]:
        """Return those that hold accelerators at a moment."""
        return tuple(job for job in self.rows if job.runs(at))

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Job, ...]]:
        """The rows of each job, by the beginning."""
        found: dict[str, list[Job]] = {}
        for row in self.rows:
            found.setdefault(row.name, []).append(row)
        return {name: tuple(mine) for name, mine in found.items()}

    def hit(self, name: str, since: float, until: float, devices: Set[str]) -> list[Job]:
        """Return the rows of a job that was hit by what stood from `since` until then.

        Those with accelerators among its `devices`; of a job that only crosses these, the one it
        had when that began. A job that restarted elsewhere has left it behind.
        """
        rows = [
            row for row in self.by_name.get(name, ()) if row.since < until and row.until > since
        ]
        own = [row for row in rows if not devices.isdisjoint(row.accelerators)]
        return own or [
            row for row in rows if not set(rows[0].accelerators).isdisjoint(row.accelerators)
        ]

    @cached_property
    def oddities(self) -> tuple[Oddity, ...]:
        """All that is odd, worked out where somebody asks: months of jobs are many."""
        unknown = _unknown(self.rows, self.known) if self.known is not None else ()
        return (*self.unreadable, *unknown, *_contested(self.rows))


def jobs(events: Iterable[Event], known: Container[str] | None = None) -> Jobs:
    """Return the jobs that events in order of time speak of; `known` names the inventory."""
    running: dict[str, Job] = {}
    renewed: dict[str, Job] = {}
    """As a start told it last of a job that ran: its end in the same moment is the old one's."""
    waiting: dict[str, Waiting] = {}
    ended: list[Job] = []
    odd: list[Oddity] = []
    for event in events:
        if not event.kind.startswith("job_"):
            continue
        name = event.scope.get("job") or event.id
        if not name:
            says = f"a {event.kind} at {event.at:.0f} names no job; give scope: job"
            odd.append(Oddity("unreadable_event", "", "", says, event.at))
        elif event.kind == "job_start":
            waiting.pop(name, None)
            job, trouble = _started(name, event)
            odd += trouble
            before = running.get(name)
            if before is not None:
                job = renewed[name] = _told_again(before, job)
                if set(before.accelerators) == set(job.accelerators):
                    running[name] = replace(before, roles=job.roles)
                    continue
                ended.append(replace(before, until=event.at))
            running[name] = job
        elif event.kind == "job_pending":
            odd += _waits(name, event, waiting)
        elif event.kind in OVER:
            waiting.pop(name, None)
            again = renewed.pop(name, None)
            if again is not None and again.since < event.at:
                again = None
            if name in running and (again is None or running[name].since < event.at):
                ended.append(replace(running.pop(name), until=event.at))
            if again is not None:
                running[name] = again  # the end was written after the start that it made room for
    rows = sorted((*ended, *running.values()), key=lambda job: (job.since, job.name))
    return Jobs(tuple(rows), tuple(waiting.values()), tuple(odd), known)


def _waits(name: str, event: Event, waiting: dict[str, Waiting]) -> Iterator[Oddity]:
    """Take note of what a job waits for, and yield what is odd about it."""
    size = event.more.get("size")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        says = f"job {name} waits for {size!r} accelerators; give a whole number"
        yield Oddity("unreadable_event", name, "", says, event.at)
    elif not size:
        waiting.pop(name, None)  # a job that runs waits for nothing more
    else:
        since = waiting[name].since if name in waiting else event.at
        waiting[name] = Waiting(name, size, since, event.scope.get("domain", ""))


def _told_again(before: Job, job: Job) -> Job:
    """Return a start of a job that runs, with what an earlier one told and it leaves out.

    A scheduler tells accelerators and no roles, a site's own file perhaps roles only.
    """
    roles = job.roles or before.roles
    if set(before.accelerators) != set(job.accelerators):
        kept = set(job.accelerators)  # roles of a job that moved or shrank are not known
        roles = roles if all(kept.issuperset(those) for those in roles.values()) else {}
    return replace(job, roles=roles)


def _started(name: str, event: Event) -> tuple[Job, list[Oddity]]:
    """Return the job that an event begins; what is no list of names in it holds nothing."""
    odd: list[Oddity] = []

    def names(given: object, what: str) -> Sequence[str]:
        listed = given if isinstance(given, list | tuple) else []
        found = dict.fromkeys(one for one in listed if isinstance(one, str) and one)
        if given is not None and (listed is not given or len(found) != len(listed)):
            says = f"{what} of job {name}: not a list of different names"
            odd.append(Oddity("unreadable_event", name, "", says, event.at))
        return tuple(found)

    given = event.more.get("roles")
    roles = {
        str(role): tuple(names(those, f"role {role}"))
        for role, those in (given.items() if isinstance(given, Mapping) else ())
    }
    own = names(event.more.get("accelerators"), "accelerators")
    every = dict.fromkeys((*own, *(one for those in roles.values() for one in those)))
    return Job(name, event.at, inf, tuple(every), roles), odd


def _unknown(rows: Sequence[Job], known: Container[str]) -> Iterator[Oddity]:
    for job in rows:
        for one in job.accelerators:
            if one not in known:
                says = f"job {job.name} holds {one}, which is not in the inventory"
                yield Oddity("unknown_accelerator", job.name, one, says, job.since, job.until)


def _contested(rows: Sequence[Job]) -> Iterator[Oddity]:
    """Yield accelerators that a job takes while another still holds them."""
    holder: dict[str, Job] = {}
    for job in rows:
        for one in job.accelerators:
            other = holder.get(one)
            if other is not None and other.name != job.name and job.since < other.until:
                says = f"job {job.name} holds {one}, which job {other.name} has not given back"
                both = min(job.until, other.until)
                yield Oddity("two_jobs", job.name, one, says, job.since, both)
            if other is None or job.until >= other.until:
                holder[one] = job
