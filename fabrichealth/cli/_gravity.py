"""In which order a person reads incidents."""

from collections.abc import Mapping
from typing import Any

RANKS = {"page": 0, "ticket": 1, "watch": 2, "info": 3}


def gravest_first(incident: Mapping[str, Any]) -> tuple[bool, bool, int, float]:
    """Return what sorts incidents: open before closed, told before suppressed, then gravity."""
    return (
        incident["closed_at"] is not None,
        incident["suppressed_by"] is not None,
        RANKS.get(incident["severity"], len(RANKS)),
        incident["opened_at"],
    )
