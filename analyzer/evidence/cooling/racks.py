"""Racks: which places of a loop carry the heat of which rack, by the topology."""

from weakref import WeakKeyDictionary

from analyzer.evidence.cooling.places import Places
from fabrichealth.topology import Topology

_cooled: WeakKeyDictionary[Places, tuple[Topology, dict[str, list[tuple[int, float]]]]]
_cooled = WeakKeyDictionary()


def cooled(topology: Topology, known: Places) -> dict[str, list[tuple[int, float]]]:
    """Return of each rack the places that carry its heat, and what share of it."""
    kept = _cooled.get(known)
    if kept is not None and kept[0] is topology:
        return kept[1]
    numbers = known.numbers
    loop_of = {rack: loop.name for loop in topology.loops.values() for rack in loop.racks}
    loop_of |= {rack.name: rack.loop for rack in topology.racks.values() if rack.loop}
    found: dict[str, list[tuple[int, float]]] = {}
    for rack, loop in loop_of.items():
        row = topology.racks.get(rack)
        branches = (row.branches or ((row.branch,) if row.branch else ())) if row else ()
        branches = branches or (rack,)
        mine = [numbers[loop, one] for one in branches if (loop, one) in numbers]
        whole = [(numbers[loop, ""], 1.0)] if (loop, "") in numbers else []
        found[rack] = whole + [(place, 1.0 / len(branches)) for place in mine]
    _cooled[known] = (topology, found)
    return found
