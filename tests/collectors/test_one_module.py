"""One module, told by its memory, a switch's database, gNMI and ethtool: the same readings.

Lane numbers, units, limits and darkness must not depend on who carried the numbers.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from collectors.intake import Bounds, checked
from collectors.source import Source, Target
from collectors.sources.eeprom import Eeprom
from collectors.sources.gnmi import Gnmi
from collectors.sources.host import Host
from collectors.sources.sonic import Sonic
from emulator import openconfig
from emulator.fabric import Fabric
from emulator.modules.image import image
from emulator.optics import ModuleState
from emulator.plan import Plan
from emulator.sonic import SonicSwitch
from fabrichealth.catalogue.optics import (
    LOS,
    OPTICS_INFO,
    RX_POWER,
    SUPPLY,
    TEMPERATURE,
    THRESHOLD,
    TX_BIAS,
    TX_POWER,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, SeriesTable
from tests.collectors.openconfig_leaf import notified

AT = 1_767_225_600.0
COMPARED: dict[Metric, float] = {
    TEMPERATURE: 0.06,
    SUPPLY: 0.006,
    RX_POWER: 0.02,
    TX_POWER: 0.02,
    TX_BIAS: 2e-5,
    LOS: 0.0,
}
"""Metrics, and how far apart the coarsest carrier may be: a step of its own."""
SWITCH, PORT = "tor-01", "Ethernet0"


def fabric(access: str) -> tuple[Fabric, ModuleState]:
    """Return a fabric, and the module in the first port of its switch: one lane hears little."""
    made = Fabric(Plan(racks=1, access=(access,)), 1, AT - 10)
    made.advance(AT)
    names = [name for name, port in made.ports.items()
             if name.startswith(f"{SWITCH}/") and port.optical is not None]  # fmt: skip
    module = made.optical(names[0]).module
    module.rx_dbm = [-1.5, -2.25, -12.0, -3.0][: module.lanes]
    module.temperature, module.voltage = 47.5, 3.31
    return made, module


def read(kind: type[Source], file: Path) -> dict[tuple[Metric, Labels], float]:
    """Return what a source tells of the first optical port: by metric and labels behind it."""
    table = SeriesTable()
    name = kind.__module__.rpartition(".")[2]
    source = kind(kind.settings_type(), Target(SWITCH, name), table)
    poll = checked(source.captured([file], AT), Bounds(table), table, AT, 300.0)
    found: dict[tuple[Metric, Labels], float] = {}
    told = [
        (int(s), float(v)) for b in poll.batches for s, v in zip(b.series, b.values, strict=True)
    ]
    ports = {table.labels(s)[1] for s, _ in told if table.metric(s) is TEMPERATURE}
    port = min(ports, key=lambda one: (len(one), one))
    for series, value in told:
        labels = table.labels(series)
        if len(labels) > 1 and labels[1] == port:
            found[table.metric(series), labels[2:]] = value
    return found


def by_memory(folder: Path, module: ModuleState) -> dict[tuple[Metric, Labels], float]:
    pages = {name: page.hex() for name, page in image(module).items()}
    file = folder / "memory.json"
    file.write_text(json.dumps({"lower": pages.pop("lower"), "pages": pages}))
    return read(Eeprom, file)


def by_sonic(folder: Path) -> tuple[dict[tuple[Metric, Labels], float], ModuleState]:
    made, module = fabric("sonic")
    file = folder / "sonic.json"
    file.write_text(json.dumps({"6": SonicSwitch(made, SWITCH).database(6)}))
    return read(Sonic, file), module


def by_gnmi(folder: Path) -> tuple[dict[tuple[Metric, Labels], float], ModuleState]:
    made, module = fabric("gnmi")
    file = folder / "gnmi.json"
    file.write_text(json.dumps(notified(openconfig.values(made, SWITCH))))
    return read(Gnmi, file), module


def by_ethtool(folder: Path) -> tuple[dict[tuple[Metric, Labels], float], ModuleState]:
    """Return what `ethtool --json -m` would tell: mA and mW, a list by lane."""
    _, module = fabric("sonic")

    def milliwatts(levels: list[float]) -> list[float]:
        return [round(10 ** (dbm / 10), 4) for dbm in levels]

    bounds = {"high_alarm_threshold": 75.0, "low_alarm_threshold": -5.0,
              "high_warning_threshold": 70.0, "low_warning_threshold": 0.0}  # fmt: skip
    told = {
        "ifname": "eth0",
        "identifier": 0x18,
        "vendor_name": module.vendor,
        "vendor_pn": module.part,
        "vendor_sn": module.serial,
        "module_temperature": module.temperature,
        "module_voltage": module.voltage,
        "laser_tx_bias_current": {"values": module.bias_ma},
        "transmit_avg_optical_power": {"values": milliwatts(module.tx_dbm)},
        "rx_power": {"values": milliwatts(module.rx_dbm)},
        "rx_loss_of_signal": ["No"] * module.lanes,
        "module_temperature_thresholds": bounds,
    }
    file = folder / "ethtool.json"
    file.write_text(json.dumps([told]))
    return read(Host, file), module


Carrier = Callable[[Path], tuple[dict[tuple[Metric, Labels], float], ModuleState]]


@pytest.mark.parametrize("carrier", [by_sonic, by_gnmi, by_ethtool])
def test_who_carries_the_numbers_does_not_change_them(carrier: Carrier, tmp_path: Path) -> None:
    other, module = carrier(tmp_path)
    memory = by_memory(tmp_path, module)
    compared = 0
    for (metric, labels), value in other.items():
        if metric in COMPARED:
            assert value == pytest.approx(memory[metric, labels], abs=COMPARED[metric] + 1e-9), (
                metric.name,
                labels,
            )
            compared += 1
    assert compared >= 2 + 4 * module.lanes
    lanes = {labels[0] for metric, labels in memory if metric is RX_POWER}
    assert lanes == {labels[0] for metric, labels in other if metric is RX_POWER}


@pytest.mark.parametrize("carrier", [by_sonic, by_ethtool])
def test_a_module_s_own_limits_are_the_same_limits(carrier: Carrier, tmp_path: Path) -> None:
    other, module = carrier(tmp_path)
    memory = by_memory(tmp_path, module)
    limits = {labels: value for (metric, labels), value in other.items() if metric is THRESHOLD}
    assert limits
    for labels, value in limits.items():
        assert value == pytest.approx(memory[THRESHOLD, labels], abs=0.05), labels


@pytest.mark.parametrize("carrier", [by_sonic, by_gnmi, by_ethtool])
def test_it_is_the_same_part_with_the_same_serial(carrier: Carrier, tmp_path: Path) -> None:
    other, module = carrier(tmp_path)
    who = [
        next(labels[:3] for metric, labels in told if metric is OPTICS_INFO)
        for told in (other, by_memory(tmp_path, module))
    ]
    assert who[0] == who[1] == (module.vendor, module.part, module.serial)
