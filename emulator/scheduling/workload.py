"""Workload: hosts with accelerators, the jobs on them, and those that wait."""

from dataclasses import dataclass, field

from emulator.plan import Plan

FIRST = "pretrain"
"""The job that has everything at first."""

DAY = 86_400.0


@dataclass
class Job:
    """A job; its accelerators are indices by host, none while it waits."""

    name: str
    size: int
    since: float
    placed: dict[str, tuple[int, ...]] = field(default_factory=dict)
    reason: str = "Resources"
    """Why it waits."""


@dataclass
class Workload:
    """What a scheduler has in hand; changed by whoever emulates."""

    hosts: dict[str, int]
    """Accelerators of each host."""
    jobs: list[Job] = field(default_factory=list)
    drained: set[str] = field(default_factory=set)
    now: float = 0.0

    def place(self, name: str, since: float, **placed: tuple[int, ...]) -> Job:
        """Let a job run on accelerators of hosts; `_` in a keyword stands for `-`."""
        own = {host.replace("_", "-"): taken for host, taken in placed.items()}
        job = Job(name, sum(map(len, own.values())), since, own)
        self.jobs.append(job)
        return job

    def queue(self, name: str, size: int, since: float, reason: str = "Resources") -> Job:
        """Let a job wait."""
        job = Job(name, size, since, reason=reason)
        self.jobs.append(job)
        return job

    def end(self, name: str) -> None:
        """Let a job be gone."""
        self.jobs = [job for job in self.jobs if job.name != name]

    @classmethod
    def of_one_job(cls, plan: Plan, now: float) -> "Workload":
        """Return a plan's hosts, all of whose accelerators one job has had for days."""
        hosts = dict.fromkeys(plan.hosts, plan.accelerators)
        whole = {host: tuple(range(many)) for host, many in hosts.items()}
        job = Job(FIRST, sum(hosts.values()), now - 5 * DAY, whole)
        return cls(hosts, [job], now=now)

    def holds(self, host: str, accelerator: str) -> bool:
        """Return whether a job has an accelerator."""
        return int(accelerator.rpartition("-")[2]) in self.held(host)

    def held(self, host: str) -> list[int]:
        """Return the accelerators of a host that jobs have."""
        return sorted(one for job in self.jobs for one in job.placed.get(host, ()))
