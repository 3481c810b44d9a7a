"""Names: whose a resource is, in the labels of the catalogue.

What a resource's place and links say is joined with the names that are written (`Places`). A CDU
with one secondary connector tells of its loop as a whole; with several, each is a branch, named by
the loop or rack that it leads to.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from collectors.maps.names import device_name, port_name
from collectors.maps.places import FIRST_INLET, Places
from collectors.protocols.redfish.documents import Body, last, link, parent
from collectors.redfish.kinds import COOLING, kind
from collectors.source import Target
from fabrichealth.model.place import Port

Labels = Mapping[str, str]

EQUIPMENT = frozenset({"CoolingUnit", "PowerDistribution"})
WITHIN = frozenset({"Sensor", "ThermalMetrics", "LeakDetection", "LeakDetector"})

WHOLE = frozenset({"ServiceRoot", "Chassis"})
"""Kinds whose ids are those of the device that answers."""

SENSING = frozenset(
    {"Sensor", "Fan", "Thermal", "ThermalMetrics", "Power", "PowerSupply", "PowerSupplyMetrics"}
)


@dataclass(frozen=True)
class Facts:
    """What the tree says once of how its resources hang together."""

    units: Mapping[str, str] = field(default_factory=dict)
    """Name of each cooling unit and distribution unit, by its place."""
    beside: Mapping[str, int] = field(default_factory=dict)
    """How many connectors, or loops, hang at a place."""
    leads_to: Mapping[str, str] = field(default_factory=dict)
    """Which cooling loop a connector leads to, by the connector's place."""
    facility: frozenset[str] = frozenset()
    """Cooling loops on the facility's side."""
    mains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Inlets of a distribution unit, by its place."""
    chassis: frozenset[str] = frozenset()
    """Chassis that have sensors, fans or supplies."""


class Names:
    """Names of the resources of one target."""

    def __init__(self, places: Places, facts: Facts) -> None:
        self._places = places
        self._facts = facts
        self._of_units = {path: _beside(places, name) for path, name in facts.units.items()}
        self.cools = _drives(places) or any(COOLING in path for path in facts.units)
        """Whether the device drives a loop."""

    def of(self, path: str, body: Body) -> Labels:
        """Return the labels that a resource's place and content tell; the rest is its rules'."""
        of = kind(path, body)
        places = self._at(path)
        own = self._own(path, body, of)
        found = {
            "device": places.device, "branch": "", "point": "", "circuit": own, "outlet": own,
            "pump": own, "valve": own, "unit": f"{places.device}/{own}", "sensor": own, "fan": own,
            "facility": places.facility,
        }  # fmt: skip
        if of in {"Port", "PortMetrics"}:
            found["port"] = self._port(path if of == "Port" else parent(path), body, places)
        return found | self._cooling(path, body, of, places) | self._power(path, places)

    def item(self, label: str, path: str, labels: Labels, name: str) -> str:
        """Return the name of an item of a list of a resource, as a label is written."""
        told = self._prefixed(path, name)
        return f"{labels['device']}/{told}" if label == "unit" else told

    def alone(self, path: str) -> bool:
        """Whether the device that a resource is of alone feeds its rack."""
        return self._at(path).has_rack_alone

    def zone(self, path: str, *said: str) -> str:
        """Return the zone of a leak detector: a branch or rack that its names say, else whose."""
        topology = self._places.target.topology
        racks = topology.racks.values()
        known = {name for rack in racks for name in (rack.name, rack.branch, *rack.branches)} - {""}
        named = sorted(name for name in known if any(_holds(text, name) for text in said))
        if named:
            return named[0]
        return "cdu" if COOLING in path or self.cools else self._at(path).rack

    def _at(self, path: str) -> Places:
        """Return the names of the equipment that a place lies in."""
        return self._of_units.get(_unit(path), self._places)

    def _own(self, path: str, body: Body, of: str) -> str:
        """Return what a resource itself is called."""
        if of == "CoolingEnvironment":
            return "unit"
        above = of in {"PowerSupplyMetrics", "HeaterMetrics"}
        name = last(parent(path) if above else path) or _said(body, "Id", "Name", "DeviceName")
        return self._prefixed(path, name or _said(body, "ReadingType") or "1")

    def _prefixed(self, path: str, name: str) -> str:
        """Return a name, behind that of its chassis where several chassis have such things."""
        chassis = _chassis(path)
        several = len(self._facts.chassis) > 1 and chassis in self._facts.chassis
        return port_name(f"{last(chassis)}/{name}" if several else name)

    def _port(self, path: str, body: Body, places: Places) -> str:
        """Return a port by its written name, else `ADAPTER/PORT`: a controller's names are its."""
        topology = places.target.topology
        ethernet = body.get("Ethernet")
        told = ethernet.get("AssociatedMACAddresses") if isinstance(ethernet, Mapping) else None
        for mac in told if isinstance(told, list) else ():
            known = topology.port_with_uid(places.device, mac) if isinstance(mac, str) else None
            if known is not None:
                return known
        if Port(places.device, last(path)) in topology.link_of:
            return last(path)
        parts = path.split("/")
        above = parts[-3] if len(parts) > 3 and parts[-2] == "Ports" else ""
        return port_name(f"{above}/{parts[-1]}" if above else parts[-1])

    def _cooling(self, path: str, body: Body, of: str, places: Places) -> dict[str, str]:
        loop, branch = places.loop, ""
        if of == "CoolantConnector":
            return self._connector(path, body, places)
        if of == "CoolingLoop":
            ends = [end for end, far in self._facts.leads_to.items() if far == path]
            if path in self._facts.facility:
                loop = places.facility
            elif len(ends) == 1 and self._facts.beside.get(parent(ends[0]), 1) > 1:
                branch = self._branch(loop, ends[0], {})
            elif not ends and self._facts.beside.get(parent(path), 1) > 1:
                loop = self._written_loop(loop, body, last(path))
        elif of in WITHIN and not self.cools:  # of a server or switch, one of many in its rack
            branch = places.device
        zone = self.zone(path, _said(body, "Name"), _said(body, "Id"))
        return {"loop": loop, "branch": branch, "zone": zone}

    def _connector(self, path: str, body: Body, places: Places) -> dict[str, str]:
        several = self._facts.beside.get(parent(path), 1) > 1
        loop, branch = places.loop, ""
        if COOLING not in path:  # of a server or switch: a branch of what cools its rack
            branch = f"{places.device}/{port_name(last(path))}" if several else places.device
        else:
            if "/PrimaryCoolantConnectors" in path:
                loop = places.facility
            branch = self._branch(loop, path, body) if several else ""
        said = body.get("CoolantConnectorType")
        point = str(said).lower() if said in {"Supply", "Return"} else ""
        element = "branch" if branch else "loop"
        return {"loop": loop, "branch": branch, "element": element, "point": point}

    def _branch(self, loop: str, path: str, body: Body) -> str:
        """Return the branch behind a connector: one that is written, by any name it goes by."""
        far = last(self._facts.leads_to.get(path, ""))
        written = {
            branch
            for rack in self._places.target.topology.racks.values()
            if rack.loop == loop
            for branch in (*rack.branches, rack.branch, rack.name)
            if branch
        }
        told = [far, last(path), _said(body, "Name")]
        return next((one for one in told if one in written), port_name(far or last(path)))

    def _written_loop(self, loop: str, body: Body, name: str) -> str:
        known = self._places.target.topology.loops
        told = (one for one in (name, _said(body, "Name")) if one in known)
        return next(told, f"{loop}-{port_name(name)}")

    def _power(self, path: str, places: Places) -> dict[str, str]:
        inlets = self._facts.mains.get(_unit(path), ())
        if "/Mains/" in path:
            rack, feed = _feed(places, last(path), inlets)
        elif len(inlets) > 1:
            return {"rack": places.rack}  # whose of several inlets it is, nothing says
        else:
            rack, feed = _feed(places, inlets[0] if inlets else FIRST_INLET, inlets)
        return {"rack": rack, "feed": feed}


