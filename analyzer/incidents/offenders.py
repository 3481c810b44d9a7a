"""Repeat offenders: the same link again, or the same part at another place (by serial)."""

from collections.abc import Sequence

from analyzer.incidents.repair import modules_of
from analyzer.past import Closed
from fabrichealth.model import Earlier, Incident
from fabrichealth.topology import Topology

AGAIN = 90 * 86_400.0
"""What closed longer ago is no repetition."""

SHOWN = 5


def earlier(incident: Incident, closed: Sequence[Closed], topology: Topology) -> list[Earlier]:
    """Return what was there before of the same culprit, or of a module now in it; newest last."""
    modules = set(modules_of(incident.culprit, topology))
    found: list[Earlier] = []
    for one in closed:
        if one.closed_at < incident.opened_at - AGAIN or one.opened_at > incident.opened_at:
            continue
        shared = modules & set(one.modules)
        if one.culprit == incident.culprit.id:
            same = incident.culprit.type
        elif shared:
            same = f"module {min(shared)}"
        else:
            continue
        found.append(
            Earlier(one.incident, one.kind, one.culprit, one.opened_at, one.closed_at, same)
        )
    return found[-SHOWN:]
