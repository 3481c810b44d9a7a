"""Cluster: hosts, jobs and the queue of one scheduler, under the scheduler's own names."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fabrichealth.model import Reason

ByHost = dict[str, tuple[str, ...]]
"""Accelerators by the host that holds them: an index on the host, or a UUID."""


@dataclass(slots=True)
class Host:
    """One host; `total` accelerators of which `used` are held, None where that is not told.

    `held` are those that jobs have by index or UUID, where it is known which; else None.
    """

    name: str
    schedulable: bool
    total: int | None = None
    used: int | None = None
    held: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that holds `size` accelerators; `accelerators` by host, those known by name only."""

    name: str
    size: int
    since: float | None
    hosts: tuple[str, ...]
    accelerators: ByHost = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether all of its accelerators are known by name."""
        return sum(map(len, self.accelerators.values())) == self.size


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that waits for `size` accelerators on any of some hosts (None: any host at all)."""

    name: str
    size: int
    since: float | None
    hosts: frozenset[str] | None = None
    tasks: int = 1
    """Jobs of the same size that one row stands for."""


@dataclass(slots=True)
class Cluster:
    """What one visit told; None for a list that was not had."""

    hosts: list[Host] | None = None
    running: list[RunningJob] | None = None
    waiting: list[WaitingJob] | None = None
    refused: list[tuple[Reason, str, dict[str, str], object]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Lists that were asked for and not had as a whole."""
    unread: set[str] = field(default_factory=set)
    """Jobs of which it is not known whether they run or wait."""
    whole: bool = True
    """Whether a job that is not listed is none: no row of unknown name is missing."""
    at: float | None = None
    """When the scheduler itself says it was, unix seconds."""

    def malformed(self, rows: Iterable[tuple[str, str]]) -> None:
        """Refuse rows that could not be read: what they are, and what they said."""
        self.refused += [(Reason.MALFORMED, what, {}, said) for what, said in rows]
