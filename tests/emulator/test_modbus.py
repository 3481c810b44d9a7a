"""The emulated Modbus server: what another's client makes of it, and that no message harms it."""

import asyncio
import struct

import pytest

pytest.importorskip("pymodbus", reason="no pymodbus: install fabrichealth[modbus]")
from hypothesis import given, settings
from hypothesis import strategies as st
from pymodbus.client import AsyncModbusTcpClient

from emulator.modbus import ModbusServer, ModbusUnits

CELLS = {(3, address): 100 + address for address in range(10)} | {
    (1, address): address % 2 for address in range(12)
}


async def test_another_client_reads_registers_and_coils() -> None:
    server = ModbusServer(ModbusUnits(lambda unit: CELLS if unit == 5 else None))
    await server.start()
    host, _, port = server.address.removeprefix("modbus://").partition(":")
    client = AsyncModbusTcpClient(host, port=int(port), retries=0, reconnect_delay=0)
    await client.connect()
    registers = await client.read_holding_registers(2, count=3, device_id=5)
    coils = await client.read_coils(0, count=12, device_id=5)
    beyond = await client.read_holding_registers(8, count=3, device_id=5)
    nobody = await client.read_holding_registers(0, count=1, device_id=6)
    client.close()
    await server.stop()
    assert registers.registers == [102, 103, 104]
    assert coils.bits[:12] == [False, True] * 6
    assert (beyond.exception_code, nobody.exception_code) == (2, 11)


@settings(deadline=None)  # a busy machine is no fault
@given(unit=st.integers(0, 255), question=st.binary(max_size=12))
def test_any_question_has_an_answer(unit: int, question: bytes) -> None:
    answer = ModbusUnits(lambda _: CELLS).answer(unit, question)
    assert answer[0] & 0x7F == (question[0] & 0x7F if question else 0)
    if not answer[0] & 0x80:
        assert len(answer) == 2 + answer[1]


@pytest.mark.parametrize("count", [0, 126, 65_535])
def test_too_many_registers_are_refused(count: int) -> None:
    answer = ModbusUnits(lambda _: CELLS).answer(1, struct.pack(">BHH", 3, 0, count))
    assert answer == b"\x83\x03"


@settings(deadline=None, max_examples=20)
@given(data=st.binary(max_size=40))
async def test_bytes_that_are_no_message_end_no_server(data: bytes) -> None:
    server = ModbusServer(ModbusUnits(lambda _: CELLS))
    await server.start()
    host, _, port = server.address.removeprefix("modbus://").partition(":")
    for sent in (data, bytes.fromhex("000100000006 01 03 0000 0001")):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        writer.write_eof()
        said = await reader.read()
        writer.close()
    await server.stop()
    assert said.hex() == "000100000005010302" + "0064"
