"""What DMTF's schemas say of the resources that an emulated service has (DSP0268, 2023.3).

Enough of each schema to tell a wrong name, case, type, word or link; written from the published
schemas, not from the emulator.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

STATES = {
    "Enabled", "Disabled", "StandbyOffline", "StandbySpare", "InTest", "Starting", "Absent",
    "UnavailableOffline", "Deferring", "Quiesced", "Updating", "Qualifying", "Degraded",
}  # fmt: skip
HEALTH = {"OK", "Warning", "Critical"}
DETECTOR = {"OK", "Warning", "Critical", "Unavailable", "Absent"}

Check = Callable[[Any], str]
"""Returns what is wrong with a value, empty if nothing is."""


def number(value: Any) -> str:
    """Check a number, which may be null."""
    fits = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    return "" if fits else f"{value!r} is no number"


def text(value: Any) -> str:
    """Check a text."""
    return "" if isinstance(value, str) else f"{value!r} is no text"


def truth(value: Any) -> str:
    """Check a truth value."""
    return "" if isinstance(value, bool) else f"{value!r} is neither true nor false"


def anything(value: Any) -> str:
    """Check nothing."""
    return ""


def word(*allowed: str) -> Check:
    """Return a check for one of some words."""
    return lambda value: "" if value in allowed else f"{value!r} is none of {sorted(allowed)}"


def reference(value: Any) -> str:
    """Check a link."""
    if isinstance(value, dict) and set(value) == {"@odata.id"} and not text(value["@odata.id"]):
        return ""
    return f"{value!r} is no link"


def several(check: Check) -> Check:
    """Return a check for a list."""

    def all_of(value: Any) -> str:
        if not isinstance(value, list):
            return f"{value!r} is no list"
        return next((wrong for one in value if (wrong := check(one))), "")

    return all_of


def within(**properties: Check) -> Check:
    """Return a check for an object of these properties and no others."""
    return lambda value: next(wrongs(value, properties), "")


def wrongs(value: Any, properties: Mapping[str, Check]) -> Iterator[str]:
    """Yield what is wrong with the properties of an object."""
    if not isinstance(value, dict):
        yield f"{value!r} is no object"
        return
    known = {name.casefold(): name for name in properties}
    for name, one in value.items():
        if name not in properties:
            right = known.get(name.casefold())
            yield f"{name} is written {right}" if right else f"{name} is no property"
        elif wrong := properties[name](one):
            yield f"{name}: {wrong}"


def excerpt(**more: Check) -> Check:
    """Return a check for a sensor's excerpt."""
    return within(Reading=number, DataSourceUri=text, **more)


status = within(State=word(*STATES), Health=word(*HEALTH), HealthRollup=word(*HEALTH))
power = excerpt(ApparentVA=number, ReactiveVAR=number, PowerFactor=number)
_lines = within(Line1=excerpt(), Line2=excerpt(), Line3=excerpt(), Neutral=excerpt())
_across = {f"Line{n}ToNeutral": excerpt() for n in (1, 2, 3)} | {
    name: excerpt() for name in ("Line1ToLine2", "Line2ToLine3", "Line3ToLine1")
}

COMMON: Mapping[str, Check] = {
    "@odata.id": text, "@odata.type": text, "Id": text, "Name": text, "Description": text,
    "Status": status, "Manufacturer": text, "Model": text, "FirmwareVersion": text,
    "SerialNumber": text, "UUID": text,
}  # fmt: skip

CIRCUIT: Mapping[str, Check] = {
    "PhaseWiringType": word("OnePhase3Wire", "TwoPhase3Wire", "OneOrTwoPhase3Wire",
                            "TwoPhase4Wire", "ThreePhase4Wire", "ThreePhase5Wire"),
    "RatedCurrentAmps": number, "PowerWatts": power, "EnergykWh": excerpt(),
    "FrequencyHz": excerpt(), "Voltage": excerpt(), "CurrentAmps": excerpt(),
    "PolyPhaseCurrentAmps": _lines, "PolyPhaseVoltage": within(**_across),
}  # fmt: skip

EXPAND = within(ExpandAll=truth, Levels=truth, Links=truth, NoLinks=truth, MaxLevels=number)

