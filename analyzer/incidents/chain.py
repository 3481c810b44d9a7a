"""Chain: from water and breakers to what they cool and feed, and what fails there for it.

A facility loop feeds coolant loops, a loop its branches, a branch racks, a rack its devices; a feed
feeds a rack and is carried by its partner. What takes heat away worse makes modules hot, links
stumble and accelerators slow, some time later and only downstream; a lost feed overloads its
partner, drops supplies, and silences the meter that hangs on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from analyzer.incidents.scope import owners
from fabrichealth.kinds import (
    ACCELERATOR_ERRORS,
    COOLING_CLOGGED,
    COOLING_EXCHANGER_FOULED,
    COOLING_FILTER_CLOGGED,
    COOLING_FLOW_IMBALANCE,
    COOLING_LEAK,
    COOLING_PUMP_WEAR,
    COOLING_SUPPLY_HOT,
    COOLING_THERMAL_CONTACT,
    DEVICE_DOWN,
    DOMAIN_STRAGGLER,
    LINK_DEGRADED_SPEED,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    LINK_WILL_FAIL,
    OPTICS_DEGRADING,
    OPTICS_OVERHEATING,
    POWER_CAPPED,
    POWER_FEED_LOST,
    POWER_METER_DRIFT,
    POWER_OVERLOAD,
    POWER_PHASE_IMBALANCE,
    POWER_SUPPLY_FAILED,
    WATCH_SOURCE_SILENT,
    Cause,
    IncidentKind,
)
from fabrichealth.model import Place
from fabrichealth.topology import Topology

HEAT = (
    COOLING_LEAK,
    COOLING_PUMP_WEAR,
    COOLING_FILTER_CLOGGED,
    COOLING_EXCHANGER_FOULED,
    COOLING_SUPPLY_HOT,
    COOLING_CLOGGED,
    COOLING_FLOW_IMBALANCE,
)
"""Kinds that take heat away worse; an earlier one explains a later one of the same loop."""

UPSTREAM = frozenset({*HEAT, POWER_FEED_LOST})
"""Kinds that may be the cause of what is ill elsewhere, however grave that is."""

WARM = frozenset({OPTICS_OVERHEATING, COOLING_THERMAL_CONTACT, DOMAIN_STRAGGLER})
"""Kinds that heat explains wherever it arrives."""

STUMBLING = frozenset({
    ACCELERATOR_ERRORS, LINK_DEGRADED_SPEED, LINK_FLAPPING, LINK_SUBHEALTHY, LINK_WILL_FAIL,
    OPTICS_DEGRADING,
})  # fmt: skip
"""Kinds that heat explains where something there is known to be hot."""

STARVED = frozenset({
    POWER_CAPPED, POWER_METER_DRIFT, POWER_OVERLOAD, POWER_PHASE_IMBALANCE, POWER_SUPPLY_FAILED,
})  # fmt: skip

WARMTH = (Cause.MODULE_OVERHEATING, Cause.COOLING)
LIKELY = 0.3
"""So likely heat must be among the causes of a link's trouble to follow from what cools it."""

HEAT_SLACK = 900.0
"""Seconds by which a victim of heat may seem to come first: slow faults begin slowly."""

DARK_WITHIN = 600.0
"""A device that goes dark so soon after its rack lost a feed hung on that feed."""


@dataclass(frozen=True)
class Ill:
    """What is ill somewhere, of a claim or of an open incident."""

    kind: IncidentKind
    culprit: Place
    since: float
    hot: bool = False
    """Whether something there is known to be too hot."""


def hot(kind: IncidentKind, causes: Mapping[Cause, float]) -> bool:
    """Return whether a kind, or the causes found for it, say that something is too hot."""
    likely = sum(causes.get(cause, 0.0) for cause in WARMTH)
    return kind is OPTICS_OVERHEATING or likely >= LIKELY


def follows(cause: Ill, ill: Ill, topology: Topology) -> bool:
    """Return whether what is ill somewhere follows from a cause upstream."""
    if cause.culprit == ill.culprit:
        return False
    if cause.kind is POWER_FEED_LOST:
        return _of_feed(cause, ill, topology)
    return cause.kind in HEAT and _of_heat(cause, ill, topology)


