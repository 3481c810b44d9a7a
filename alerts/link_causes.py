"""How the causes of a link's trouble are told apart, and what helps; for the runbooks of kinds."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabrichealth.kinds import Cause


@dataclass(frozen=True)
class Sign:
    """What shows a cause, and what to do about it."""

    shows: str
    do: str


SIGNS: Mapping[Cause, Sign] = {
    Cause.CONTAMINATED_CONNECTOR: Sign(
        "Light received low in one direction, light sent as ever; after somebody touched it. Or "
        "signal that comes and goes with light as ever: reflections.",
        "Clean and inspect the connector at the receiving end, then at the sending one.",
    ),
    Cause.DAMAGED_FIBER: Sign(
        "Light received low in both directions at once, light sent as ever at both ends.",
        "Look for a bend or crush along the route; replace the fibre.",
    ),
    Cause.DECAYING_TRANSMITTER: Sign(
        "More bias than before at the same temperature, or light sent low, or a transmitter fault.",
        "Swap the module at the sending end.",
    ),
    Cause.DEGRADED_RECEIVER: Sign(
        "Light received as ever, its signal-to-noise ratio falls slowly.",
        "Swap the module at the receiving end.",
    ),
    Cause.LOOSE_OR_BAD_MODULE: Sign(
        "Media and host side worse together on all lanes, or light that goes up and down.",
        "Reseat the module; swap it if the trouble comes back; look at its firmware.",
    ),
    Cause.MODULE_OVERHEATING: Sign(
        "Far hotter than modules of its part beside it, or beyond its own limit, alone.",
        "Mend its air, reseat it, then swap it.",
    ),
    Cause.HOST_ELECTRICAL: Sign(
        "Host side worse, media side as ever; often after a reseat.",
        "Reseat the module; move it to another port: if the trouble stays, the port is ill.",
    ),
    Cause.COPPER_CABLE: Sign(
        "A copper cable with errors at both ends or since it was bent.", "Replace the cable."
    ),
    Cause.SHARED_COMPONENT: Sign(
        "Several links that share a laser bank, trunk or card fall ill together.",
        "Repair what they share, not the links.",
    ),
    Cause.COOLING: Sign(
        "Many modules of one device are hot together.",
        "Check fans, filters, blanking panels and the coolant of that device.",
    ),
}
"""Causes that somebody at the rack can tell apart; the others follow from other incidents."""
