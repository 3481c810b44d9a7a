"""Hindrances: what stood in the way of each accelerator in each bin, as incidents and events say.

An incident counts for what it accuses and for its victims, the accelerators of their jobs
included. What was suppressed, or never graver than a watch, took nothing from anybody.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from analyzer.accounts.bins import Bins, binned, named
from analyzer.evidence.domain.accounting import CAUSES, Bools
from analyzer.evidence.domain.jobs import Jobs, jobs
from analyzer.incidents.scope import devices_in
from analyzer.incidents.spans import spans
from analyzer.incidents.suppression import OPEN_ENDED
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, DOMAIN_FRAGMENTED, IncidentKind, Severity
from fabrichealth.model import Incident, Place
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

LEAST_SEVERITY = Severity.WATCH
"""Graver than this an incident takes something from somebody."""

OF_KINDS = {
    "link": "links", "optics": "links", "pfc": "links", "fabric": "links", "parts": "links",
    "cooling": "cooling", "power": "power", "accelerator": "faults", "host": "links",
}  # fmt: skip
"""What stood in the way, by the first word of an incident's kind."""


def standing(
    store: Store,
    bins: Bins,
    topology: Topology,
    incidents: Iterable[Incident],
    events: Sequence[Event],
) -> dict[str, Bools]:
    """Return by cause whether it stood in the way of each accelerator in each bin ([n, k])."""
    found = {cause: np.zeros((len(bins.rows), bins.number), bool) for cause in CAUSES}
    told = jobs(events)
    place = {name: row for row, name in enumerate(bins.names)}
    for incident in incidents:
        cause = _cause(incident.kind, incident.culprit, topology)
        if cause is None or incident.suppressed_by or incident.severity <= LEAST_SEVERITY:
            continue
        for hit, since, until in _hit(incident, incident.closed_at or bins.until, topology, told):
            rows = [place[name] for name in hit if name in place]
            found[cause][rows, bins.span(since, until)] = True
    for one in spans(events, "maintenance", OPEN_ENDED):
        rows = [place[name] for name in devices_in(one.scope, topology) if name in place]
        found["maintenance"][rows, bins.span(one.start, one.end)] = True
    host = {name: number for number, name in enumerate(bins.inventory.host.names)}
    open_ = binned(store, SCHEDULABLE, bins, len(host), named(host))
    mine = bins.inventory.host.code[bins.rows]
    with np.errstate(invalid="ignore"):
        closed = np.where((mine >= 0)[:, None], open_[mine] < 0.5, False) if host else False
    found["maintenance"] |= closed
    return found


def unfit(bins: Bins, domain: str, incidents: Iterable[Incident]) -> Bools:
    """Return in which bins a job waited that did not fit into what was free ([k])."""
    found = np.zeros(bins.number, bool)
    for one in incidents:
        if one.kind is DOMAIN_FRAGMENTED and one.culprit.id == domain:
            found[bins.span(one.opened_at, one.closed_at or bins.until)] = True
    return found


def _cause(kind: IncidentKind, culprit: Place, topology: Topology) -> str | None:
    """Return what an incident stands for; None where it takes nothing by itself."""
    if kind is DEVICE_DOWN:
        row = topology.devices.get(culprit.id)
        return "links" if row is not None and row.role == "switch" else "faults"
    return OF_KINDS.get(kind.name.partition(".")[0])


def _hit(
    incident: Incident, until: float, topology: Topology, told: Jobs
) -> Iterator[tuple[Collection[str], float, float]]:
    """Yield what an incident hit from when until when: what it accuses holds, and its jobs had."""
    since, places = incident.opened_at, (incident.culprit, *incident.victims)
    devices = topology.held_by(place for place in places if place.type != "job")
    yield devices, since, until
    for place in places:
        for job in told.hit(place.id, since, until, devices) if place.type == "job" else ():
            yield job.accelerators, max(job.since, since), min(job.until, until)