def places(target: Target, bodies: Mapping[str, Body]) -> Places:
    """Return the names of a target's device: the topology's, if it knows any id of the service."""
    named = target.topology.named
    known = {
        name
        for path, body in bodies.items()
        if kind(path, body) in WHOLE
        for key in ("UUID", "SerialNumber")
        if (text := _said(body, key)) and (name := named(text))
    }
    return Places(replace(target, device=known.pop()) if len(known) == 1 else target)


def facts(places: Places, bodies: Mapping[str, Body]) -> Facts:
    """Return how the resources of a tree hang together."""
    kinds = {path: kind(path, body) for path, body in bodies.items()}
    units = {path: bodies[path] for path, of in kinds.items() if path and of in EQUIPMENT}
    ends = [path for path, of in kinds.items() if of == "CoolantConnector"]
    loops = [path for path, of in kinds.items() if of == "CoolingLoop"]
    mains: dict[str, list[str]] = {}
    for path, of in kinds.items():
        if of == "Mains":
            mains.setdefault(parent(parent(path)), []).append(last(path))
    far = {path: link(bodies[path], "Links", "ConnectedCoolingLoop") for path in ends}
    return Facts(
        _called(places, units),
        {**Counter(map(parent, ends)), **Counter(map(parent, loops))},
        {path: loop for path, loop in far.items() if loop},
        frozenset(path for path in loops if bodies[path].get("CoolingLoopType") == "FWS"),
        {path: tuple(sorted(names)) for path, names in mains.items()},
        frozenset(_chassis(path) for path, of in kinds.items() if of in SENSING) - {""},
    )


