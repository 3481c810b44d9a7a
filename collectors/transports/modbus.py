"""Modbus TCP: registers of one unit, over the one connection that all units of a gateway share.

Most controllers bear one connection and one question at a time, so targets of one host and port
share both. A device that does not answer loses its connection: a late answer must not meet another
question.
"""

import asyncio
import logging
import struct
from collections.abc import Awaitable
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from pymodbus.client import AsyncModbusTcpClient
from pymodbus.exceptions import ModbusException
from pymodbus.framer import FramerSocket
from pymodbus.pdu import ModbusPDU

from collectors.protocols.modbus_blocks import Block
from collectors.protocols.modbus_exceptions import Denied
from collectors.protocols.modbus_registers import COIL, DISCRETE, Words
from collectors.source import Target
from fabrichealth.errors import SiteError, SourceUnavailable

SCHEMES = ("modbus",)
PORT = 502
LAST_UNIT = 255

logging.getLogger("pymodbus.logging").setLevel(logging.CRITICAL)  # what fails, we say ourselves


class _NoModbus(ModbusException):
    """What came is no answer."""


class _Framer(FramerSocket):
    """Takes frames apart; one that holds no answer fails the question, and nothing else.

    The library raises in the event loop's own callback, which logs a trace for every such frame and
    leaves whoever asked to wait.
    """

    def __init__(self, client: AsyncModbusTcpClient) -> None:
        super().__init__(client.ctx.framer.decoder)
        self._ctx = client.ctx

    def handleFrame(  # noqa: N802 - the library's name
        self, data: bytes, exp_devid: int, exp_tid: int
    ) -> tuple[int, ModbusPDU | None]:
        """Return how many bytes were used, and the answer in them if there is one."""
        try:
            return super().handleFrame(data, exp_devid, exp_tid)
        except (ModbusException, ValueError, IndexError, struct.error) as wrong:
            if not self._ctx.response_future.done():
                self._ctx.response_future.set_exception(_NoModbus(str(wrong)))
            return len(data), None


class _Line:
    """The connection to one host and port, for one question at a time."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.turn = asyncio.Lock()
        self.client: AsyncModbusTcpClient | None = None
        self.users = 0

    async def connected(self, patience: float) -> AsyncModbusTcpClient:
        """Return the client, connected.

        Raises:
            TimeoutError: nobody took the connection in time.
            ConnectionError: it was refused.
        """
        if self.client is None or not self.client.connected:
            self.hang_up()
            self.client = AsyncModbusTcpClient(
                self.host, port=self.port, timeout=patience, retries=0, reconnect_delay=0
            )
            self.client.ctx.framer = _Framer(self.client)
            async with asyncio.timeout(patience):
                if not await self.client.connect():
                    raise ConnectionError
        return self.client

    def hang_up(self) -> None:
        """Close the connection."""
        if self.client is not None:
            self.client.close()
            self.client = None


_LINES: WeakKeyDictionary[
    asyncio.AbstractEventLoop, WeakValueDictionary[tuple[str, int], _Line]
] = WeakKeyDictionary()


def unit_of(address: str, default: int) -> int:
    """Return the unit that an address `modbus://HOST:PORT/UNIT` names.

    Raises:
        SiteError: what stands behind the host is no unit.
    """
    path = urlsplit(address).path.strip("/")
    if not path:
        return default
    if not (path.isascii() and path.isdecimal() and int(path) <= LAST_UNIT):
        raise SiteError(f"{address}: {path!r} is no unit; write modbus://HOST:PORT/UNIT, 0 to 255")
    return int(path)


class ModbusClient:
    """One unit of one device."""

    def __init__(self, target: Target, unit: int, answer: float) -> None:
        self._name = target.name
        self._answer = answer
        self.unit = unit
        parts = urlsplit(target.address)
        self._host, self._port = parts.hostname or "", parts.port or PORT
        self.where = f"modbus://{self._host}:{self._port}"
        self._line: _Line | None = None

    async def read(self, block: Block) -> Words:
        """Return the words of a block; of coils and discrete inputs 0 or 1.

        Raises:
            Denied: the device answers with an exception.
            SourceUnavailable: it does not answer, or not what was asked.
        """
        line = self._of()
        async with line.turn:
            try:
                client = await line.connected(self._answer)
            except (TimeoutError, OSError) as wrong:
                line.hang_up()
                late = isinstance(wrong, TimeoutError)
                why = f"took no connection within {self._answer:g} s" if late else "is not there"
                raise self._unavailable(f"{why}; check address and port") from None
            try:
                async with asyncio.timeout(self._answer):
                    answer = await _asked(client, block, self.unit)
            except BaseException as wrong:
                line.hang_up()  # an answer may still be under way
                if isinstance(wrong, _NoModbus):
                    raise self._unavailable(
                        f"unit {self.unit} answers what is no Modbus; check address and port"
                    ) from None
                if isinstance(wrong, TimeoutError | ModbusException | OSError):
                    raise self._unavailable(
                        f"unit {self.unit} gave no answer within {self._answer:g} s; is it up, and "
                        "the unit right?"
                    ) from None
                raise
        return self._words(block, answer)

    async def close(self) -> None:
        """Let go of the connection, unless others use it."""
        if self._line is not None:
            self._line.users -= 1
            if not self._line.users:
                self._line.hang_up()
            self._line = None

    def _words(self, block: Block, answer: ModbusPDU) -> Words:
        if answer.isError():
            raise Denied(answer.exception_code)
        bits = block.function in {COIL, DISCRETE}
        given = answer.bits[: block.count] if bits else answer.registers
        if len(given) != block.count:
            raise self._unavailable(
                f"unit {self.unit} answers {len(given)} registers where {block.count} were asked "
                "for; what is there is no Modbus device"
            )
        return np.array(given, np.uint16)

    def _of(self) -> _Line:
        if self._line is None:
            lines = _LINES.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
            key = self._host, self._port
            line = lines.get(key)
            if line is None:
                line = lines[key] = _Line(*key)
            line.users += 1
            self._line = line
        return self._line

    def _unavailable(self, why: str) -> SourceUnavailable:
        return SourceUnavailable(f"{self._name}: {self.where} {why}")


def _asked(client: AsyncModbusTcpClient, block: Block, unit: int) -> Awaitable[ModbusPDU]:
    match block.function:
        case 1:
            ask = client.read_coils
        case 2:
            ask = client.read_discrete_inputs
        case 3:
            ask = client.read_holding_registers
        case _:
            ask = client.read_input_registers
    return ask(block.address, count=block.count, device_id=unit)
