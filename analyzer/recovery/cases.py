"""Cases: what is kept of incidents that somebody had to recover from.

One that was never confirmed (watch, info, suppressed), or that an operator called false, is none.
What part it was, and how many accelerators and jobs it hit, is noted while the incident still
knows: failures of a kind of part are compared by both.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from analyzer.evidence.domain.jobs import Jobs
from analyzer.incidents.scope import in_scope
from analyzer.incidents.spans import spans
from fabrichealth.events import Event
from fabrichealth.model import Incident, Place
from fabrichealth.topology import Topology

LONGEST = 86_400.0
"""Seconds that a drill lasts whose end nobody told."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is kept of a confirmed incident to tell how it was recovered from."""

    incident: str
    kind: str
    cause: str
    domain: str
    part: str
    """What kind of part it was: switch, host, accelerator, optical link, feed, .."""
    type: str
    culprit: str
    opened_at: float
    confirmed_at: float
    closed_at: float | None
    accelerators: int
    jobs: int
    """How many of both it hit."""
    again_at: float | None = None
    """When the next incident of the same part began (unix seconds), where that is known."""

    @property
    def place(self) -> Place:
        """The culprit."""
        return Place(self.type, self.culprit)

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        return asdict(self)


def case_of(incident: Incident, topology: Topology, told: Jobs | None = None) -> Case | None:
    """Return what is kept of an incident; None for one that nobody had to recover from.

    `told` knows the accelerators of each job: those of a job that is hit are hit.
    """
    word = incident.operator
    if incident.confirmed_at is None or (word is not None and word.says == "false"):
        return None
    accelerators, hit_jobs = hit(incident, topology, told or Jobs())
    return Case(
        incident.incident,
        incident.kind.name,
        incident.cause.value if incident.cause else "",
        incident.domain or "",
        part_of(incident.culprit, topology),
        incident.culprit.type,
        incident.culprit.id,
        incident.opened_at,
        incident.confirmed_at,
        incident.closed_at,
        accelerators,
        hit_jobs,
    )


def part_of(culprit: Place, topology: Topology) -> str:
    """Return what kind of part a culprit is, so that like is counted with like.

    A port is part of its device, and a branch of its loop: nobody counts either by itself.
    """
    if culprit.type == "port":
        culprit = Place("device", culprit.id.partition("/")[0])
    elif culprit.type == "branch":
        culprit = Place("loop", culprit.id.partition("/")[0])
    if culprit.type == "device" and culprit.id in topology.devices:
        return topology.devices[culprit.id].role
    if culprit.type == "link" and culprit.id in topology.links:
        medium = topology.links[culprit.id].medium
        return f"{medium} link" if medium else "link"
    return culprit.type


def hit(incident: Incident, topology: Topology, told: Jobs) -> tuple[int, int]:
    """Return how many accelerators and jobs an incident hit: the culprit's own, and victims'."""
    places = (incident.culprit, *incident.victims)
    own = topology.held_by(place for place in places if place.type != "job")
    devices, stopped = set(own), {place.id for place in places if place.type == "job"}
    since, until = incident.opened_at, inf if incident.closed_at is None else incident.closed_at
    for name in stopped:
        for job in told.hit(name, since, until, own):
            devices.update(job.accelerators)
    rows = (topology.devices.get(name) for name in devices)
    return sum(row is not None and row.role == "accelerator" for row in rows), len(stopped)


def is_drill(case: Case, events: Iterable[Event], topology: Topology) -> bool:
    """Return whether a fault was made on purpose: it opened during a drill that it lies in.

    A drill without a scope is of the whole site; one that nobody ended is over after `LONGEST`, or
    a forgotten end would make drills of all faults to come.
    """
    known = (event for event in events if event.at <= case.opened_at)
    return any(
        one.end > case.opened_at and (not one.scope or in_scope(case.place, one.scope, topology))
        for one in spans(known, "drill", LONGEST)
    )
