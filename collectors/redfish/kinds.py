"""Kinds: which rules a resource is read by, and where a walk goes on from it.

A circuit is a mains inlet, a branch or an outlet by where it hangs; environment metrics are a
cooling unit's air or a device's part.
"""

from collections.abc import Mapping
from typing import Any

from collectors.protocols.redfish import documents
from collectors.protocols.redfish.documents import Body

COOLING = "/ThermalEquipment/"

LEADS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "ServiceRoot": (
        ("ThermalEquipment",), ("PowerEquipment",), ("Chassis",), ("TelemetryService",),
        ("EventService",),
    ),
    "ThermalEquipment": (
        ("CDUs",), ("RPUs",), ("HeatExchangers",), ("ImmersionUnits",), ("CoolingLoops",),
    ),
    "CoolingUnit": (
        ("PrimaryCoolantConnectors",), ("SecondaryCoolantConnectors",), ("Pumps",), ("Filters",),
        ("Reservoirs",), ("LeakDetection",), ("EnvironmentMetrics",),
    ),
    "CoolingLoop": (("PrimaryCoolantConnectors",), ("SecondaryCoolantConnectors",)),
    "LeakDetection": (("LeakDetectors",),),
    "PowerEquipment": (
        ("RackPDUs",), ("FloorPDUs",), ("PowerShelves",), ("TransferSwitches",), ("Switchgear",),
        ("ElectricalBuses",),
    ),
    "PowerDistribution": (
        ("Mains",), ("Branches",), ("Feeders",), ("Outlets",), ("PowerSupplies",), ("Metrics",),
        ("Sensors",),
    ),
    "Chassis": (
        ("ThermalSubsystem",), ("PowerSubsystem",), ("EnvironmentMetrics",), ("Sensors",),
        ("LeakDetectors",),
    ),
    "ThermalSubsystem": (
        ("Fans",), ("ThermalMetrics",), ("CoolantConnectors",), ("LeakDetection",), ("Heaters",),
        ("Pumps",), ("Filters",),
    ),
    "PowerSubsystem": (("PowerSupplies",),),
    "PowerSupply": (("Metrics",),),
    "Heater": (("Metrics",),),
    "TelemetryService": (("MetricReports",),),
    "NetworkAdapter": (("Ports",), ("NetworkPorts",)),
    "Port": (("Metrics",),),
}  # fmt: skip
"""Properties that a walk follows, by type; every member of a collection is followed."""

OLD: Mapping[str, str] = {"ThermalSubsystem": "Thermal", "PowerSubsystem": "Power"}
"""What a chassis of an old service has instead: followed only where the new one is not there."""

PORTS = ("NetworkAdapters",)
"""What a chassis' network ports are found by, where they are wanted."""


def kind(path: str, body: Body) -> str:
    """Return the kind of a resource; its type where that says it all."""
    said = documents.resource_type(body)
    if said in {"Circuit", "Outlet"}:
        if "/Outlets/" in path or said == "Outlet":
            return "Outlet"
        mains = "/Mains/" in path or body.get("CircuitType") == "Mains"
        return "Mains" if mains else "Branch"
    if said == "EnvironmentMetrics" and COOLING in path:
        return "CoolingEnvironment"
    if said == "Reservoir" and body.get("ReservoirType") == "Overflow":
        return "Overflow"  # what has run over says nothing of the coolant that is left
    if said.endswith("SensorExcerpt"):
        return "Sensor"
    return said


def leads(body: Body, *, ports: bool) -> list[str]:
    """Return where a walk goes on from a resource; `ports` asks for network ports as well."""
    of_type = documents.resource_type(body)
    found = [documents.link(body, *names) for names in LEADS.get(of_type, ())]
    if of_type == "Chassis" and ports:
        found.append(documents.link(body, *PORTS))
    if of_type == "Chassis":
        for new, old in OLD.items():
            if not documents.link(body, new):
                found.append(documents.link(body, old))
    return [*(path for path in found if path), *documents.members(body)]


def maker(body: Mapping[str, Any]) -> str:
    """Return who made what a resource is of, empty if it does not say."""
    said = body.get("Manufacturer") or body.get("Vendor")
    return said.strip() if isinstance(said, str) else ""
