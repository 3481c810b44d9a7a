"""Suppression: maintenance, boots, restarts, ports disabled by hand raise nothing (contract 4).

Suppressed incidents are kept and shown with their reason, and never page; one still open when
its reason ends counts from that moment.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from analyzer.evidence.parts.findings import BEYOND
from analyzer.incidents.scope import in_scope
from analyzer.incidents.spans import spans
from analyzer.incidents.word import named
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, LINK_SUBHEALTHY, PARTS_SHARED_COMPONENT, Severity
from fabrichealth.model import Incident, Place
from fabrichealth.topology import Topology

OPEN_ENDED = 4 * 3600.0
"""A maintenance without an end is over after this."""

GRACE = 30 * 60.0
"""After a boot or a firmware upgrade nothing in scope is news for so long."""

RESTARTING = frozenset({"host", "accelerator", "nic"})
"""Roles whose unannounced restart has grace; a switch, CDU or PDU pages at once."""

UNANNOUNCED = "unannounced"
"""In an event's `more`: nobody told of it, it was read off a device."""


class Excuse(NamedTuple):
    """A time in which a scope is excused."""

    start: float
    end: float
    reason: str
    scope: Mapping[str, str]
    note: str = ""
    """What who announced it said."""


def excuse_of(
    incident: Incident,
    now: float,
    events: Sequence[Event],
    topology: Topology,
    grace: float = GRACE,
) -> Excuse | None:
    """Return what suppresses an incident, or None.

    It must have opened while it was excused, and either that lasts or it was seen last before
    the end: what outlives its excuse counts.
    """
    kind = incident.kind
    lossy = kind is LINK_SUBHEALTHY and incident.severity >= Severity.PAGE
    if kind.never_suppressed or lossy or named(kind, BEYOND) in incident.grounds:
        return None
    going_on = [
        span
        for span in _excused(events, topology, grace)
        if span.start <= incident.opened_at <= span.end
    ]
    excuses = [one for one in going_on if in_scope(incident.culprit, one.scope, topology)]
    if kind is PARTS_SHARED_COMPONENT and going_on and not excuses:
        excuses = _of_all(incident.victims, going_on, topology)
    if kind is DEVICE_DOWN and incident.by_hand:
        reason = f"admin:{incident.culprit.id}"
        excuses.append(Excuse(incident.opened_at, inf, reason, {}, incident.because))
    elif kind is DEVICE_DOWN and not incident.answers and may_restart(incident.culprit, topology):
        reason, until = f"boot:{incident.culprit.id}", incident.opened_at + grace
        excuses.append(Excuse(incident.opened_at, until, reason, {}))
    if not excuses:
        return None
    going = next((span for span in excuses if now <= span.end), None)
    last = going or max(excuses, key=lambda span: span.end)
    return last if going or incident.last_seen <= last.end else None


def _of_all(
    victims: Sequence[Place], excuses: Sequence[Excuse], topology: Topology
) -> list[Excuse]:
    """Return what excuses a part of which every ill link is excused, till the first is no more."""
    each = [
        max(mine, key=lambda one: one.end, default=None)
        for link in victims
        if link.type == "link"
        for mine in [[one for one in excuses if in_scope(link, one.scope, topology)]]
    ]
    known = [one for one in each if one is not None]
    return [min(known, key=lambda one: one.end)] if known and len(known) == len(each) else []


def may_restart(culprit: Place, topology: Topology) -> bool:
    """Return whether a dark culprit may only be restarting: a host, or a rack that holds some."""
    roles = {
        topology.devices[name].role
        for name in topology.devices_of(culprit)
        if name in topology.devices
    }
    return bool(roles & RESTARTING)


def _may_boot(event: Event, topology: Topology) -> bool:
    return may_restart(Place("device", event.scope.get("device", "")), topology)


def _excused(events: Sequence[Event], topology: Topology, grace: float) -> list[Excuse]:
    """Return every time in which a scope is excused; a switch has no grace unless it was told."""
    found = [
        Excuse(one.start, one.end, f"maintenance:{one.name}", one.scope, one.note)
        for one in spans(events, "maintenance", OPEN_ENDED)
    ]
    for event in events:
        if event.kind in {"boot", "firmware_upgrade"}:
            if event.more.get(UNANNOUNCED) and not _may_boot(event, topology):
                continue
            name = event.id or next(iter(event.scope.values()), "")
            reason = f"{'boot' if event.kind == 'boot' else 'firmware'}:{name}"
            until = event.at + grace
            found.append(Excuse(event.at, until, reason, event.scope, event.note))
    return found
