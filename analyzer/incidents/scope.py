"""What lies in the scope of an event (contract 4).

A port, link or module lies in scope when a device it belongs to does; a link when either end
does; an accelerator or NIC when its host does. Several keys mean that all hold.
"""

from collections.abc import Mapping

from fabrichealth.model import Place
from fabrichealth.topology import Topology


def in_scope(place: Place, scope: Mapping[str, str], topology: Topology) -> bool:
    """Return whether a place lies in an event's scope; an empty scope holds nothing."""
    return bool(scope) and all(
        _holds(place, key, name, scope, topology) for key, name in scope.items()
    )


def _holds(place: Place, key: str, name: str, scope: Mapping[str, str], topology: Topology) -> bool:
    devices = owners(place, topology)
    if key == "device":
        return name in devices
    if key == "rack":
        return place == Place("rack", name) or any(topology.rack_of(d) == name for d in devices)
    if key == "domain":
        return place == Place("domain", name) or any(topology.domain_of(d) == name for d in devices)
    if key == "port":
        device = scope.get("device", "")
        port = f"{device}/{name.removeprefix(f'{device}/')}" if device else name
        return place.id == port or port in place.id.split("--")
    if key in {"loop", "branch"}:
        return place.id == name or place.id.startswith(f"{name}/") or place.id.endswith(f"/{name}")
    return place == Place(key, name)


def owners(place: Place, topology: Topology) -> set[str]:
    """Return the devices that a place belongs to, and the hosts that hold those."""
    if place.type == "source":
        devices = {place.id.partition("/")[2]} & topology.devices.keys()
    else:
        devices = set(topology.devices_of(place))
    hosts = {topology.devices[d].host for d in devices if d in topology.devices}
    return devices | (hosts - {""})


def domain_of(place: Place, topology: Topology) -> str | None:
    """Return the one domain that a place belongs to; None where it serves several, or none."""
    if place.type == "domain":
        return place.id
    if place.type == "rack" and (rack := topology.racks.get(place.id)):
        return rack.domain or None
    found = {topology.domain_of(device) for device in owners(place, topology)} - {""}
    return found.pop() if len(found) == 1 else None
