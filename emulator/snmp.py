"""An SNMPv2c agent on loopback: GET, GETNEXT and GETBULK on what a switch shows.

Written from RFC 3416 (operations) and RFC 1901 (messages). What is no message of a community that
it knows gets no answer, as of a real agent.
"""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import NamedTuple

from emulator import ber
from emulator.ber import Oid

VERSION_2C = 1
GET, GET_NEXT, RESPONSE, SET, GET_BULK = 0xA0, 0xA1, 0xA2, 0xA3, 0xA5
NO_ACCESS, GENERAL = 6, 5
MOST_OCTETS = 8192
"""An answer to GETBULK ends before it would be larger."""


class Variable(NamedTuple):
    """A value as it is on the wire: its tag, and what stands there."""

    tag: int
    value: int | bytes | Oid | None

    def encoded(self) -> bytes:
        """Return the element."""
        if isinstance(self.value, tuple):
            return ber.oid(self.value)
        if isinstance(self.value, int):
            return ber.integer(self.value, self.tag)
        return ber.element(self.tag, self.value or b"")


Mib = Mapping[Oid, Variable]


class SnmpAgent(asyncio.DatagramProtocol):
    """One agent; `tell` gives all that it shows now."""

    def __init__(self, tell: Callable[[], Mib], community: bytes = b"public") -> None:
        self._tell = tell
        self._community = community
        self._port = 0
        self._transport: asyncio.DatagramTransport | None = None
        self._mib: Mib = {}
        self._order: list[Oid] = []
        self.asked = 0
        """Messages that were answered."""

    @property
    def address(self) -> str:
        """Where it answers, once started."""
        return f"snmp://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Answer from now on; at the same port as before, if there was one."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: self, local_addr=("127.0.0.1", self._port)
        )
        self._port = self._transport.get_extra_info("sockname")[1]

    async def stop(self) -> None:
        """Answer nobody any more."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None

    def datagram_received(self, data: bytes, addr: tuple[str | None, int]) -> None:
        """Answer a message."""
        try:
            reply = self.answer(data)
        except (ValueError, IndexError):
            return
        if reply and self._transport is not None:
            self._transport.sendto(reply, addr)

    def answer(self, message: bytes) -> bytes | None:
        """Return the answer to a message, None where there is none.

        Raises:
            ValueError: it is no message.
            IndexError: the same.
        """
        (_, body), *_ = ber.elements(message)
        (_, version), (_, community), (kind, pdu), *_ = ber.elements(body)
        if ber.number(version) != VERSION_2C or community != self._community:
            return None
        (_, request), (_, first), (_, second), (_, bindings), *_ = ber.elements(pdu)
        asked = [ber.numbers(next(ber.elements(one))[1]) for _, one in ber.elements(bindings)]
        if kind not in {GET, GET_NEXT, SET, GET_BULK}:
            return None
        self.asked += 1
        if self._mib is not (mib := self._tell()):
            self._mib, self._order = mib, sorted(mib)
        status = NO_ACCESS if kind == SET else 0
        if kind == GET_BULK:
            told = self.bulk(asked, max(ber.number(first), 0), max(ber.number(second), 0))
        elif kind == GET_NEXT:
            told = [self.after(one) for one in asked]
        else:
            told = [(one, self._value(one)) for one in asked]
        pdu = ber.sequence(
            (
                ber.element(ber.INTEGER, request),
                ber.integer(status),
                ber.integer(1 if status else 0),
                ber.sequence(ber.sequence((ber.oid(o), v.encoded())) for o, v in told),
            ),
            RESPONSE,
        )
        return ber.sequence((ber.integer(VERSION_2C), ber.element(ber.OCTETS, community), pdu))

    def after(self, oid: Oid) -> tuple[Oid, Variable]:
        """Return the first variable behind an OID (RFC 3416 section 4.2.2)."""
        place = bisect_right(self._order, oid)
        if place == len(self._order):
            return oid, Variable(ber.END_OF_MIB, None)
        following = self._order[place]
        return following, self._mib[following]

    def bulk(self, asked: list[Oid], once: int, repetitions: int) -> list[tuple[Oid, Variable]]:
        """Return the next variable of the first `once`, and rows of the rest (section 4.2.3)."""
        told = [self.after(one) for one in asked[:once]]
        size, row = 0, asked[once:]
        for _ in range(repetitions if row else 0):
            found = [self.after(one) for one in row]
            size += sum(len(one) + len(variable.encoded()) + 8 for one, variable in found)
            if size > MOST_OCTETS:
                break
            told += found
            row = [one for one, _ in found]
            if all(variable.tag == ber.END_OF_MIB for _, variable in found):
                break
        return told

    def _value(self, oid: Oid) -> Variable:
        """Return a variable, or why there is none (section 4.2.1)."""
        found = self._mib.get(oid)
        if found is not None:
            return found
        following = self.after(oid[:-1])[0]
        known = following[: len(oid) - 1] == oid[:-1] != following
        return Variable(ber.NO_SUCH_INSTANCE if known else ber.NO_SUCH_OBJECT, None)
