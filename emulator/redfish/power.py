"""Rack PDUs and power shelves as Redfish resources (DSP0268: PowerDistribution, Circuit, ..)."""

from collections.abc import Mapping

from emulator.redfish.equipment import Circuit, Pdu, Shelf
from emulator.redfish.resource import ON, V1, Json, Tree, collection, excerpt, link, resource

WIRING = {1: "OnePhase3Wire", 3: "ThreePhase5Wire"}


def pdus(units: Mapping[str, Pdu]) -> Tree:
    """Return rack PDUs and what lists them."""
    place = f"{V1}/PowerEquipment/RackPDUs"
    found = collection(place, "PowerDistribution", units)
    for name, unit in units.items():
        found |= _pdu(f"{place}/{name}", unit)
    return found


def shelves(units: Mapping[str, Shelf]) -> Tree:
    """Return power shelves and what lists them."""
    place = f"{V1}/PowerEquipment/PowerShelves"
    found = collection(place, "PowerDistribution", units)
    for name, unit in units.items():
        found |= _shelf(f"{place}/{name}", unit)
    return found


def _pdu(place: str, unit: Pdu) -> Tree:
    lists = {"Mains": unit.mains, "Branches": unit.branches, "Outlets": unit.outlets}
    more = {
        "EquipmentType": "RackPDU", "Status": ON, "Manufacturer": "Emulated Works",
        "Model": unit.model, "FirmwareVersion": "1.0",
        **{name: link(f"{place}/{name}") for name in lists},
        "Metrics": link(f"{place}/Metrics"),
    }  # fmt: skip
    found = resource(place, "PowerDistribution", "1_3_1", "Rack PDU", more)
    for name, circuits in lists.items():
        kind, version = ("Outlet", "1_4_3") if name == "Outlets" else ("Circuit", "1_7_0")
        found |= collection(f"{place}/{name}", kind, circuits)
        for part, circuit in circuits.items():
            body = _circuit(name, circuit)
            found |= resource(f"{place}/{name}/{part}", kind, version, f"{kind} {part}", body)
    watts = sum(circuit.power for circuit in unit.mains.values())
    used = sum(circuit.kilowatt_hours for circuit in unit.mains.values())
    told = {"PowerWatts": excerpt(watts), "EnergykWh": excerpt(used),
            "TemperatureCelsius": excerpt(unit.celsius)}  # fmt: skip
    return found | resource(
        f"{place}/Metrics", "PowerDistributionMetrics", "1_3_2", "Summary", told
    )


def _circuit(where: str, circuit: Circuit) -> Json:
    told: Json = {
        "Status": ON,
        "PhaseWiringType": WIRING[len(circuit.volts)],
        "RatedCurrentAmps": circuit.rated_amperes,
        "PowerWatts": excerpt(circuit.power, PowerFactor=circuit.power_factor),
        "EnergykWh": excerpt(circuit.kilowatt_hours),
        "FrequencyHz": excerpt(50.0),
    }
    if where == "Outlets":
        told |= {"OutletType": "IEC_60320_C13", "PowerState": "On", "PowerEnabled": True}
    else:
        told |= {"CircuitType": "Mains" if where == "Mains" else "Branch",
                 "BreakerState": circuit.breaker}  # fmt: skip
    if len(circuit.volts) == 1:
        return told | {"Voltage": excerpt(circuit.volts[0]),
                       "CurrentAmps": excerpt(circuit.amperes[0])}  # fmt: skip
    lines = range(1, len(circuit.volts) + 1)
    return told | {
        "PolyPhaseCurrentAmps": {f"Line{n}": excerpt(circuit.amperes[n - 1]) for n in lines},
        "PolyPhaseVoltage": {f"Line{n}ToNeutral": excerpt(circuit.volts[n - 1]) for n in lines},
    }


def _shelf(place: str, unit: Shelf) -> Tree:
    supplies = f"{place}/PowerSupplies"
    more = {"EquipmentType": "PowerShelf", "Status": ON, "Manufacturer": "Emulated Works",
            "Model": unit.model, "FirmwareVersion": "1.0",
            "PowerSupplies": link(supplies)}  # fmt: skip
    found = resource(place, "PowerDistribution", "1_3_1", "Power shelf", more)
    found |= collection(supplies, "PowerSupply", unit.supplies)
    for name, supply in unit.supplies.items():
        status = {"State": supply.state, "Health": supply.health}
        own = f"{supplies}/{name}"
        body = {"Status": status, "PowerSupplyType": "AC", "Metrics": link(f"{own}/Metrics")}
        found |= resource(own, "PowerSupply", "1_6_0", f"Supply {name}", body)
        told = {
            "Status": status,
            "InputPowerWatts": excerpt(supply.input_watts),
            "OutputPowerWatts": excerpt(supply.output_watts),
            "TemperatureCelsius": excerpt(supply.celsius),
        }
        found |= resource(
            f"{own}/Metrics", "PowerSupplyMetrics", "1_1_2", f"Metrics of supply {name}", told
        )
    return found
