"""Suppression: maintenance, boots and restarts raise nothing (contract 4).

Suppressed incidents are kept and shown with their reason, and never page; one still open when
its reason ends counts from that moment.
"""

from collections.abc import Iterable, Sequence

from analyzer.incidents.scope import in_scope
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, LINK_SUBHEALTHY, IncidentKind, Severity
from fabrichealth.model import Place
from fabrichealth.topology import Topology

OPEN_ENDED = 4 * 3600.0
"""A maintenance without an end is over after this."""

GRACE = 30 * 60.0
"""After a boot or a firmware upgrade nothing in scope is news for so long."""

RESTARTING = frozenset({"host", "accelerator", "nic"})
"""Roles whose unannounced restart has grace; a switch, CDU or PDU pages at once."""


def suppressed_by(
    kind: IncidentKind,
    severity: Severity,
    culprit: Place,
    opened_at: float,
    now: float,
    events: Sequence[Event],
    topology: Topology,
    grace: float = GRACE,
) -> str | None:
    """Return what suppresses an incident now, or None."""
    if kind.never_suppressed:
        return None
    if kind is LINK_SUBHEALTHY and severity >= Severity.PAGE:
        return None
    for start, end, reason, scope in _spans(events, grace):
        if start <= opened_at <= end and now <= end and in_scope(culprit, scope, topology):
            return reason
    if kind is DEVICE_DOWN and now <= opened_at + grace and _restarts(culprit, topology):
        return f"boot:{culprit.id}"
    return None


def _restarts(culprit: Place, topology: Topology) -> bool:
    if culprit.type == "rack":
        return True
    device = topology.devices.get(culprit.id)
    return device is not None and device.role in RESTARTING


def _spans(events: Iterable[Event], grace: float) -> list[tuple[float, float, str, dict[str, str]]]:
    """Return (start, end, reason, scope) of every time in which a scope is excused."""
    spans: list[tuple[float, float, str, dict[str, str]]] = []
    for event in events:
        name = event.id or next(iter(event.scope.values()), "")
        if event.kind == "maintenance_start":
            end = event.at + OPEN_ENDED
            spans.append((event.at, end, f"maintenance:{name}", dict(event.scope)))
        elif event.kind == "maintenance_end":
            for index, (start, end, reason, scope) in enumerate(spans):
                same = reason == f"maintenance:{event.id}" if event.id else scope == event.scope
                if reason.startswith("maintenance:") and same and start <= event.at < end:
                    spans[index] = (start, event.at, reason, scope)
        elif event.kind in {"boot", "firmware_upgrade"}:
            reason = f"{'boot' if event.kind == 'boot' else 'firmware'}:{name}"
            spans.append((event.at, event.at + grace, reason, dict(event.scope)))
    return spans
