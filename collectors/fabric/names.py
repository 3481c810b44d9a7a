"""Names for nodes and ports that are known by GUIDs.

A node goes by the topology's name for its GUID, or for one of its ports' GUIDs, else by `0xGUID`. A
port is its number; where the topology gives several adapters to one host, a port that no `uid`
names is `0xGUID/NUMBER`, so that two adapters never share one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from collectors.source import Target


@dataclass(slots=True)
class FabricNames:
    """What is known of GUIDs, and the labels made of it; outlives polls."""

    target: Target
    _owner: dict[str, str] = field(default_factory=dict)
    """Node GUID by port GUID."""
    _by_lid: dict[int, str] = field(default_factory=dict)
    _devices: dict[str, str] = field(default_factory=dict)
    _labels: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)

    def learn(self, node: str, port_guids: Iterable[str]) -> None:
        """Take which ports' GUIDs belong to a node."""
        for guid in port_guids:
            if guid != node and self._owner.get(guid) != node:
                self._owner[guid] = node
                self._devices.pop(guid, None)
                self._labels.clear()

    def at_lid(self, lid: int, guid: str) -> None:
        """Take which node answers at a LID; LIDs may be given anew at any time."""
        if lid:
            self._by_lid[lid] = guid

    def guid_at(self, lid: int) -> str | None:
        """Return the GUID last seen at a LID."""
        return self._by_lid.get(lid)

    def node(self, guid: str) -> str:
        """Return the GUID of the node that a port's GUID belongs to, else the GUID itself."""
        return self._owner.get(guid, guid)

    def device(self, guid: str) -> str:
        """Return the name of the node with this GUID (its own or a port's)."""
        found = self._devices.get(guid)
        if found is None:
            node = self._owner.get(guid, guid)
            ids = (node, guid, *(port for port, own in self._owner.items() if own == node))
            named = (self.target.topology.named(f"0x{one}") for one in ids)
            found = self._devices[guid] = next(filter(None, named), None) or f"0x{node}"
        return found

    def labels(self, guid: str, port: int) -> tuple[str, str]:
        """Return (device, port) of a port."""
        key = (guid, port)
        found = self._labels.get(key)
        if found is None:
            found = self._labels[key] = self._named(guid, port)
        return found

    def uid(self, guid: str, port: int) -> str:
        """Return the identity of a port, the same that its host gives it."""
        return f"0x{self._owner.get(guid, guid)}:{port}"

    def _named(self, guid: str, port: int) -> tuple[str, str]:
        device = self.device(guid)
        topology = self.target.topology
        written = topology.port_with_uid(device, self.uid(guid, port))
        if written:
            return device, written
        row = topology.devices.get(device)
        shared = row is not None and row.role == "host"
        return device, f"{device_guid(self._owner.get(guid, guid))}/{port}" if shared else str(port)


def device_guid(digits: str) -> str:
    """Return a GUID as names have it."""
    return f"0x{digits}"
