"""Coolant distribution units as Redfish resources (DSP0268: CoolingUnit, CoolantConnector, ..)."""

from collections.abc import Mapping

from emulator.redfish.equipment import Cdu, Connector
from emulator.redfish.resource import ON, V1, Json, Tree, collection, excerpt, link, resource

THERMAL = f"{V1}/ThermalEquipment"
UNITS = f"{THERMAL}/CDUs"
LOOPS = f"{THERMAL}/CoolingLoops"


def cdus(units: Mapping[str, Cdu]) -> Tree:
    """Return the units, the loops they lead to, and what lists them."""
    loops = sorted(
        {one.loop for unit in units.values() for one in unit.secondary.values() if one.loop}
    )
    leads = {"CDUs": link(UNITS)} | ({"CoolingLoops": link(LOOPS)} if loops else {})
    found = resource(THERMAL, "ThermalEquipment", "1_1_1", "Cooling equipment", leads)
    found |= collection(UNITS, "CoolingUnit", units)
    if loops:
        found |= collection(LOOPS, "CoolingLoop", loops)
    for loop in loops:
        found |= resource(
            f"{LOOPS}/{loop}", "CoolingLoop", "1_0_3", f"Loop {loop}",
            {"Status": ON, "CoolingLoopType": "TCS"},
        )  # fmt: skip
    for name, unit in units.items():
        found |= _unit(f"{UNITS}/{name}", unit)
    return found


def _unit(place: str, unit: Cdu) -> Tree:
    lists = {
        "PrimaryCoolantConnectors": (
            "CoolantConnector", "1_1_0", {n: _connector(one) for n, one in unit.primary.items()},
        ),
        "SecondaryCoolantConnectors": (
            "CoolantConnector", "1_1_0", {n: _connector(one) for n, one in unit.secondary.items()},
        ),
        "Pumps": (
            "Pump", "1_1_0",
            {
                name: {
                    "PumpType": "Liquid",
                    "Status": ON | {"State": pump.state},
                    "PumpSpeedPercent": excerpt(pump.percent, SpeedRPM=pump.rpm),
                }
                for name, pump in unit.pumps.items()
            },
        ),
        "Filters": (
            "Filter", "1_1_0",
            {n: {"Status": ON, "DeltaLiquidPressurekPa": excerpt(kilopascals)}
             for n, kilopascals in unit.filters.items()},
        ),
        "Reservoirs": (
            "Reservoir", "1_0_1",
            {n: {"Status": ON, "ReservoirType": "Reserve", "FluidLevelPercent": excerpt(percent)}
             for n, percent in unit.reservoirs.items()},
        ),
    }  # fmt: skip
    more: Json = {
        "EquipmentType": "CDU", "Status": ON, "Manufacturer": "Emulated Works",
        "Model": unit.model, "FirmwareVersion": "1.0",
        "Coolant": {"CoolantType": unit.coolant},
        **{name: link(f"{place}/{name}") for name in lists},
        "LeakDetection": link(f"{place}/LeakDetection"),
        "EnvironmentMetrics": link(f"{place}/EnvironmentMetrics"),
    }  # fmt: skip
    found = resource(place, "CoolingUnit", "1_1_1", "Coolant distribution unit", more)
    for name, (kind, version, parts) in lists.items():
        found |= collection(f"{place}/{name}", kind, parts)
        for part, body in parts.items():
            found |= resource(f"{place}/{name}/{part}", kind, version, f"{kind} {part}", body)
    air = {"TemperatureCelsius": excerpt(unit.air), "PowerWatts": excerpt(unit.watts),
           "HumidityPercent": excerpt(unit.humidity_percent)}  # fmt: skip
    found |= resource(
        f"{place}/EnvironmentMetrics", "EnvironmentMetrics", "1_3_1", "Environment", air
    )
    return found | _leaks(f"{place}/LeakDetection", unit)


def _leaks(place: str, unit: Cdu) -> Tree:
    detectors = f"{place}/LeakDetectors"
    group = [
        {"DataSourceUri": f"{detectors}/{name}", "DeviceName": name, "DetectorState": state}
        for name, state in unit.detectors.items()
    ]
    more = {"Status": ON, "LeakDetectors": link(detectors),
            "LeakDetectorGroups": [{"GroupName": "Unit", "Detectors": group}]}  # fmt: skip
    found = resource(place, "LeakDetection", "1_0_1", "Leak detection", more)
    found |= collection(detectors, "LeakDetector", unit.detectors)
    for name, state in unit.detectors.items():
        body = {"LeakDetectorType": "Moisture", "Status": ON, "DetectorState": state}
        found |= resource(f"{detectors}/{name}", "LeakDetector", "1_1_0", name, body)
    return found


def _connector(one: Connector) -> Json:
    told: Json = {
        "CoolantConnectorType": "Pair", "Status": ON,
        "FlowLitersPerMinute": excerpt(one.flow),
        "SupplyTemperatureCelsius": excerpt(one.supply),
        "ReturnTemperatureCelsius": excerpt(one.back),
        "DeltaTemperatureCelsius": excerpt(one.back - one.supply),
        "SupplyPressurekPa": excerpt(one.supply_kilopascals),
        "ReturnPressurekPa": excerpt(one.back_kilopascals),
        "DeltaPressurekPa": excerpt(one.supply_kilopascals - one.back_kilopascals),
        "HeatRemovedkW": excerpt(one.heat_kilowatts),
    }  # fmt: skip
    if one.valve_percent is not None:
        told["ValvePositionPercent"] = excerpt(one.valve_percent)
    if one.loop:
        told["Links"] = {"ConnectedCoolingLoop": link(f"{LOOPS}/{one.loop}")}
    return told
