"""`check-map`: a register map on its own, and against a device."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pymodbus", reason="no pymodbus: install fabrichealth[modbus]")

from emulator.modbus import ModbusServer, ModbusUnits
from tests.fabrichealth.terminal import Terminal

MAP = """about: of a test
registers:
  - {name: supply, address: 0, type: int16, scale: 0.1, to: fabric_coolant_temperature_celsius,
     labels: {point: supply}, valid: [0, 90]}
  - {name: flow, address: 1, type: float32, valid: [1, 900],
     to: fabric_coolant_flow_liters_per_minute}
"""


def written(folder: Path, text: str = MAP) -> Path:
    file = folder / "map.yaml"
    file.write_text(text)
    return file


@contextmanager
def served(cells: dict[tuple[int, int], int], unit: int = 1) -> Iterator[str]:
    """Serve registers from a thread, since a command has a loop of its own; yield HOST:PORT."""
    server = ModbusServer(ModbusUnits(lambda asked: cells if asked == unit else None))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(5)
    try:
        yield server.address.removeprefix("modbus://")
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


WELL = {(3, 0): 305, (3, 1): 0x43D2, (3, 2): 0}
SWAPPED = {(3, 0): 305, (3, 1): 0, (3, 2): 0x43D2}


def test_a_map_that_is_well_is_shown(terminal: Terminal, tmp_path: Path) -> None:
    said = terminal("check-map", written(tmp_path))
    assert said.status == 0
    assert "2 registers, read by 1 requests" in said.out
    assert "fabric_coolant_temperature_celsius point=supply" in said.out


def test_a_shipped_map_goes_by_its_name(terminal: Terminal) -> None:
    assert terminal("check-map", "meter_three_phase").status == 0


def test_a_wrong_map_is_one_line_with_its_line(terminal: Terminal, tmp_path: Path) -> None:
    file = written(tmp_path, MAP.replace("float32", "float31"))
    said = terminal("check-map", file)
    assert said.status == 1
    assert said.err.startswith(f"fabrichealth: {file}:5: ")


def test_no_map_is_one_line(terminal: Terminal, tmp_path: Path) -> None:
    assert "cannot be read" in terminal("check-map", tmp_path / "gone.yaml").err


def test_a_device_that_fits_says_what_each_register_reads(
    terminal: Terminal, tmp_path: Path
) -> None:
    with served(WELL, unit=7) as address:
        said = terminal("check-map", written(tmp_path), "--probe", address, "--unit", 7)
    assert said.status == 0
    assert "30.5 celsius" in said.out
    assert "420 liters_per_minute" in said.out


def test_words_in_the_wrong_order_are_against_the_map(terminal: Terminal, tmp_path: Path) -> None:
    with served(SWAPPED) as address:
        said = terminal("check-map", written(tmp_path), "--probe", f"modbus://{address}/1")
    assert said.status == 1
    assert "420 in the other order of words; check word_order" in said.out
    assert "1 of 2 registers do not fit" in said.err


def test_a_device_that_is_not_there_is_one_line(terminal: Terminal, tmp_path: Path) -> None:
    with served(WELL) as address:
        pass
    said = terminal("check-map", written(tmp_path), "--probe", address)
    assert said.status == 1
    assert "check address and port" in said.err


@pytest.mark.parametrize(
    "words",
    [
        ("--probe", "http://h"),
        ("--unit", "3"),
        ("--probe", "127.0.0.1:1", "--unit", "300"),
        ("--probe", "modbus://127.0.0.1:1/2", "--unit", "3"),
    ],
)
def test_wrong_usage_is_told(terminal: Terminal, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert terminal("check-map", written(tmp_path), *words).status == 2
