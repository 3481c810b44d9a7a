"""Context: what was done near a link shortly before, as signs that weigh on its causes.

Only what is known to have been done speaks; a journal without an entry proves nothing.
"""

from collections.abc import Iterable, Iterator, Mapping

from analyzer.evidence.causes.signs import Symptom, sign
from analyzer.incidents.scope import in_scope
from fabrichealth.events import Event
from fabrichealth.model import Place, Port
from fabrichealth.topology import Link, Topology

DAY = 86_400.0
LATE = 600.0
"""Seconds by which an event may seem to come after what it caused: clocks and polls differ."""

HANDS = frozenset({"part_touched", "part_replaced", "repair_start", "repair_end"})
WORK = HANDS | {"maintenance_start"}
UPGRADES = frozenset({"firmware_upgrade", "config_change"})
UPGRADE_SHOWS = 4 * 3600.0
BOOT_SHOWS = 1800.0
MAINTENANCE_LASTS = 4 * 3600.0
OF_ONE_PART = frozenset({"port", "link"})


def context_signs(
    link: Link, since: float, events: Iterable[Event], topology: Topology
) -> dict[str, bool]:
    """Return the signs that events before `since` (unix seconds) leave at a link's ends."""
    found: dict[str, bool] = {}
    for event in events:
        age = since - event.at
        if not -LATE <= age <= DAY:
            continue
        mine = {end: _hits(event, end, link, topology) for end in link.ends}
        for end in link.ends:
            found |= {sign(one, end): True for one in _left(event, age, mine[end])}
            nearby = event.kind in WORK and not any(mine.values())
            if nearby and _around(end, event.scope, topology):
                found[sign(Symptom.WORK_NEARBY, end)] = True
    return found


def _hits(event: Event, end: Port, link: Link, topology: Topology) -> bool:
    """Return whether an event is about an end: its port, its link, or (not by hand) its device."""
    if event.kind in HANDS and not OF_ONE_PART & event.scope.keys():
        return False
    if "link" in event.scope:
        return in_scope(Place("link", link.id), event.scope, topology)
    return in_scope(Place("port", str(end)), event.scope, topology)


def _left(event: Event, age: float, mine: bool) -> Iterator[Symptom]:
    """Yield what an event leaves at an end that it is about."""
    if not mine:
        return
    if event.kind in HANDS:
        yield Symptom.TOUCHED
    elif event.kind == "maintenance_start" and age <= MAINTENANCE_LASTS:
        yield Symptom.MAINTAINED
    elif event.kind in UPGRADES and age <= UPGRADE_SHOWS:
        yield Symptom.UPGRADED
    elif event.kind == "boot" and age <= BOOT_SHOWS:
        yield Symptom.REBOOTED


def _around(end: Port, scope: Mapping[str, str], topology: Topology) -> bool:
    """Return whether something else in the rack of an end, or its cooling, was worked on."""
    rack = topology.rack_of(end.device)
    if not rack:
        return False
    row = topology.racks.get(rack)
    loops = {row.loop} if row is not None and row.loop else set()
    loops |= {loop.name for loop in topology.loops.values() if rack in loop.racks}
    device = scope.get("device", scope.get("port", scope.get("link", "")).partition("/")[0])
    return (
        scope.get("rack") == rack
        or scope.get("loop") in loops
        or (bool(device) and topology.rack_of(device) == rack)
    )
