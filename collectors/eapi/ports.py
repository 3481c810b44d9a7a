"""Which of EOS' interfaces are ports, and to which port a lane of a module belongs.

A module's lanes are named as sub-interfaces (`Ethernet5/1` .. `Ethernet5/4`). Where the first of
them runs several lanes, the others are lanes of it and no ports; broken out they are ports.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from collectors.maps.names import port_name
from collectors.trees.layout import Names

_PORT = re.compile(r"(?:Ethernet|Fabric)\d.*", re.DOTALL)
"""Not the sums of several (Port-Channel), not what leaves by no cable (Vlan, Loopback, Cpu), not
the management port."""
_LANE = re.compile(r"(.+)/(\d{1,2})", re.DOTALL)


@dataclass(slots=True)
class EosPorts:
    """Places the interfaces of one device."""

    lanes: dict[str, int] = field(default_factory=dict)
    """How many lanes each interface runs, as far as it is known."""

    def learn(self, told: Iterable[tuple[str, int]]) -> bool:
        """Note how many lanes interfaces run; return whether that changed anything.

        An interface without any (down, or a lane of another) keeps those it had.
        """
        before = dict(self.lanes)
        self.lanes.update((port, count) for port, count in told if count)
        return self.lanes != before

    def place(self, names: Names) -> Names | None:
        """Return the names in a leaf's path as labels; None where it is of no port."""
        port = names.get("port")
        if port is None:
            return names
        owner = self._owner(port, names.get("lane", "")) if _PORT.fullmatch(port) else ""
        return {**names, "port": port_name(owner)} if owner else None

    def _owner(self, port: str, lane: str) -> str:
        """Return the port that an interface is, or whose lane it is; empty where it is neither."""
        found = _LANE.fullmatch(port)
        if not found or found[2] == "1":
            return port
        first = f"{found[1]}/1"
        if self.lanes.get(first, 0) < int(found[2]):
            return port
        return first if lane == found[2] else ""
