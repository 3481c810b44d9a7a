"""Both ends of every cable, joined once per pass."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import Bools, fresh, last_polls
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.model import Place, Port, View, Window, link_id


@dataclass(frozen=True)
class PortStates:
    """What every port says of itself: rows of the window of `UP`."""

    up: Window
    down: Bools
    """Down in the last two polls."""
    doubtful: Bools
    """Down in the last poll."""
    fresh: Bools
    disabled: frozenset[Port]
    """Disabled by configuration, as the port itself says."""
    row: dict[Port, int]

    def says_down(self, port: Port) -> bool | None:
        """Return what a port says; None if it says nothing now."""
        row = self.row.get(port)
        if row is None or not self.fresh[row]:
            return None
        return bool(self.down[row])


def port_states(view: View) -> PortStates:
    """Return the present state of every port that is read."""
    up, admin = view[UP], view[ADMIN_UP]
    low = up.values == 0
    disabled = frozenset(Port(*admin.labels(int(row))) for row in np.flatnonzero(admin.last == 0))
    return PortStates(
        up,
        last_polls(low, up, 2),
        last_polls(low, up, 1),
        fresh(up),
        disabled,
        {Port(*up.labels(row)): row for row in range(len(up))},
    )


def link_place(view: View, port: Port) -> Place:
    """Return the link of a port; a port without a known cable stands for itself."""
    link = view.topology.link_of.get(port)
    if link is not None:
        return Place("link", link.id)
    return Place("port", str(port))


def enabled_links(view: View, states: PortStates) -> Iterator[tuple[str, Port, Port | None]]:
    """Yield (link id, end, other end) of every link that has a port we read and is enabled.

    Links of the topology come with both ends; a port without a written cable stands alone.
    """
    seen: set[str] = set()
    for port in states.row:
        other = view.topology.peer(port)
        name = link_id(port, other) if other else str(port)
        if name in seen:
            continue
        seen.add(name)
        if port in states.disabled or (other is not None and other in states.disabled):
            continue
        yield name, port, other