def _of_heat(cause: Ill, ill: Ill, topology: Topology) -> bool:
    if ill.since < cause.since - HEAT_SLACK or ill.kind is COOLING_LEAK:
        return False  # water on the floor is nobody's victim
    if ill.kind in HEAT:
        return _same_water(cause, ill, topology)
    if ill.kind in WARM or (ill.kind in STUMBLING and ill.hot):
        return bool(downstream_of(cause.culprit, topology) & owners(ill.culprit, topology))
    return False


def _same_water(cause: Ill, ill: Ill, topology: Topology) -> bool:
    """Return whether one fault of a loop explains another: upstream first, then by kind."""
    loop, other = _loop(cause.culprit), _loop(ill.culprit)
    if loop != other:
        row = topology.loops.get(other)
        return row is not None and row.facility == loop
    if cause.culprit.type == "branch":
        return cause.kind is COOLING_LEAK and ill.culprit.type == "loop"
    return HEAT.index(cause.kind) <= HEAT.index(ill.kind)


def _of_feed(cause: Ill, ill: Ill, topology: Topology) -> bool:
    feed = topology.feeds.get(cause.culprit.id)
    if feed is None:
        return False
    if ill.kind is WATCH_SOURCE_SILENT:
        meter = (feed.meter or {}).get("device", "")
        return bool(meter) and ill.culprit.id.partition("/")[2] == meter
    later = ill.since - cause.since
    if ill.kind is DEVICE_DOWN:
        mine = ill.culprit.type == "device" and topology.rack_of(ill.culprit.id) == feed.rack
        return mine and -HEAT_SLACK <= later <= DARK_WITHIN
    if ill.kind not in STARVED or later < -HEAT_SLACK:
        return False
    if ill.culprit.type == "rack":
        return bool(feed.rack) and ill.culprit.id == feed.rack
    partner = topology.feeds.get(ill.culprit.id)
    return ill.culprit.type == "feed" and (
        ill.culprit.id == feed.redundant_with
        or (partner is not None and partner.redundant_with == feed.name)
    )


def downstream_of(place: Place, topology: Topology) -> set[str]:
    """Return the devices that a loop or a branch cools, through the loops behind it too."""
    return {
        device for rack in racks_of(place, topology) for device in topology.in_rack.get(rack, ())
    }


def racks_of(place: Place, topology: Topology) -> list[str]:
    """Return the racks that a loop, a branch or a feed serves; of a rack that rack."""
    if place.type == "rack":
        return [place.id]
    if place.type == "feed":
        feed = topology.feeds.get(place.id)
        return [feed.rack] if feed is not None and feed.rack else []
    loop, _, branch = place.id.partition("/")
    if place.type == "branch":
        return [
            name
            for name, rack in topology.racks.items()
            if rack.loop == loop and branch in {rack.branch, *rack.branches}
        ]
    behind = [name for name, row in topology.loops.items() if row.facility == loop]
    written = topology.loops[loop].racks if loop in topology.loops else ()
    mine = [name for name, rack in topology.racks.items() if rack.loop == loop or name in written]
    through = [one for name in behind for one in racks_of(Place("loop", name), topology)]
    return list(dict.fromkeys([*mine, *through]))


def way(cause: Place, victim: Place, topology: Topology) -> list[str]:
    """Return the places from a cause to its victim, both ends included: loop, branch, rack, .."""
    steps = [cause.id.partition("/")[0]] if cause.type == "branch" else []
    steps.append(cause.id)
    devices = sorted(owners(victim, topology))
    racks = dict.fromkeys(racks_of(cause, topology))
    for device in devices:
        rack = topology.rack_of(device)
        if rack in racks:
            row = topology.racks.get(rack)
            if cause.type == "loop" and row is not None:
                if row.loop and row.loop != cause.id:
                    steps.append(row.loop)
                if row.branch:
                    steps.append(f"{row.loop or cause.id}/{row.branch}")
            steps += [rack, device]
            break
    if steps[-1] != victim.id:
        steps.append(victim.id)
    return steps


def _loop(place: Place) -> str:
    return place.id.partition("/")[0]
