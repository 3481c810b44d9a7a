"""What a plan writes down of water and power: the unit, its loops, feeds and their meters."""

from collections.abc import Sequence
from typing import Any

CDU = "cdu-01"
"""The coolant distribution unit of a plan with a plant, and its loop."""


def meter(feed: str, racks: Sequence[str]) -> str:
    """Return the device that measures a feed: rack PDUs at the first rack, else meters."""
    return f"{'pdu' if feed.startswith(racks[0]) else 'meter'}-{feed}"


def loops_and_feeds(racks: Sequence[str], breaker: float) -> dict[str, Any]:
    """Return the topology's loops and feeds (contract 2)."""
    return {
        "loops": [
            {"name": f"{CDU}-facility", "kind": "facility", "fluid": "water"},
            {
                "name": CDU,
                "device": CDU,
                "fluid": "pg25",
                "control": "differential_pressure",
                "facility": f"{CDU}-facility",
                "volume_liters": 300,
                "reservoir_liters": 40,
                "racks": list(racks),
            },
        ],
        "feeds": [
            {
                "name": f"{name}-{side}",
                "rack": name,
                "breaker_amperes": breaker,
                "phases": 3,
                "redundant_with": f"{name}-{other}",
                "meter": {"device": meter(f"{name}-{side}", racks)},
            }
            for name in racks
            for side, other in ("AB", "BA")
        ],
    }


def facility_devices(racks: Sequence[str]) -> list[dict[str, Any]]:
    """Return the unit, the meters of feeds, and the power shelves."""
    return [
        {"name": CDU, "role": "cdu"},
        *(
            {"name": meter(f"{name}-{side}", racks), "role": "pdu", "rack": name}
            for name in racks
            for side in "AB"
        ),
        *({"name": f"shelf-{name}", "role": "pdu", "rack": name} for name in racks),
    ]
