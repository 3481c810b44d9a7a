"""A drain plan as rows: what could be drained now, in which order, and what forbids the rest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analyzer.incidents.capacity import live
from analyzer.incidents.draining import Candidate, plan, running
from analyzer.incidents.explaining import jobs_running
from analyzer.ledger import UNREADABLE, to_incident
from fabrichealth.events import Event
from fabrichealth.kinds import (
    FABRIC_ECMP_POLARIZED,
    FABRIC_HOT_LINK,
    HOST_IRQ_MISPLACED,
    PARTS_VERSION_DRIFT,
    PFC_ECN_MISCONFIGURED,
    PFC_HEADROOM_SHORT,
    PFC_INCAST,
)
from fabrichealth.model import Incident
from fabrichealth.topology import Topology

MENDED_IN_PLACE = frozenset(
    {
        FABRIC_ECMP_POLARIZED,
        FABRIC_HOT_LINK,
        HOST_IRQ_MISPLACED,
        PARTS_VERSION_DRIFT,
        PFC_ECN_MISCONFIGURED,
        PFC_HEADROOM_SHORT,
        PFC_INCAST,
    }
)
"""Kinds that a setting, a version or another placement of load mends: nothing needs to be taken
out for it, and what carries their traffic least of all."""


def drain_plan(
    incidents: Iterable[Mapping[str, Any]],
    topology: Topology,
    events: Sequence[Event],
    floor: float,
) -> list[dict[str, Any]]:
    """Return the steps of a plan by open incidents, as JSON; the most worthwhile first.

    Incidents of a version that knew other kinds are left out, and those of settings.
    """
    still_open: list[Incident] = []
    for one in incidents:
        if one["closed_at"] is None:
            try:
                still_open.append(to_incident(one))
            except UNREADABLE:
                continue
    ill = [one for one in still_open if one.kind not in MENDED_IN_PLACE]
    jobs = running(jobs_running(events).items(), topology)
    now = live(topology, still_open, events)
    return [_row(step) for step in plan(ill, now, topology, jobs, floor)]


def _row(step: Candidate) -> dict[str, Any]:
    incident = step.incident
    return {
        "incident": incident.incident,
        "kind": incident.kind.name,
        "severity": str(incident.severity),
        "culprit": incident.culprit._asdict(),
        "safe": step.judgement.safe,
        "because": step.judgement.because,
        "loss_avoided_gbps": round(step.loss_avoided_gbps, 3),
        "capacity_lost_gbps": round(step.capacity_lost_gbps, 3),
        "worth": round(step.worth, 4),
        "jobs": list(step.jobs),
        "action": incident.action,
    }
