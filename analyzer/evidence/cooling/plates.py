"""Plates: which accelerators have a temperature, a power, and a place whose coolant cools them.

It follows from the topology and from which series there are, so it is worked out once and kept
until either changes.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.loop_kinds import LOOP_KINDS
from analyzer.evidence.cooling.places import Places
from analyzer.evidence.cooling.racks import cooled
from fabrichealth.catalogue.accelerators import POWER, TEMPERATURE
from fabrichealth.model import Ids, SeriesTable
from fabrichealth.topology import Topology


@dataclass(frozen=True, eq=False)
class Plates:
    """Accelerators on cold plates, [chip] each."""

    names: list[str]
    case: Ids
    """Series of their temperature."""
    power: Ids
    """Series of their power."""
    place: NDArray[np.intp]
    """Branch that cools them, else the main of their loop."""
    group: NDArray[np.int64]
    """Equal for chips of one model at one place."""


_known: WeakKeyDictionary[Places, tuple[Topology, tuple[int, int], Plates]] = WeakKeyDictionary()


def plates(table: SeriesTable, topology: Topology, whole: Places) -> Plates:
    """Return the accelerators whose coolant is known."""
    counts = len(table.of(TEMPERATURE)), len(table.of(POWER))
    kept = _known.get(whole)
    if kept is not None and kept[0] is topology and kept[1] == counts:
        return kept[2]
    case = {table.labels(number)[0]: number for number in table.of(TEMPERATURE).tolist()}
    power = {table.labels(number)[0]: number for number in table.of(POWER).tolist()}
    place_of = _place_of(topology, whole)
    names = [name for name in case if name in power and name in place_of]
    place = np.array([place_of[name] for name in names], np.intp)
    found = Plates(
        names,
        np.array([case[name] for name in names], np.int32),
        np.array([power[name] for name in names], np.int32),
        place,
        _group(names, place, topology),
    )
    _known[whole] = (topology, counts, found)
    return found


def _place_of(topology: Topology, whole: Places) -> dict[str, int]:
    """Return the place of each device of a cooled rack: its branch if there is one, else its loop.

    With several branches a rack does not say which of them is whose; behind a door it is air that
    cools chips, and the coolant says nothing of them.
    """
    found: dict[str, int] = {}
    for rack, mine in cooled(topology, whole).items():
        row = topology.loops.get(whole.names[mine[0][0]][0]) if mine else None
        if row is not None and not LOOP_KINDS[row.kind].holds_chips:
            continue
        branches = [place for place, _ in mine if whole.branched[place]]
        loop = next(iter(place for place, _ in mine), None)
        place = branches[0] if len(branches) == 1 else loop
        if place is not None:
            found.update(dict.fromkeys(topology.in_rack.get(rack, ()), place))
    return found


def _group(names: list[str], place: NDArray[np.intp], topology: Topology) -> NDArray[np.int64]:
    """Number models at places."""
    models: dict[tuple[int, str], int] = {}
    keys = []
    for name, at in zip(names, place.tolist(), strict=True):
        row = topology.devices.get(name)
        keys.append(models.setdefault((at, row.model if row else ""), len(models)))
    return np.array(keys, np.int64)
