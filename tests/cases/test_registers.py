"""Cases of registers that once broke tools: orders of words, signs, and holes in a device's map."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymodbus", reason="no pymodbus: install fabrichealth[modbus]")

from collectors.source import Target
from collectors.sources.modbus import Modbus, ModbusSettings
from emulator.modbus import HOLDING, ModbusServer, ModbusUnits
from fabrichealth.catalogue.devices import DEVICE_POWER
from fabrichealth.model import Reason, SeriesTable
from tests.fixtures import readings
from tests.house.checkout import ROOT

CASES = ROOT.parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.exists(), reason="no cases beside this checkout")


def case(number: int) -> Any:
    return json.loads((CASES / f"c{number}.json").read_text())


def written(folder: Path, registers: list[dict[str, Any]]) -> str:
    """Write registers of a case as a map; what they measure does not matter here."""
    entries = [
        {
            "name": one["name"],
            "address": one["address"],
            "type": one["type"],
            "word_order": one.get("word_order", "big"),
            "scale": one.get("scale", 1),
            "to": str(DEVICE_POWER),
            "labels": {"sensor": one["name"]},
            "valid": one.get("valid_range", [-1e6, 1e6]),
        }
        for one in registers
    ]
    file = folder / "map.yaml"
    file.write_text(json.dumps({"about": "a case", "bridge": 9, "registers": entries}))
    return str(file)


def test_word_order_and_sign(tmp_path: Path) -> None:
    registers = case(22)["registers"]
    table = SeriesTable()
    source = Modbus(
        ModbusSettings(),
        Target("m", "modbus", options={"map": written(tmp_path, registers)}),
        table,
    )
    dump = tmp_path / "dump.csv"
    dump.write_text(
        "".join(
            f"holding,{one['address'] + place},{word}\n"
            for one in registers
            for place, word in enumerate(one["regs"])
        )
    )
    poll = source.captured([dump], 0.0)
    assert readings(poll, table, DEVICE_POWER) == {
        ("m", "voltage_a"): 238.75,
        ("m", "voltage_b"): 238.75,
        ("m", "energy"): 812_345.0,
        ("m", "outdoor_temp"): -1.5,
    }
    (refused,) = poll.refused
    assert refused.reason is Reason.IMPLAUSIBLE
    assert refused.labels["sensor"] == "voltage_c"
    assert "-2.004" in str(refused.raw)
    assert "check word_order" in str(refused.raw)


async def test_one_hole_costs_only_itself(tmp_path: Path) -> None:
    told = case(23)
    cells = {(HOLDING, int(place)): word for place, word in told["server"]["holding"].items()}
    units = ModbusUnits(lambda _: cells)
    server = ModbusServer(units)
    await server.start()
    table = SeriesTable()
    target = Target(
        "m", "modbus", server.address, options={"map": written(tmp_path, told["wanted"])}
    )
    source = Modbus(ModbusSettings(), target, table)
    first = await source.read(0.0)
    known = len(units.asked)
    second = await source.read(10.0)
    await source.close()
    await server.stop()
    for poll in (first, second):
        assert readings(poll, table, DEVICE_POWER) == {
            ("m", "supply_temp"): 25.1,
            ("m", "return_temp"): 26.3,
            ("m", "pump_pct"): 40.0,
        }
        assert poll.missing == []
    assert [one.labels["sensor"] for one in first.refused] == ["spare"]
    assert second.refused == []
    touched = {
        cell for _, _, address, count in units.asked[known:]
        for cell in range(address, address + count)
    }  # fmt: skip
    assert touched == {11174, 11176, 11177}  # the block was split, and that is remembered
