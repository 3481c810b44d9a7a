"""A Modbus TCP server on loopback: tables of units, and the ways in which real ones are difficult.

Written from the Modbus Application Protocol V1.1b3 and the Messaging on TCP/IP guide V1.0b: the
MBAP header (transaction, protocol 0, length, unit) before each message; functions 1 to 4;
exceptions as function + 80h and a code.
"""

import asyncio
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

MBAP = struct.Struct(">HHHB")
QUESTION = struct.Struct(">BHH")
ILLEGAL_FUNCTION, ILLEGAL_ADDRESS, ILLEGAL_VALUE, NO_TARGET = 1, 2, 3, 11
MOST_REGISTERS, MOST_BITS = 125, 2000
COIL, DISCRETE, HOLDING, INPUT = 1, 2, 3, 4

Cells = Mapping[tuple[int, int], int]
"""Words, and bits, by function and address."""


@dataclass
class ModbusUnits:
    """What a server plays: units by their number, and what is wrong with it."""

    tell: Callable[[int], Cells | None]
    """Gives what a unit holds now; None where there is no such unit."""
    silent: set[int] = field(default_factory=set)
    """Units that hear, and never answer."""
    slow: float = 0.0
    """Seconds before each answer."""
    code: int = 0
    """Answer everything with this exception."""
    longest: int = MOST_REGISTERS
    """Registers that one question may ask for."""
    asked: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Unit, function, address and count of every question."""

    def answer(self, unit: int, question: bytes) -> bytes:
        """Return the answer to a message without its header."""
        if len(question) != QUESTION.size:
            return _exception(question[0] if question else 0, ILLEGAL_VALUE)
        function, address, count = QUESTION.unpack(question)
        self.asked.append((unit, function, address, count))
        cells = self.tell(unit)
        code = self.code or (NO_TARGET if cells is None else 0)
        if not code and function not in {COIL, DISCRETE, HOLDING, INPUT}:
            code = ILLEGAL_FUNCTION
        if code or cells is None:
            return _exception(function, code)
        bits = function in {COIL, DISCRETE}
        if not 1 <= count <= (MOST_BITS if bits else self.longest):
            return _exception(function, ILLEGAL_VALUE)
        try:
            words = [cells[function, address + n] for n in range(count)]
        except KeyError:
            return _exception(function, ILLEGAL_ADDRESS)
        body = _packed(words) if bits else struct.pack(f">{count}H", *words)
        return bytes([function, len(body)]) + body


class ModbusServer:
    """Serves units on a free port of loopback."""

    def __init__(self, units: ModbusUnits) -> None:
        self.units = units
        self.connections = 0
        """How many were taken so far."""
        self._port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def address(self) -> str:
        """Where it answers, once started."""
        return f"modbus://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Answer from now on; at the same port as before, if there was one."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Answer nobody any more."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._open):
                writer.close()
            await self._server.wait_closed()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.add(writer)
        try:
            while True:
                head = await reader.readexactly(MBAP.size)
                transaction, protocol, length, unit = MBAP.unpack(head)
                question = await reader.readexactly(max(length - 1, 0))
                if protocol != 0 or unit in self.units.silent:
                    continue
                if self.units.slow:
                    await asyncio.sleep(self.units.slow)
                answer = self.units.answer(unit, question)
                writer.write(MBAP.pack(transaction, 0, len(answer) + 1, unit) + answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            return  # whoever asked has gone, or the server is being stopped
        finally:
            self._open.discard(writer)
            writer.close()


def _exception(function: int, code: int) -> bytes:
    return bytes([function | 0x80, code])


def _packed(bits: list[int]) -> bytes:
    """Return bits in octets, the first in the least significant place (section 6.1)."""
    octets = bytearray(-(-len(bits) // 8))
    for place, bit in enumerate(bits):
        octets[place // 8] |= bool(bit) << place % 8
    return bytes(octets)
