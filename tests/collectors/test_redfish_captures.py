"""Bodies of Redfish services, by hand: what they mean in the catalogue, and what is refused."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.maps import redfish_rules
from collectors.maps.columns import Columns
from collectors.maps.quantities import MEASURES
from collectors.protocols.redfish import documents, reports, units
from collectors.protocols.redfish.server_sent import EventStream
from collectors.redfish.service import Service
from collectors.redfish.visits import Visits
from collectors.redfish.walk import Walk
from collectors.source import Target
from collectors.sources.redfish import Redfish, RedfishSettings
from collectors.transports.redfish import Answer
from fabrichealth.catalogue.circuits import CIRCUIT_CLOSED, CIRCUIT_CURRENT, OUTLET_ENERGY
from fabrichealth.catalogue.cooling import (
    AIR_HUMIDITY,
    AIR_TEMPERATURE,
    COOLANT_TEMPERATURE,
    DIFFERENTIAL_PRESSURE,
    FLOW,
    HEAT,
    LEAK,
    LOOP_INFO,
    PRESSURE,
    PUMP_RUNNING,
    PUMP_SPEED,
    RESERVOIR_LEVEL,
    VALVE_POSITION,
)
from fabrichealth.catalogue.devices import (
    DEVICE_POWER,
    DEVICE_TEMPERATURE,
    DEVICE_TEMPERATURE_LIMIT,
    FAN_SPEED,
    FAN_SPEED_RATIO,
)
from fabrichealth.catalogue.power import (
    FEED_BREAKER,
    FEED_CURRENT,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
    RACK_POWER,
    SUPPLY_HEALTHY,
    SUPPLY_INPUT,
    SUPPLY_OUTPUT,
)
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from fabrichealth.topology import Device, Feed, Loop, Rack, Topology
from tests.fixtures import readings

AT = 1_800_000_000.0
V1 = "/redfish/v1"
CDU = f"{V1}/ThermalEquipment/CDUs/1"
PDU = f"{V1}/PowerEquipment/RackPDUs/1"
ON = {"State": "Enabled", "Health": "OK"}

Tree = dict[str, dict[str, Any]]


def read(
    folder: Path, tree: Tree, topology: Topology | None = None, **options: str
) -> tuple[Poll, SeriesTable]:
    """Return what a map from place to body gives, the device being `cdu-1`."""
    file = folder / "tree.json"
    file.write_text(json.dumps({path: {"@odata.id": path, **body} for path, body in tree.items()}))
    target = Target("cdu-1", "redfish", "", "", options, topology or Topology())
    source = Redfish(RedfishSettings(), target, SeriesTable())
    return source.captured([file], AT), source.table


def told(folder: Path, metric: Metric, tree: Tree) -> dict[Labels, float]:
    """Return one metric of such a map."""
    poll, table = read(folder, tree)
    return readings(poll, table, metric)


def refused(poll: Poll) -> list[tuple[Reason, str]]:
    """Return why what was refused, under the last of its labels."""
    return [(one.reason, list(one.labels.values())[-1]) for one in poll.refused]


def connector(**more: Any) -> dict[str, Any]:
    """Return a coolant connector: 100 L/min, 30 to 42 degrees, 300 and 180 kPa."""
    return {
        "@odata.type": "#CoolantConnector.v1_1_0.CoolantConnector",
        "CoolantConnectorType": "Pair",
        "Status": ON,
        "FlowLitersPerMinute": {"Reading": 100.0},
        "SupplyTemperatureCelsius": {"Reading": 30.0},
        "ReturnTemperatureCelsius": {"Reading": 42.0},
        "SupplyPressurekPa": {"Reading": 300.0},
        "ReturnPressurekPa": {"Reading": 180.0},
        "DeltaPressurekPa": {"Reading": 120.0},
        "DeltaTemperatureCelsius": {"Reading": 12.0},
        "HeatRemovedkW": {"Reading": 80.5},
        **more,
    }


def unit() -> dict[str, Any]:
    """Return a CDU."""
    return {"@odata.type": "#CoolingUnit.v1_1_0.CoolingUnit", "EquipmentType": "CDU", "Status": ON}


def sensor(reading: Any, **more: Any) -> dict[str, Any]:
    """Return a sensor of a chassis."""
    return {"@odata.type": "#Sensor.v1_7_0.Sensor", "Reading": reading, "Status": ON, **more}


def test_a_connector_tells_of_its_loop_and_the_facilitys(tmp_path: Path) -> None:
    tree = {
        CDU: unit(),
        f"{CDU}/PrimaryCoolantConnectors/P": connector(),
        f"{CDU}/SecondaryCoolantConnectors/S": connector(FlowLitersPerMinute={"Reading": 95.0}),
    }
    poll, table = read(tmp_path, tree)
    assert readings(poll, table, FLOW) == {
        ("cdu-1-facility", "", ""): 100.0,
        ("cdu-1", "", ""): 95.0,
    }
    temperatures = readings(poll, table, COOLANT_TEMPERATURE)
    assert temperatures["cdu-1", "", "supply"] == 30.0
    assert temperatures["cdu-1", "", "return"] == 42.0
    assert readings(poll, table, PRESSURE)["cdu-1", "", "return"] == 180.0
    assert readings(poll, table, DIFFERENTIAL_PRESSURE)["cdu-1", "", "loop"] == 120.0
    assert readings(poll, table, HEAT)["cdu-1", ""] == 80_500.0
    assert len(temperatures) == 4  # the difference of two temperatures is none
    assert [labels[0] for labels in readings(poll, table, LOOP_INFO)] == ["cdu-1"]


def test_a_number_beyond_every_float_costs_itself_only(tmp_path: Path) -> None:
    tree = {
        CDU: {"@odata.type": "#CoolingUnit.v1_1_0.CoolingUnit"},
        f"{CDU}/SecondaryCoolantConnectors/1": connector(HeatRemovedkW={"Reading": 1e307}),
    }
    poll, table = read(tmp_path, tree)
    assert [(one.reason, one.what) for one in poll.refused] == [(Reason.IMPLAUSIBLE, str(HEAT))]
    assert set(readings(poll, table, FLOW).values()) == {100.0}
    assert readings(poll, table, HEAT) == {}


def test_several_connectors_are_branches_by_their_written_names(tmp_path: Path) -> None:
    loops = f"{V1}/ThermalEquipment/CoolingLoops"
    tree = {
        CDU: unit(),
        f"{CDU}/SecondaryCoolantConnectors/A": connector(
            Links={"ConnectedCoolingLoop": {"@odata.id": f"{loops}/r01"}}
        ),
        f"{CDU}/SecondaryCoolantConnectors/B": connector(Name="r02"),
        f"{CDU}/SecondaryCoolantConnectors/C": connector(CoolantConnectorType="Supply"),
        f"{loops}/r01": {
            "@odata.type": "#CoolingLoop.v1_0_0.CoolingLoop",
            "CoolantLevelPercent": {"Reading": 81.0},
        },
    }
    racks = [Rack(name=name, loop="row-a", branch=name) for name in ("r01", "r02")]
    loop = Loop(name="row-a", device="cdu-1", facility="fws", racks=("r03",))
    racks.append(Rack(name="r03"))
    poll, table = read(tmp_path, tree, Topology(racks=racks, loops=[loop]))
    (info,) = readings(poll, table, LOOP_INFO)
    assert info[LOOP_INFO.labels.index("racks")] == "r01,r02,r03"
    assert set(readings(poll, table, FLOW)) == {
        ("row-a", "r01", ""),
        ("row-a", "r02", ""),
        ("row-a", "C", "supply"),
    }
    assert readings(poll, table, RESERVOIR_LEVEL) == {("row-a", "r01"): 0.81}
    assert ("row-a", "r01", "branch") in readings(poll, table, DIFFERENTIAL_PRESSURE)


def test_pumps_filters_reservoirs_and_the_air_of_a_unit(tmp_path: Path) -> None:
    tree = {
        CDU: unit(),
        f"{CDU}/Pumps/1": {
            "@odata.type": "#Pump.v1_1_0.Pump",
            "PumpSpeedPercent": {"Reading": 62, "SpeedRPM": 1800},
        },
        f"{CDU}/Pumps/2": {
            "@odata.type": "#Pump.v1_1_0.Pump",
            "Status": {"State": "StandbyOffline"},
            "PumpSpeedPercent": {"Reading": 0},
        },
        f"{CDU}/Filters/1": {
            "@odata.type": "#Filter.v1_1_0.Filter",
            "DeltaLiquidPressurekPa": {"Reading": 21.5},
        },
        f"{CDU}/Filters/2": {
            "@odata.type": "#Filter.v1_1_0.Filter",
            "DeltaLiquidPressurekPa": {"Reading": 34.0},
        },
        f"{CDU}/Reservoirs/1": {
            "@odata.type": "#Reservoir.v1_0_0.Reservoir",
            "FluidLevelPercent": {"Reading": 74.5},
        },
        f"{CDU}/EnvironmentMetrics": {
            "@odata.type": "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
            "HumidityPercent": {"Reading": 45},
        },
    }
    poll, table = read(tmp_path, tree)
    assert readings(poll, table, PUMP_SPEED) == {("cdu-1", "", "1"): 0.62, ("cdu-1", "", "2"): 0.0}
    assert readings(poll, table, PUMP_RUNNING) == {("cdu-1", "", "1"): 1, ("cdu-1", "", "2"): 0}
    assert readings(poll, table, DIFFERENTIAL_PRESSURE) == {("cdu-1", "", "filter"): 34.0}
    assert readings(poll, table, RESERVOIR_LEVEL) == {("cdu-1", ""): 0.745}
    assert readings(poll, table, AIR_HUMIDITY) == {("cdu-1", ""): 0.45}


@pytest.mark.parametrize(
    ("states", "wet", "reasons"),
    [
        pytest.param(["OK", "OK"], 0.0, [], id="dry"),
        pytest.param(["OK", "Critical"], 1.0, [], id="one of two is wet"),
        pytest.param(["Warning", "OK"], 1.0, [], id="moist"),
        pytest.param(["OK", "Unavailable"], 0.0, [Reason.SENSOR_FAULT], id="one cannot be read"),
        pytest.param(["OK", "Absent"], 0.0, [], id="one is not fitted"),
        pytest.param(["Unavailable"], None, [Reason.SENSOR_FAULT], id="nothing is known"),
        pytest.param(["Soaked"], None, [Reason.MALFORMED], id="a word that is none"),
        pytest.param([None], None, [Reason.FAILED], id="enabled and silent"),
    ],
)
def test_a_zone_is_wet_if_any_of_its_detectors_is(
    tmp_path: Path, states: list[str | None], wet: float | None, reasons: list[Reason]
) -> None:
    tree: Tree = {CDU: unit()}
    for number, state in enumerate(states):
        tree[f"{CDU}/LeakDetection/LeakDetectors/{number}"] = {
            "@odata.type": "#LeakDetector.v1_1_0.LeakDetector",
            "Status": ON,
            "DetectorState": state,
        }
    poll, table = read(tmp_path, tree)
    found = readings(poll, table, LEAK)
    assert found == ({} if wet is None else {("cdu-1", "", "cdu"): wet})
    assert [one.reason for one in poll.refused] == reasons


def test_a_detector_that_is_switched_off_says_nothing(tmp_path: Path) -> None:
    detector = {"@odata.type": "#LeakDetector.v1_1_0.LeakDetector", "DetectorState": "OK"}
    where = f"{CDU}/LeakDetection/LeakDetectors/1"
    assert told(tmp_path, LEAK, {CDU: unit(), where: {**detector, "Enabled": True}})
    assert told(tmp_path, LEAK, {CDU: unit(), where: {**detector, "Enabled": False}}) == {}


def test_tanks_heaters_and_the_facilitys_own_loop(tmp_path: Path) -> None:
    tank = f"{V1}/ThermalEquipment/ImmersionUnits/T1"
    loops = f"{V1}/ThermalEquipment/CoolingLoops"
    heater = f"{V1}/Chassis/1/ThermalSubsystem/Heaters/H1/Metrics"
    level = {"@odata.type": "#CoolingLoop.v1_0_0.CoolingLoop", "CoolingLoopType": "FWS",
             "CoolantLevelPercent": {"Reading": 66.0}}  # fmt: skip
    tree = {
        tank: {"@odata.type": "#CoolingUnit.v1_1_0.CoolingUnit", "EquipmentType": "ImmersionUnit",
               "Coolant": {"CoolantType": "Dielectric"}},
        f"{tank}/Reservoirs/1": {"@odata.type": "#Reservoir.v1_0_0.Reservoir",
                                 "ReservoirType": "Immersion",
                                 "FluidLevelPercent": {"Reading": 91.0}},
        f"{loops}/Plant": level,
        heater: {"@odata.type": "#HeaterMetrics.v1_0_0.HeaterMetrics",
                 "PowerWatts": {"Reading": 150.0}},
    }  # fmt: skip
    poll, table = read(tmp_path, tree)
    assert readings(poll, table, RESERVOIR_LEVEL) == {
        ("cdu-1", ""): 0.91,
        ("cdu-1-facility", ""): 0.66,
    }
    assert readings(poll, table, DEVICE_POWER) == {("cdu-1", "H1"): 150.0}
    (info,) = readings(poll, table, LOOP_INFO)
    assert info[LOOP_INFO.labels.index("fluid")] == "dielectric"


def test_units_behind_one_service_go_by_their_ids(tmp_path: Path) -> None:
    tree: Tree = {}
    for number, serial in (("1", "SN-1"), ("2", "SN-2"), ("3", "SN-3")):
        place = f"{V1}/ThermalEquipment/CDUs/{number}"
        tree[place] = {**unit(), "SerialNumber": serial}
        tree[f"{place}/SecondaryCoolantConnectors/1"] = connector()
    rows = [Device(name="cdu-b", role="cdu", ids=("SN-2",))]
    loops = [Loop(name="row-b", device="cdu-b")]
    poll, table = read(tmp_path, tree, Topology(rows, loops=loops))
    assert {labels[0] for labels in readings(poll, table, FLOW)} == {
        "cdu-1-1",
        "row-b",
        "cdu-1-3",
    }


def test_what_ran_over_is_not_the_reservoirs_level(tmp_path: Path) -> None:
    tree = {
        f"{CDU}/Reservoirs/{name}": {
            "@odata.type": "#Reservoir.v1_0_0.Reservoir",
            "ReservoirType": name,
            "FluidLevelPercent": {"Reading": percent},
        }
        for name, percent in (("Overflow", 3.0), ("Reserve", 80.0))
    }
    assert told(tmp_path, RESERVOIR_LEVEL, tree) == {("cdu-1", ""): 0.8}


def test_a_detector_group_names_the_rack_that_its_rope_lies_in(tmp_path: Path) -> None:
    groups = [{"Detectors": [
        {"DeviceName": "Rope under r07", "DetectorState": "Critical"},
        {"DeviceName": "Drip tray", "DetectorState": "OK"},
    ]}]  # fmt: skip
    tree = {CDU: unit(), f"{CDU}/LeakDetection": {
        "@odata.type": "#LeakDetection.v1_0_0.LeakDetection", "LeakDetectorGroups": groups,
    }}  # fmt: skip
    poll, table = read(tmp_path, tree, Topology(racks=[Rack(name="r07")]))
    assert readings(poll, table, LEAK) == {("cdu-1", "", "r07"): 1.0, ("cdu-1", "", "cdu"): 0.0}


def circuit(**more: Any) -> dict[str, Any]:
    """Return a circuit of three phases under load."""
    lines = {f"Line{n}": {"Reading": 10.0 * n} for n in (1, 2, 3)}
    volts = {f"Line{n}ToNeutral": {"Reading": 230.0} for n in (1, 2, 3)}
    return {
        "@odata.type": "#Circuit.v1_7_0.Circuit",
        "PolyPhaseCurrentAmps": lines | {"Neutral": {"Reading": 3.0}},
        "PolyPhaseVoltage": volts,
        "PowerWatts": {"Reading": 13_000.0, "PowerFactor": 0.94},
        "RatedCurrentAmps": 63,
        **more,
    }


def test_mains_are_feeds_and_branches_are_circuits(tmp_path: Path) -> None:
    tree = {
        PDU: {"@odata.type": "#PowerDistribution.v1_3_0.PowerDistribution"},
        f"{PDU}/Mains/AC1": circuit(),
        f"{PDU}/Branches/A": circuit(BreakerState="Tripped"),
        f"{PDU}/Outlets/A1": {
            "@odata.type": "#Outlet.v1_4_0.Outlet",
            "EnergykWh": {"Reading": 2.0},
        },
        f"{PDU}/Metrics": {
            "@odata.type": "#PowerDistributionMetrics.v1_3_0.PowerDistributionMetrics",
            "PowerWatts": {"Reading": 12_900},
        },
    }
    feed = Feed(name="r01-A", rack="r01", meter={"device": "cdu-1", "inlet": "AC1"})
    poll, table = read(tmp_path, tree, Topology(feeds=[feed]))
    assert readings(poll, table, FEED_CURRENT) == {
        ("r01", "r01-A", str(n)): 10.0 * n for n in (1, 2, 3)
    }
    assert readings(poll, table, FEED_VOLTAGE)["r01", "r01-A", "3"] == 230.0
    assert readings(poll, table, FEED_POWER) == {("r01", "r01-A"): 13_000.0}  # the inlet's own
    assert readings(poll, table, FEED_POWER_FACTOR) == {("r01", "r01-A"): 0.94}
    assert readings(poll, table, FEED_BREAKER) == {("r01", "r01-A"): 63.0}
    assert readings(poll, table, RACK_POWER) == {("r01",): 12_900.0}  # its one feed
    assert readings(poll, table, CIRCUIT_CURRENT)["cdu-1", "A", "2"] == 20.0
    assert readings(poll, table, CIRCUIT_CLOSED) == {("cdu-1", "A"): 0.0}
    assert readings(poll, table, OUTLET_ENERGY) == {("cdu-1", "A1"): 7.2e6}


def test_power_that_volts_and_amperes_contradict_is_refused_with_them(tmp_path: Path) -> None:
    tree = {f"{PDU}/Mains/1": circuit(PowerWatts={"Reading": 1.38, "PowerFactor": 1.0})}
    poll, table = read(tmp_path, tree)
    assert readings(poll, table, FEED_POWER) == {}
    assert readings(poll, table, FEED_CURRENT) == {}
    assert {one.reason for one in poll.refused} == {Reason.IMPLAUSIBLE}
    assert all("check scale and unit" in str(one.raw) for one in poll.refused)


def test_one_of_two_feeds_is_not_the_racks_power(tmp_path: Path) -> None:
    tree = {f"{PDU}/Metrics": {
        "@odata.type": "#PowerDistributionMetrics.v1_3_0.PowerDistributionMetrics",
        "PowerWatts": {"Reading": 6000},
    }}  # fmt: skip
    feeds = [
        Feed(name="r01-A", rack="r01", meter={"device": "cdu-1", "inlet": "1"}),
        Feed(name="r01-B", rack="r01", meter={"device": "pdu-b", "inlet": "1"}),
    ]
    poll, table = read(tmp_path, tree, Topology(feeds=feeds))
    assert readings(poll, table, FEED_POWER) == {("r01", "r01-A"): 6000.0}
    assert readings(poll, table, RACK_POWER) == {}


OLD_THERMAL = {
    "Temperatures": [
        {"Name": "Inlet", "ReadingCelsius": 24, "Status": ON, "UpperThresholdCritical": 45},
        {"Name": "Slot 7", "ReadingCelsius": None, "Status": {"State": "Absent"}},
        {"Name": "Coolant", "ReadingCelsius": "31.5", "Status": ON, "UpperThresholdCritical": "50"},
        {"Name": "Socket 1", "ReadingCelsius": -52, "Status": {"State": "Enabled"},
         "UpperThresholdCritical": 0, "UpperThresholdFatal": 0, "MaxReadingRangeTemp": 0},
        {"Name": "CPU1 DTS", "ReadingCelsius": -48, "Status": ON},
        {"Name": "Outlet", "ReadingCelsius": 38, "Status": ON, "UpperThresholdCritical": 0,
         "UpperThresholdFatal": 0},
        {"Name": "Regulator", "ReadingCelsius": None, "Status": {"State": None}},
        {"Name": "Card", "ReadingCelsius": 0, "Status": {"State": "UnavailableOffline"}},
        {"Name": "Silent", "ReadingCelsius": None, "Status": ON},
        {"Name": "Byte", "ReadingCelsius": 255, "Status": ON},
        {"Name": "Words", "ReadingCelsius": "warm", "Status": ON},
    ],
    "Fans": [
        {"Name": "Fan1", "Reading": 4410, "ReadingUnits": "RPM"},
        {"Name": "Fan2", "Reading": 0, "ReadingUnits": "RPM", "Status": ON},
        {"Name": "Fan3", "Reading": 62, "ReadingUnits": "Percent"},
        {"Name": "Fan4", "Reading": 4, "ReadingUnits": "furlongs"},
    ],
    "PowerSupplies": [
        {"Name": "PSU1", "PowerInputWatts": 900, "LastPowerOutputWatts": None, "Status": ON},
        {"Name": "PSU2", "PowerInputWatts": 910.5, "LastPowerOutputWatts": 830,
         "Status": {"State": "UnavailableOffline", "Health": "Critical"}},
    ],
}  # fmt: skip


def test_null_text_offline_and_relative_readings_of_an_old_service(tmp_path: Path) -> None:
    poll, table = read(tmp_path, {f"{V1}/Chassis/1/Thermal": OLD_THERMAL})
    temperatures = readings(poll, table, DEVICE_TEMPERATURE)
    assert temperatures == {
        ("cdu-1", "Inlet"): 24.0,
        ("cdu-1", "Coolant"): 31.5,
        ("cdu-1", "Outlet"): 38.0,
    }
    assert readings(poll, table, DEVICE_TEMPERATURE_LIMIT) == {  # a limit of 0 is none
        ("cdu-1", "Inlet", "critical"): 45.0,
        ("cdu-1", "Coolant", "critical"): 50.0,
    }
    assert readings(poll, table, FAN_SPEED) == {("cdu-1", "Fan1"): 4410.0, ("cdu-1", "Fan2"): 0.0}
    assert readings(poll, table, FAN_SPEED_RATIO) == {("cdu-1", "Fan3"): 0.62}
    assert readings(poll, table, SUPPLY_INPUT) == {("cdu-1", "cdu-1/PSU1"): 900.0}
    assert readings(poll, table, SUPPLY_OUTPUT) == {}
    assert readings(poll, table, SUPPLY_HEALTHY)["cdu-1", "cdu-1/PSU2"] == 0.0
    assert sorted(refused(poll)) == [
        (Reason.FAILED, "Card"),
        (Reason.FAILED, "Silent"),
        (Reason.FAILED, "cdu-1/PSU2"),
        (Reason.FAILED, "cdu-1/PSU2"),
        (Reason.MALFORMED, "Fan4"),
        (Reason.MALFORMED, "Words"),
        (Reason.UNSUPPORTED, "CPU1 DTS"),
        (Reason.UNSUPPORTED, "Socket 1"),
    ]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param({"ReadingUnits": "Cel"}, 50.0, id="as written"),
        pytest.param({"ReadingUnits": "[degF]"}, 10.0, id="Fahrenheit"),
        pytest.param(
            {"ReadingUnits": "K", "ReadingType": "Temperature"}, -223.15, id="its own unit"
        ),
        pytest.param({"ReadingType": "Temperature"}, 50.0, id="by its type"),
        pytest.param({"ReadingUnits": "V", "ReadingType": "Temperature"}, None, id="volts"),
        pytest.param({"ReadingUnits": "smoots", "ReadingType": "Temperature"}, None, id="unknown"),
    ],
)
def test_a_sensor_counts_in_the_unit_that_it_writes(
    tmp_path: Path, said: dict[str, str], expected: float | None
) -> None:
    path = f"{V1}/Chassis/1/Sensors/T1"
    found = told(tmp_path, DEVICE_TEMPERATURE, {path: sensor(50, **said)})
    assert found == ({} if expected is None else {("cdu-1", "T1"): pytest.approx(expected)})


@pytest.mark.parametrize(
    ("unit", "kilopascals"),
    [("kPa", 2.0), ("Pa", 0.002), ("bar", 200.0), ("psi", 13.789514586336), ("mbar", 0.2)],
)
def test_pressure_in_any_unit(tmp_path: Path, unit: str, kilopascals: float) -> None:
    tree = {f"{CDU}/SecondaryCoolantConnectors/1": connector(
        SupplyPressurekPa={"Reading": 2, "ReadingUnits": unit}
    )}  # fmt: skip
    found = told(tmp_path, PRESSURE, tree)
    assert found["cdu-1", "", "supply"] == pytest.approx(kilopascals, rel=1e-12)


def test_a_unit_that_has_sensors_alone_is_understood_by_their_names(tmp_path: Path) -> None:
    measured = {
        "SecondarySupplyTemp": (31.0, "Cel", "Temperature"),
        "TCS_Return_Temp": (43.0, "Cel", "Temperature"),
        "FacilitySupplyTemperature": (18.0, "Cel", "Temperature"),
        "CoolantSupplyPressure": (3.2, "bar", "Pressure"),
        "CoolantFlow": (12.0, "m3/h", "LiquidFlow"),
        "PrimaryFlowRate": (300.0, "L/min", "LiquidFlow"),
        "FilterDeltaPressure": (25.0, "kPa", "PressurekPa"),
        "LoopDifferentialPressure": (110.0, "kPa", "PressurekPa"),
        "ReservoirLevel": (77.0, "%", "Percent"),
        "Pump1Speed": (66.0, "%", "Percent"),
        "RelativeHumidity": (40.0, "%", "Humidity"),
        "AmbientTemp": (25.0, "Cel", "Temperature"),
        "BoardTemp": (51.0, "Cel", "Temperature"),
        "ControlValve": (35.0, "%", "Valve"),
    }
    tree = {
        f"{V1}/Chassis/1/Sensors/{name}": sensor(value, ReadingUnits=unit, ReadingType=kind)
        for name, (value, unit, kind) in measured.items()
    }
    loop = Loop(name="row-a", device="cdu-1", facility="fws")
    poll, table = read(tmp_path, tree, Topology(loops=[loop]))
    assert readings(poll, table, COOLANT_TEMPERATURE) == {
        ("row-a", "", "supply"): 31.0,
        ("row-a", "", "return"): 43.0,
        ("fws", "", "supply"): 18.0,
    }
    assert readings(poll, table, PRESSURE) == {("row-a", "", "supply"): pytest.approx(320.0)}
    assert readings(poll, table, FLOW) == {
        ("row-a", "", ""): pytest.approx(200.0),
        ("fws", "", ""): 300.0,
    }
    assert readings(poll, table, DIFFERENTIAL_PRESSURE) == {
        ("row-a", "", "filter"): 25.0,
        ("row-a", "", "loop"): 110.0,
    }
    assert readings(poll, table, RESERVOIR_LEVEL) == {("row-a", ""): 0.77}
    assert readings(poll, table, PUMP_SPEED) == {("row-a", "", "Pump1Speed"): 0.66}
    assert readings(poll, table, VALVE_POSITION) == {("row-a", "", "ControlValve"): 0.35}
    assert readings(poll, table, AIR_HUMIDITY) == {("row-a", ""): 0.4}
    assert readings(poll, table, AIR_TEMPERATURE) == {("row-a", ""): 25.0}
    assert readings(poll, table, DEVICE_TEMPERATURE) == {("cdu-1", "BoardTemp"): 51.0}
    assert poll.refused == []


def test_coolant_at_a_server_is_a_branch_of_its_racks_loop(tmp_path: Path) -> None:
    tree = {
        f"{V1}/Chassis/1/ThermalSubsystem/ThermalMetrics": {
            "@odata.type": "#ThermalMetrics.v1_3_0.ThermalMetrics",
            "TemperatureReadingsCelsius": [
                {"DeviceName": "Coolant Supply", "Reading": 30.0},
                {"DeviceName": "Exhaust Air", "Reading": 38.0},
            ],
        },
        f"{V1}/Chassis/1/Sensors/In": sensor(
            1.8, ReadingType="LiquidFlowLPM", PhysicalContext="LiquidInlet"
        ),
    }
    rows = [Device(name="cdu-1", role="host", rack="r01")]
    poll, table = read(tmp_path, tree, Topology(rows, racks=[Rack(name="r01", loop="row-a")]))
    assert readings(poll, table, COOLANT_TEMPERATURE) == {("row-a", "cdu-1", "supply"): 30.0}
    assert readings(poll, table, FLOW) == {("row-a", "cdu-1", ""): 1.8}
    assert readings(poll, table, DEVICE_TEMPERATURE) == {("cdu-1", "Exhaust Air"): 38.0}


def test_a_sensor_that_tells_a_distance_is_refused(tmp_path: Path) -> None:
    tree = {
        f"{V1}/Chassis/1/Sensors/Left": sensor(12, ReadingUnits="Cel", ReadingBasis="Headroom"),
        f"{V1}/Chassis/1/Sensors/T": sensor(41, ReadingUnits="Cel", ReadingBasis="Zero"),
    }
    poll, table = read(tmp_path, tree)
    assert readings(poll, table, DEVICE_TEMPERATURE) == {("cdu-1", "T"): 41.0}
    assert refused(poll) == [(Reason.UNSUPPORTED, "Left")]


def test_what_an_excerpt_tells_its_sensor_need_not(tmp_path: Path) -> None:
    where = f"{V1}/Chassis/1/Sensors/Supply"
    tree = {
        f"{CDU}/SecondaryCoolantConnectors/1": connector(
            SupplyTemperatureCelsius={"Reading": 30.0, "DataSourceUri": where}
        ),
        where: sensor(30.4, ReadingUnits="Cel"),
    }
    assert told(tmp_path, DEVICE_TEMPERATURE, tree) == {}


def test_a_sensor_that_stands_still_is_stale_and_the_controllers_clock_does_not_matter(
    tmp_path: Path,
) -> None:
    tree = {
        f"{V1}/Chassis/1/Sensors/Live": sensor(
            41, ReadingUnits="Cel", ReadingTime="2011-01-01T08:00:00Z"
        ),
        f"{V1}/Chassis/1/Sensors/Stuck": sensor(
            22, ReadingUnits="Cel", ReadingTime="2011-01-01T07:50:00Z"
        ),
    }
    poll, table = read(tmp_path, tree)
    assert readings(poll, table, DEVICE_TEMPERATURE) == {("cdu-1", "Live"): 41.0}
    assert refused(poll) == [(Reason.STALE, "Stuck")]


def test_a_controller_whose_stamps_stand_still_is_stale_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "tree.json"
    path = f"{V1}/Chassis/1/Sensors/T"
    stamped = sensor(41, ReadingUnits="Cel", ReadingTime="2011-01-01T08:00:00Z")
    file.write_text(json.dumps({path: {"@odata.id": path, **stamped}}))
    source = Redfish(RedfishSettings(), Target("cdu-1", "redfish"), SeriesTable())
    polls = [source.captured([file], AT + wait) for wait in (0.0, 299.0, 301.0)]
    assert [len(readings(poll, source.table, DEVICE_TEMPERATURE)) for poll in polls] == [1, 1, 0]
    assert refused(polls[-1]) == [(Reason.STALE, "T")]


def test_leaks_in_two_servers_of_a_rack_are_told_apart(tmp_path: Path) -> None:
    tree = {f"{V1}/Chassis/1/ThermalSubsystem/LeakDetection/LeakDetectors/1": {
        "@odata.type": "#LeakDetector.v1_1_0.LeakDetector", "DetectorState": "Critical",
    }}  # fmt: skip
    racks = [Rack(name="r01", loop="row-a")]
    rows = [Device(name=name, role="host", rack="r01") for name in ("cdu-1", "host-2")]
    poll, table = read(tmp_path, tree, Topology(devices=rows, racks=racks))
    assert readings(poll, table, LEAK) == {("row-a", "cdu-1", "r01"): 1.0}


def test_a_service_is_the_device_whose_ids_it_tells(tmp_path: Path) -> None:
    tree = {
        V1: {"@odata.type": "#ServiceRoot.v1_16_0.ServiceRoot", "UUID": "5A1F3D2C-01"},
        f"{V1}/Chassis/1/Sensors/T": sensor(41, ReadingUnits="Cel"),
    }
    rows = [Device(name="host-7", role="host", ids=("5a1f3d2c-01",))]
    poll, table = read(tmp_path, tree, Topology(devices=rows))
    assert readings(poll, table, DEVICE_TEMPERATURE) == {("host-7", "T"): 41.0}


def test_several_chassis_tell_their_sensors_apart(tmp_path: Path) -> None:
    tree = {f"{V1}/Chassis/{n}/Sensors/Inlet": sensor(20 + n, ReadingUnits="Cel") for n in (1, 2)}
    assert told(tmp_path, DEVICE_TEMPERATURE, tree) == {
        ("cdu-1", "1/Inlet"): 21.0,
        ("cdu-1", "2/Inlet"): 22.0,
    }


def test_a_report_gives_values_of_properties_at_their_own_times(tmp_path: Path) -> None:
    where = f"{V1}/Chassis/1/Sensors/Total"
    tree = {
        where: sensor(400, ReadingType="Power", ReadingUnits="kW"),
        f"{V1}/TelemetryService/MetricReports/Power": {
            "@odata.type": "#MetricReport.v1_5_0.MetricReport",
            "MetricValues": [
                {"MetricProperty": f"{where}#/Reading", "MetricValue": "1.5",
                 "Timestamp": "2027-01-15T07:59:30Z"},
                {"MetricProperty": f"{where}#/Reading", "MetricValue": "1.6",
                 "Timestamp": "2027-01-15T08:00:00Z"},
                {"MetricProperty": f"{V1}/Systems/1#/Unknown", "MetricValue": "3"},
            ],
        },
    }  # fmt: skip
    poll, table = read(tmp_path, tree)
    at_times = {batch.at: batch for batch in poll.batches}
    assert set(at_times) == {AT - 30, AT}
    for when, watts in ((AT - 30, 1500.0), (AT, 1600.0)):  # what the report says, not the sensor
        alone = Poll([at_times[when]])
        assert readings(alone, table, DEVICE_POWER) == {("cdu-1", "Total"): watts}


def test_a_controller_that_says_it_again_and_again_is_told_a_hundred_times(tmp_path: Path) -> None:
    row = {"MessageId": "Alert.1.0.FanFailed", "MessageSeverity": "Warning", "Message": "fan"}
    (tmp_path / "event.json").write_text(
        json.dumps({"@odata.type": "#Event.v1_7_0.Event", "Events": [row] * 130})
    )
    source = Redfish(RedfishSettings(), Target("cdu-1", "redfish"), SeriesTable())
    poll = source.captured([tmp_path / "event.json"], AT)
    assert len(poll.events) == 100
    assert poll.events[0].more == {"code": "Alert.FanFailed", "text": "fan", "fatal": False}
    assert [(one.reason, one.what) for one in poll.refused] == [(Reason.FAILED, "event")]


def test_html_in_place_of_a_body_costs_itself_only(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("<html><body>not here</body></html>")
    (tmp_path / "b.json").write_text(json.dumps(connector()))
    source = Redfish(RedfishSettings(), Target("cdu-1", "redfish"), SeriesTable())
    poll = source.captured([tmp_path], AT)
    assert readings(poll, source.table, FLOW)
    (wrong,) = poll.refused
    assert wrong.reason is Reason.MALFORMED
    assert "HTML" in str(wrong.raw)


def test_pages_that_lead_to_themselves_are_seen_to(tmp_path: Path) -> None:
    page = {"Members": [{"@odata.id": f"{V1}/Chassis/2/Sensors/S1"}],
            "Members@odata.nextLink": f"{V1}/Chassis/2/Sensors"}  # fmt: skip
    assert documents.members(page) == [f"{V1}/Chassis/2/Sensors/S1"]
    assert documents.next_page(page) == f"{V1}/Chassis/2/Sensors"
    assert documents.members({"Members@odata.count": 0}) == []
    assert documents.next_page({}) == ""


def test_every_unit_of_readings_is_a_measure() -> None:
    known = {*units.MEASURES.values(), *units.OF_TYPES.values(), *units.BY_CASE.values()}
    assert known <= set(MEASURES)
    for odd in redfish_rules.oddities():
        assert odd.why.endswith(".")


@given(st.binary(max_size=400))
def test_any_bytes_are_a_document_or_malformed(body: bytes) -> None:
    try:
        found = documents.document(body)
    except MalformedReply:
        return
    for path, one in documents.resources(found):
        documents.members(one)
        documents.next_page(one)
        documents.resource_type(one)
        reports.values(one)
        reports.messages(one)
        assert not path or path.startswith("/")


@given(st.binary(max_size=300), st.integers(1, 20))
def test_a_stream_of_events_is_the_same_however_it_is_cut(stream: bytes, size: int) -> None:
    whole, cut = EventStream(), EventStream()
    at_once = whole.feed(stream)
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [text for piece in pieces for text in cut.feed(piece)] == at_once
    assert cut.last_id == whole.last_id


def test_an_event_of_several_lines_and_heartbeats_between() -> None:
    stream = EventStream()
    assert stream.feed(b': beat\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r') == []
    assert stream.feed(b"\n: beat\n\n") == ['{"a":\n1}']
    assert stream.last_id == "7"


PLACES = st.sampled_from([V1, CDU, f"{CDU}/Pumps", f"{V1}/Chassis", f"{V1}/Chassis/1", PDU, "/x"])
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=8) | st.builds(dict, **{"@odata.id": PLACES}),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(
        st.sampled_from(["Members", "Chassis", "ThermalEquipment", "CDUs", "Sensors", "Pumps",
                         "@odata.id", "@odata.type", "Members@odata.nextLink", "MetricValues"]),
        one | PLACES | st.sampled_from(["#Chassis.v1_0_0.Chassis", "#Pump.v1_0_0.Pump",
                                        "#CoolingUnit.v1_0_0.CoolingUnit"]),
        max_size=5,
    ),
    max_leaves=10,
)  # fmt: skip


@given(st.lists(ANYTHING | st.just(None), min_size=1, max_size=30), st.booleans())
def test_a_walk_through_anything_ends(answers: list[Any], ports: bool) -> None:
    walk = Walk(ports=ports)
    asked = []
    while (request := walk.wanted()) is not None:
        asked.append(request)
        answer = answers[len(asked) % len(answers)]
        if answer is None:
            walk.failed(request, "nothing")
        else:
            walk.got(request, answer)
    assert len(asked) == len(set(asked)) or any("expand" in one for one in asked)


@given(st.lists(ANYTHING, min_size=1, max_size=20), st.booleans())
def test_a_service_that_answers_anything_is_read_or_unavailable(
    answers: list[Any], etags: bool
) -> None:
    async def visited() -> None:
        table = SeriesTable()
        service = Service(Target("cdu-1", "redfish"), table, table.clock("redfish", "x"), 300.0)
        asked = 0

        async def ask(request: str, etag: str) -> Answer:
            nonlocal asked
            asked += 1
            if etag and asked % 3 == 0:
                return Answer(None, etag, unchanged=True)
            return Answer(answers[asked % len(answers)], "e" if etags else "")

        visits = Visits(ask, service, rediscover=60.0)
        for at in (AT, AT + 30, AT + 90):
            columns = Columns(table)
            service.begin(at, columns)
            with suppress(SourceUnavailable):
                await visits.visit(at, columns, 5.0)
                service.finish(at, columns)

    asyncio.run(visited())
