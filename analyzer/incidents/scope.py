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


def devices_in(scope: Mapping[str, str], topology: Topology) -> frozenset[str]:
    """Return the devices of which `in_scope` holds, looked up by the scope and not one by one."""
    held = [_devices(key, name, topology) for key, name in scope.items()]
    return frozenset.intersection(*held) if held else frozenset()


def _devices(key: str, name: str, topology: Topology) -> frozenset[str]:
    if key in {"device", "rack"}:
        return topology.held_by([Place(key, name)])
    if key == "domain":
        return topology.held_by(Place("device", one) for one in topology.in_domain.get(name, ()))
    if key in {"loop", "branch"} and name in topology.devices:
        return frozenset({name})  # a unit that goes by the name of what it feeds
    return frozenset()  # no device is a port, a link, a feed


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
