"""Recorded cables -> neighbours of both ends, and what the record knows of each port's cable."""

from collectors.maps.columns import Columns
from collectors.maps.names import device_name, port_name
from collectors.protocols.netbox import End
from collectors.protocols.netbox_paths import Path
from fabrichealth.catalogue.ports import CABLE_LENGTH, PORT_INFO
from fabrichealth.model import Neighbor
from fabrichealth.topology import Topology

METRICS = (PORT_INFO, CABLE_LENGTH)

VIA = "netbox"

MEDIUM = {"dac-passive": "dac", "dac-active": "acc", "aoc": "aoc"}
"""Medium by the cable's type; all kinds of fibre (mmf.., smf..) are optical."""

FIBRE = ("mmf", "smf")


def take(path: Path, topology: Topology, columns: Columns, neighbors: dict[Neighbor, None]) -> None:
    """Take one path between two interfaces; names are the topology's where it knows them."""
    one, other = (_place(end, topology) for end in (path.one, path.other))
    if one is None or other is None or one == other:
        return
    neighbors[Neighbor(*one, *other, VIA)] = None
    neighbors[Neighbor(*other, *one, VIA)] = None
    medium = MEDIUM.get(path.type, "optical" if path.type.startswith(FIBRE) else "")
    for device, port in (one, other):
        known = {"device": device, "port": port, "medium": medium}
        columns.take(PORT_INFO, tuple(known.get(label, "") for label in PORT_INFO.labels), 1.0)
        if path.length_m is not None:
            columns.take(CABLE_LENGTH, (device, port), path.length_m)


def _place(end: End, topology: Topology) -> tuple[str, str] | None:
    if not (end.device.strip() and end.name.strip()):
        return None
    device = topology.named(end.device) or device_name(end.device)
    return device, port_name(end.name)
