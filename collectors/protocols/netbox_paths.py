"""Paths through NetBox's cables: from interface to interface, by way of patch panels.

A panel joins each of its front ports with a position of a rear port. A path goes in at the front
and leaves the next panel at the position at which it came; where a side is not known it ends.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from collectors.protocols.netbox import Cable, End, FrontPort, Reached

INTERFACE, FRONT, REAR = "interface", "frontport", "rearport"

LONGEST = 64
"""Cables of one path; what is longer goes in a circle."""

Socket = tuple[str, int]
"""Kind and id of what a cable ends in."""


@dataclass(frozen=True, slots=True)
class Path:
    """Two interfaces, and what lies between: type of the first cable, whole length in metres."""

    one: End
    other: End
    type: str = ""
    length_m: float | None = None


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths found, and cables that cannot be followed because their ends do not pair."""

    found: tuple[Path, ...] = ()
    unpaired: tuple[Cable, ...] = ()


def paths(
    cables: Iterable[Cable], fronts: Iterable[FrontPort], reached: Iterable[Reached] = ()
) -> Paths:
    """Return each pair of interfaces once, by cables and else as NetBox itself followed them."""
    plugged: dict[Socket, tuple[Cable, End]] = {}
    unpaired = []
    starts: list[End] = []
    for cable in cables:
        if not cable.connected:
            continue
        if len(cable.a) != len(cable.b):
            if any(end.kind == INTERFACE for end in (*cable.a, *cable.b)):
                unpaired.append(cable)
            continue
        for one, other in zip(cable.a, cable.b, strict=True):
            for here, there in ((one, other), (other, one)):
                plugged[here.kind, here.id] = cable, there
                if here.kind == INTERFACE:
                    starts.append(here)
    panels = _Panels(fronts)
    found: dict[frozenset[int], Path] = {}
    for start in starts:
        path = _followed(start, plugged, panels)
        if path is not None:
            found.setdefault(frozenset((path.one.id, path.other.id)), path)
    ends = frozenset().union(*found) if found else frozenset()
    for row in reached:
        several = [end for end in row.there if end.kind == INTERFACE]
        if len(several) == 1 and not {row.here.id, several[0].id} & ends:
            key = frozenset((row.here.id, several[0].id))
            found.setdefault(key, Path(row.here, several[0]))
    return Paths(tuple(found.values()), tuple(unpaired))


class _Panels:
    """What lies behind each front port, and before each position of a rear port."""

    def __init__(self, fronts: Iterable[FrontPort]) -> None:
        self._behind: dict[int, FrontPort] = {}
        self._before: dict[int, dict[int, int]] = defaultdict(dict)
        for front in fronts:
            self._behind[front.id] = front
            self._before[front.rear][front.position] = front.id

    def across(self, end: End, positions: list[int]) -> Socket | None:
        """Return the other side of a panel's port; `positions` are those entered and not left."""
        if end.kind == FRONT and (front := self._behind.get(end.id)):
            positions.append(front.position)
            return REAR, front.rear
        if end.kind == REAR and (before := self._before.get(end.id)):
            position = positions.pop() if positions else None
            if position is None and len(before) == 1:
                position = next(iter(before))
            if position in before:
                return FRONT, before[position]
        return None


def _followed(start: End, plugged: dict[Socket, tuple[Cable, End]], panels: _Panels) -> Path | None:
    first, far = plugged[start.kind, start.id]
    lengths = [first.length_m]
    positions: list[int] = []
    for _ in range(LONGEST):
        if far.kind == INTERFACE:
            whole = sum(length for length in lengths if length is not None)
            known = None not in lengths
            return Path(start, far, first.type, whole if known else None) if far != start else None
        socket = panels.across(far, positions)
        if socket is None or socket not in plugged:
            return None
        cable, far = plugged[socket]
        lengths.append(cable.length_m)
    return None


def through_panels(cables: Iterable[Cable]) -> Iterator[Cable]:
    """Yield the cables that end in a panel, which are followed only with its front ports."""
    for cable in cables:
        if any(end.kind in {FRONT, REAR} for end in (*cable.a, *cable.b)):
            yield cable