def _called(places: Places, units: Mapping[str, Body]) -> dict[str, str]:
    """Return the names of units; one alone is the target's device itself."""
    named = places.target.topology.named
    same = Counter(map(last, units))
    found = {}
    for path, body in units.items():
        said = (_said(body, key) for key in ("UUID", "SerialNumber", "AssetTag"))
        known = next((name for text in said if text and (name := named(text))), None)
        own = places.device if len(units) == 1 else f"{places.device}-{last(path)}"
        if same[last(path)] > 1:  # a CDU 1 and a PDU 1
            own = f"{places.device}-{last(parent(path))}-{last(path)}"
        found[path] = device_name(known or own)
    return found


def _drives(places: Places) -> bool:
    """Return whether the device is written as one that drives a loop."""
    topology = places.target.topology
    written = topology.devices.get(places.device)
    loops = topology.loops.values()
    return (written is not None and written.role == "cdu") or any(
        loop.device == places.device for loop in loops
    )


def _beside(places: Places, name: str) -> Places:
    """Return the names of one of a target's units; what is written of the target is not its."""
    if name == places.device:
        return places
    target = places.target
    options = {key: word for key, word in target.options.items() if key not in {"loop", "feed"}}
    return Places(replace(target, device=name, options=options))


def _feed(places: Places, inlet: str, inlets: tuple[str, ...]) -> tuple[str, str]:
    """Return rack and feed behind an inlet; an only one may be written as the first."""
    if len(inlets) > 1:
        return places.feed(inlet)
    if places.target.options.get("feed"):
        return places.feed(FIRST_INLET, inlet)
    return places.feed(inlet, FIRST_INLET)


def _unit(path: str) -> str:
    """Return the equipment that a place lies in, `/redfish/v1/KIND/SORT/ID`, empty if in none."""
    parts = path.split("/")
    return "/".join(parts[:6]) if len(parts) > 5 and parts[3].endswith("Equipment") else ""


def _chassis(path: str) -> str:
    """Return the chassis that a place lies in, `/redfish/v1/Chassis/ID`, empty if in none."""
    parts = path.split("/")
    return "/".join(parts[:5]) if len(parts) > 5 and parts[3] == "Chassis" else ""


def _said(body: Mapping[str, Any], *keys: str) -> str:
    """Return the first of some properties that is a text with something in it."""
    texts = (body.get(key) for key in keys)
    return next((text.strip() for text in texts if isinstance(text, str) and text.strip()), "")


def _holds(text: str, name: str) -> bool:
    """Return whether a text holds a name as a word of its own: `Rope-r01` holds `r01`."""
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text) is not None