TYPES: Mapping[str, Mapping[str, Check]] = {
    "ServiceRoot": {
        "RedfishVersion": text, "Chassis": reference, "TelemetryService": reference,
        "EventService": reference, "SessionService": reference, "ThermalEquipment": reference,
        "PowerEquipment": reference, "Links": within(Sessions=reference),
        "ProtocolFeaturesSupported": within(ExpandQuery=EXPAND, SelectQuery=truth,
                                            FilterQuery=truth),
    },
    "Chassis": {"ChassisType": word("Enclosure", "Rack", "RackMount"), "Sensors": reference},
    "Sensor": {
        "Reading": number, "ReadingUnits": text, "ReadingTime": text,
        "ReadingType": word("Temperature", "Humidity", "Power", "EnergykWh", "EnergyJoules",
                            "Voltage", "Current", "Frequency", "LiquidFlowLPM", "LiquidFlow",
                            "PressurekPa", "PressurePa", "Pressure", "LiquidLevel", "Heat",
                            "Percent", "Valve", "Rotational"),
        "PhysicalContext": word("Chassis", "Fan", "Pump", "Intake", "Exhaust", "LiquidInlet",
                                "LiquidOutlet", "CPU", "PowerSupply"),
    },
    "TelemetryService": {"ServiceEnabled": truth, "MetricReports": reference},
    "MetricReport": {
        "ReportSequence": text, "Timestamp": text,
        "MetricValues": several(within(MetricId=text, MetricProperty=text, MetricValue=text,
                                       Timestamp=text)),
    },
    "EventService": {"ServiceEnabled": truth, "ServerSentEventUri": text},
    "SessionService": {"ServiceEnabled": truth, "SessionTimeout": number, "Sessions": reference},
    "ThermalEquipment": {"CDUs": reference, "CoolingLoops": reference},
    "CoolingUnit": {
        "EquipmentType": word("CDU", "HeatExchanger", "ImmersionUnit", "RPU"),
        "Coolant": within(CoolantType=word("Water", "Hydrocarbon", "Fluorocarbon", "Dielectric")),
        "PrimaryCoolantConnectors": reference, "SecondaryCoolantConnectors": reference,
        "Pumps": reference, "Filters": reference, "Reservoirs": reference,
        "LeakDetection": reference, "EnvironmentMetrics": reference,
    },
    "CoolingLoop": {"CoolingLoopType": word("FWS", "TCS", "RowTCS"),
                    "CoolantLevelPercent": excerpt()},
    "CoolantConnector": {
        "CoolantConnectorType": word("Pair", "Supply", "Return", "Inline", "Closed"),
        "FlowLitersPerMinute": excerpt(), "SupplyTemperatureCelsius": excerpt(),
        "ReturnTemperatureCelsius": excerpt(), "DeltaTemperatureCelsius": excerpt(),
        "SupplyPressurekPa": excerpt(), "ReturnPressurekPa": excerpt(),
        "DeltaPressurekPa": excerpt(), "HeatRemovedkW": excerpt(),
        "ValvePositionPercent": excerpt(), "RatedFlowLitersPerMinute": number,
        "Links": within(ConnectedCoolingLoop=reference),
    },
    "Pump": {"PumpType": word("Liquid", "Compressor"),
             "PumpSpeedPercent": excerpt(SpeedRPM=number)},
    "Filter": {"DeltaLiquidPressurekPa": excerpt(), "ServiceHours": number},
    "Reservoir": {"ReservoirType": word("Reserve", "Overflow", "Inline", "Immersion"),
                  "FluidLevelPercent": excerpt()},
    "LeakDetection": {
        "LeakDetectors": reference,
        "LeakDetectorGroups": several(within(
            GroupName=text, HumidityPercent=excerpt(),
            Detectors=several(within(DataSourceUri=text, DeviceName=text,
                                     DetectorState=word(*DETECTOR))),
        )),
    },
    "LeakDetector": {"LeakDetectorType": word("Moisture", "FloatSwitch"),
                     "DetectorState": word(*DETECTOR)},
    "EnvironmentMetrics": {"TemperatureCelsius": excerpt(), "HumidityPercent": excerpt(),
                           "PowerWatts": power},
    "PowerEquipment": {"RackPDUs": reference, "PowerShelves": reference},
    "PowerDistribution": {
        "EquipmentType": word("RackPDU", "FloorPDU", "PowerShelf", "Switchgear"),
        "Mains": reference, "Branches": reference, "Outlets": reference, "Metrics": reference,
        "PowerSupplies": reference,
    },
    "Circuit": {**CIRCUIT, "CircuitType": word("Mains", "Branch", "Subfeed", "Feeder", "Bus"),
                "BreakerState": word("Normal", "Tripped", "Off")},
    "Outlet": {**CIRCUIT, "OutletType": text, "PowerEnabled": truth,
               "PowerState": word("On", "Off", "PoweringOn", "PoweringOff", "Paused")},
    "PowerDistributionMetrics": {"PowerWatts": power, "EnergykWh": excerpt(),
                                 "TemperatureCelsius": excerpt(), "HumidityPercent": excerpt()},
    "PowerSupply": {"PowerSupplyType": word("AC", "DC", "ACorDC", "DCregulator"),
                    "Metrics": reference},
    "PowerSupplyMetrics": {"InputPowerWatts": power, "OutputPowerWatts": power,
                           "TemperatureCelsius": excerpt(), "InputVoltage": excerpt(),
                           "InputCurrentAmps": excerpt()},
}  # fmt: skip

_TYPE = re.compile(r"#(\w+)\.v\d+_\d+_\d+\.\1|#(\w+)Collection\.\2Collection")


def faults(place: str, body: Any) -> Iterator[str]:
    """Yield what is wrong with a resource that was read from a place."""
    if not isinstance(body, dict):
        yield "no object"
        return
    needed = {"@odata.id", "@odata.type", "Name"}
    found = _TYPE.fullmatch(str(body.get("@odata.type")))
    if found is None:
        yield f"@odata.type: {body.get('@odata.type')!r}"
        return
    if body.get("@odata.id") != place:
        yield f"@odata.id: {body.get('@odata.id')!r}"
    if found[2]:
        yield from _collection(found[2], body)
        return
    yield from (f"{name} is missing" for name in sorted((needed | {"Id"}) - body.keys()))
    if found[1] not in TYPES:
        yield f"{found[1]} is no type"
        return
    yield from wrongs(body, {**COMMON, **TYPES[found[1]]})


def links(body: Any) -> Iterator[str]:
    """Yield every place that a body names, without fragments."""
    if isinstance(body, list):
        for one in body:
            yield from links(one)
    elif isinstance(body, dict):
        for name, value in body.items():
            if name in {"@odata.id", "DataSourceUri", "MetricProperty"}:
                yield str(value).partition("#")[0]
            else:
                yield from links(value)


def _collection(of: str, body: Mapping[str, Any]) -> Iterator[str]:
    listed = body.get("Members")
    if not isinstance(listed, list) or body.get("Members@odata.count") != len(listed):
        yield "Members and Members@odata.count do not agree"
        return
    for one in listed:
        if set(one) != {"@odata.id"} and not str(one.get("@odata.type")).startswith(f"#{of}."):
            yield f"a member is no {of}"
