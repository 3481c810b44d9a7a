"""Counting: how many recoveries took how long, as a histogram that no restart takes back.

A recovery counts once, when all of it is over: its cause gone, and what was drained for it back in
service. One that never comes back counts after a week with the phases that ended. Drills are not
counted: they say how well people are trained, not how often things break. Nor is what an operator
calls false before it counts.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from analyzer.incidents.word import SAYS, words
from analyzer.recovery.cases import Case, case_of, is_drill
from analyzer.recovery.phases import phases
from fabrichealth.catalogue.verdicts import (
    RECOVERY_BOUNDS,
    RECOVERY_BUCKET,
    RECOVERY_COUNT,
    RECOVERY_SUM,
)
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Incident, Labels, Place
from fabrichealth.topology import Topology

PATIENCE = 7 * 86_400.0
"""Seconds after its cause was gone for which what was drained may stay out of service."""

BUCKETS = (*map(str, RECOVERY_BOUNDS), "+Inf")


@dataclass
class Counts:
    """Durations by upper bound; the last of `counts` are beyond all bounds."""

    counts: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(RECOVERY_BOUNDS, seconds)] += 1
        self.total += seconds


@dataclass
class Recoveries:
    """What was recovered from so far, and what is closed and not yet back in service."""

    waiting: list[Case] = field(default_factory=list)
    counted: dict[tuple[str, str], Counts] = field(default_factory=dict)
    """By domain and phase."""

    def close(self, incident: Incident, topology: Topology) -> None:
        """Take in an incident that closed."""
        case = case_of(incident, topology)
        if case is not None:
            self.waiting.append(case)

    def advance(
        self,
        now: float,
        events: Sequence[Event],
        topology: Topology,
        standing: Iterable[Incident] = (),
    ) -> None:
        """Count the recoveries that are over by now; events are in order of time.

        `standing` are the incidents that are open: what is done to their parts is about them.
        """
        still = []
        begun = self._begun(standing)
        said = words(events) if self.waiting else {}
        for case in (_followed(one, begun) for one in self.waiting):
            if case.incident in said and SAYS[said[case.incident].kind] == "false":
                continue
            again = inf if case.again_at is None else case.again_at
            found = phases(case, events, topology, now, again)
            over = all(phase.over for phase in found if phase.name == "all")
            if not over and now - (case.closed_at or now) < PATIENCE:
                still.append(case)
                continue
            for phase in found if not is_drill(case, events, topology) else ():
                if phase.over:
                    key = (case.domain, phase.name)
                    self.counted.setdefault(key, Counts()).add(phase.seconds)
        self.waiting = still

    def _begun(self, standing: Iterable[Incident]) -> Mapping[Place, list[float]]:
        """Return by part when its incidents began, of those that are open or wait."""
        found: dict[Place, list[float]] = {}
        for case in self.waiting:
            found.setdefault(case.place, []).append(case.opened_at)
        for incident in standing if found else ():
            place = Place(incident.culprit.type, incident.culprit.id)
            if place in found and incident.confirmed_at is not None:
                found[place].append(incident.opened_at)
        return found

    def rows(self) -> Iterator[tuple[Metric, Labels, float]]:
        """Yield the histogram: cumulative buckets, sum and count of each domain and phase."""
        for labels, one in self.counted.items():
            below = 0
            for bound, count in zip(BUCKETS, one.counts, strict=True):
                below += count
                yield RECOVERY_BUCKET, (*labels, bound), float(below)
            yield RECOVERY_SUM, labels, one.total
            yield RECOVERY_COUNT, labels, float(below)

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        return {
            "waiting": [case.to_json() for case in self.waiting],
            "bounds": list(RECOVERY_BOUNDS),
            "counted": [[*key, one.counts, one.total] for key, one in self.counted.items()],
        }


def _followed(case: Case, begun: Mapping[Place, list[float]]) -> Case:
    """Return a case with when the next incident of its part began, as soon as one has."""
    if case.again_at is not None or case.closed_at is None:
        return case
    later = [at for at in begun[case.place] if at > case.closed_at]
    return replace(case, again_at=min(later)) if later else case


def recoveries_of(plain: Mapping[str, Any]) -> Recoveries:
    """Read back what `to_json` gave; counts by other bounds than today's begin anew.

    Raises:
        TypeError, KeyError, ValueError: it is of another form.
    """
    found = Recoveries([Case(**one) for one in plain.get("waiting", ())])
    if plain.get("bounds") == list(RECOVERY_BOUNDS):
        for domain, phase, counts, total in plain["counted"]:
            numbers = [int(count) for count in counts]
            if len(numbers) != len(BUCKETS):
                raise ValueError(f"{len(numbers)} buckets of {len(BUCKETS)}")
            found.counted[str(domain), str(phase)] = Counts(numbers, float(total))
    return found
