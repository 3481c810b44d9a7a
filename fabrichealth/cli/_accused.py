"""What an incident asks of the poller: whose ports are worth watching closely, and when.

Links and ports only: a second reading of a rack, a loop or a lot tells nothing more.
"""

from collections.abc import Mapping
from typing import Any

from collectors.close_watch import CloseWatch

NEWS = ("kind", "severity", "culprit", "suppressed_by")
"""Facts of an incident that make it another; more evidence for the same is none."""


def tell(
    watch: CloseWatch, known: Mapping[str, Any] | None, incident: Mapping[str, Any], now: float
) -> None:
    """Have the ends of what an incident accuses watched, where it is new or another than it was."""
    if turned(known, incident):
        watch.accuse(devices(incident), f"{incident['incident']} {incident['kind']}", now)


def devices(incident: Mapping[str, Any]) -> frozenset[str]:
    """Return the devices whose ports an open incident accuses; none while it is excused."""
    culprit = incident["culprit"]
    asks = incident["closed_at"] is None and incident["suppressed_by"] is None
    if not asks or culprit["type"] not in {"link", "port"}:
        return frozenset()
    ends = culprit["id"].split("--")
    return frozenset(end.partition("/")[0] for end in ends)


def turned(known: Mapping[str, Any] | None, incident: Mapping[str, Any]) -> bool:
    """Return whether an incident is new, or another than it was."""
    return known is None or any(known[fact] != incident[fact] for fact in NEWS)
