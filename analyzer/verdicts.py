"""Verdict series: what judging tells /metrics and the store."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from analyzer.incidents.covering import covered
from analyzer.incidents.restraint import PER_LINKS
from analyzer.incidents.scope import domain_of
from analyzer.ledger import Ledger
from fabrichealth.catalogue.verdicts import (
    DRAIN_SAFE,
    EVENT_ACTIVE,
    INCIDENT_ACTIVE,
    INCIDENT_COVERS,
    INCIDENT_INFO,
    INCIDENT_OWNER,
    INCIDENT_SILENCED,
    INCIDENTS,
    PAGES,
    PAGES_ACCEPTED,
)
from fabrichealth.catalogue.watchers import ANALYSIS_COVERAGE, ANALYSIS_SECONDS
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Place
from fabrichealth.topology import Topology


class Verdict(NamedTuple):
    """One value of one verdict series."""

    metric: Metric
    labels: Labels
    value: float


def verdicts(
    ledger: Ledger,
    cost: Mapping[str, tuple[float, float]],
    topology: Topology | None = None,
) -> list[Verdict]:
    """Return the verdict series of one pass; `cost` is (seconds, coverage) by detector.

    With a topology also what the incidents account for.
    """
    found: list[Verdict] = []
    for incident in ledger.incidents:
        domain, culprit = incident.domain or "", incident.culprit.id
        if incident.suppressed_by is None:
            labels = (incident.incident, domain, culprit)
            found.append(Verdict(INCIDENT_ACTIVE, labels, float(incident.severity)))
        info = (
            incident.incident,
            incident.kind.name,
            str(incident.severity),
            incident.cause.value if incident.cause else "",
            culprit,
            incident.suppressed_by or "",
        )
        found.append(Verdict(INCIDENT_INFO, info, 1.0))
        found.append(Verdict(INCIDENT_OWNER, (incident.incident, *incident.owner), 1.0))
        rows = covered(incident, topology) if topology is not None else []
        found += [
            Verdict(
                INCIDENT_COVERS,
                (incident.incident, incident.kind.name, *row),
                float(incident.severity),
            )
            for row in rows
        ]
        if incident.operator is not None and incident.operator.silent:
            said = (incident.incident, incident.operator.says)
            found.append(Verdict(INCIDENT_SILENCED, said, 1.0))
        if incident.culprit.type == "link" and incident.safe_to_drain is not None:
            found.append(Verdict(DRAIN_SAFE, (culprit,), float(incident.safe_to_drain)))
    for key, count in ledger.opened.items():
        found.append(Verdict(INCIDENTS, key, float(count)))
    found += [Verdict(*row) for row in ledger.recoveries.rows()]
    for name, (seconds, coverage) in cost.items():
        found.append(Verdict(ANALYSIS_SECONDS, (name,), seconds))
        found.append(Verdict(ANALYSIS_COVERAGE, (name,), coverage))
    return found


def accepted(topology: Topology, per_week_per_10k_links: float) -> dict[str, float]:
    """Return how many pages a week are accepted for the links of each domain, "" those of none."""
    links = _links_of_domains(topology)
    names = sorted({"", *topology.domains, *links})
    return {name: per_week_per_10k_links * links[name] / PER_LINKS for name in names}


@lru_cache(maxsize=4)
def _links_of_domains(topology: Topology) -> Counter[str]:
    """Return how many links each domain has, "" those of none or of several."""
    return Counter(domain_of(Place("link", name), topology) or "" for name in topology.links)


def budget(paged: Mapping[str, int], a_week: Mapping[str, float]) -> list[Verdict]:
    """Return by domain how many pages there were, and how many a week are accepted.

    Every domain is told from the first pass on, at 0: a counter that appears with its first page
    would hide that page from every rate.
    """
    found = [
        Verdict(PAGES, (name,), float(paged.get(name, 0)))
        for name in sorted({*a_week, *paged})
    ]  # fmt: skip
    return found + [Verdict(PAGES_ACCEPTED, (name,), pages) for name, pages in a_week.items()]


SHOWN = 600.0
"""Seconds that an event is shown: ten polls of a minute, so that no scrape misses it."""

MOST_SHOWN, LONGEST_NOTE = 100, 120


def happened(events: Sequence[Event], now: float) -> list[Verdict]:
    """Return the series of the newest events, for annotations; events come oldest first."""
    shown = [event for event in events if now - SHOWN < event.at <= now][-MOST_SHOWN:]
    labels = {(event.kind, _scope(event), event.note[:LONGEST_NOTE]) for event in shown}
    return [Verdict(EVENT_ACTIVE, one, 1.0) for one in sorted(labels)]


def _scope(event: Event) -> str:
    return ", ".join(f"{key} {name}" for key, name in event.scope.items())
