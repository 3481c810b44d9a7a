"""Verdict series: what judging tells /metrics and the store."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analyzer.ledger import Ledger
from fabrichealth.catalogue.verdicts import (
    DRAIN_SAFE,
    EVENT_ACTIVE,
    INCIDENT_ACTIVE,
    INCIDENT_INFO,
    INCIDENT_SILENCED,
    INCIDENTS,
)
from fabrichealth.catalogue.watchers import ANALYSIS_COVERAGE, ANALYSIS_SECONDS
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Labels


class Verdict(NamedTuple):
    """One value of one verdict series."""

    metric: Metric
    labels: Labels
    value: float


def verdicts(ledger: Ledger, cost: Mapping[str, tuple[float, float]]) -> list[Verdict]:
    """Return the verdict series of one pass; `cost` is (seconds, coverage) by detector."""
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
