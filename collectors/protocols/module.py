"""A pluggable module's memory and what it tells, whatever standard it follows.

Decoders speak SI (watts, amperes, volts, degrees Celsius) under the catalogue's quantity names:
temperature, supply_voltage, rx_power, tx_power, tx_bias. A lane is 1.., 0 is the module as a whole.
What a module does not have is not in these lists; a dark lane has 0 W.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fabrichealth.errors import MalformedReply

HALF = 128
"""Bytes of half a page: lower memory is 0..127, a page is seen at 128..255."""

BOUNDS = (("high", "alarm"), ("low", "alarm"), ("high", "warning"), ("low", "warning"))
"""The order of limits and flags in every one of these standards."""

CONNECTORS = {  # SFF-8024 table 4-3
    0x01: "SC", 0x07: "LC", 0x0B: "optical pigtail", 0x0C: "MPO 1x12", 0x0D: "MPO 2x16",
    0x20: "HSSDC", 0x21: "copper pigtail", 0x22: "RJ45", 0x23: "no separable connector",
    0x24: "MXC", 0x25: "CS", 0x26: "SN", 0x27: "MPO 2x12", 0x28: "MPO 1x16",
}  # fmt: skip

SFP, QSFP, CMIS = "sff8472", "sff8636", "cmis"
STANDARDS = {  # SFF-8024 table 4-1
    0x03: SFP, 0x0B: SFP, 0x0C: QSFP, 0x0D: QSFP, 0x11: QSFP,
    0x18: CMIS, 0x19: CMIS, 0x1B: CMIS, 0x1E: CMIS, 0x1F: CMIS, 0x80: CMIS,
}  # fmt: skip


class Value(NamedTuple):
    """One monitor: a quantity of one lane (0: of the module), in SI."""

    quantity: str
    lane: int
    value: float


class Limit(NamedTuple):
    """One of the module's own limits: bound high or low, level alarm or warning, in SI."""

    quantity: str
    bound: str
    level: str
    value: float


class Alarm(NamedTuple):
    """One of the module's own latched flags."""

    quantity: str
    bound: str
    level: str
    lane: int
    raised: bool


class Signal(NamedTuple):
    """A condition of one lane: rx_los, tx_los, rx_lol, tx_lol or tx_fault."""

    name: str
    lane: int
    raised: bool


@dataclass(frozen=True, slots=True)
class Identity:
    """What the module is; empty where it does not say. `lot` is the date code with its lot."""

    vendor: str = ""
    part: str = ""
    serial: str = ""
    lot: str = ""
    firmware: str = ""
    media: str = ""
    connector: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """Everything one reading of a module's memory tells."""

    identity: Identity = field(default_factory=Identity)
    values: tuple[Value, ...] = ()
    limits: tuple[Limit, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    signals: tuple[Signal, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """Halves of pages, 128 bytes each: lower memory, and pages by name (`00`, `11`, `1:11`).

    The name of a page is hexadecimal, after its bank and a colon where that is not 0. For an SFP,
    address A2h is a second memory.
    """

    lower: bytes
    pages: Mapping[str, bytes] = field(default_factory=dict)

    def has(self, page: str) -> bool:
        """Return whether a page was read (the empty name is the lower memory)."""
        return len(self.pages.get(page, b"") if page else self.lower) == HALF

    def byte(self, page: str, byte: int) -> int:
        """Return a byte, 0..255 counted as the standards do; 0 where the page was not read."""
        half = self.lower if byte < HALF else self.pages.get(page, b"")
        place = byte % HALF
        return half[place] if place < len(half) else 0

    def bit(self, page: str, byte: int, bit: int) -> bool:
        """Return a bit of a byte."""
        return bool(self.byte(page, byte) >> bit & 1)

    def word(self, page: str, byte: int) -> int:
        """Return two bytes as a big-endian unsigned number."""
        return self.byte(page, byte) << 8 | self.byte(page, byte + 1)

    def text(self, page: str, first: int, last: int) -> str:
        """Return ASCII text, both ends included, without its padding."""
        raw = bytes(self.byte(page, place) for place in range(first, last + 1))
        return "".join(chr(c) if 32 <= c < 127 else " " for c in raw).strip()


def image(whole: bytes) -> Memory:
    """Return a linear image as pages: byte b (128..255) of page p lies at 128 p + b.

    Raises:
        MalformedReply: it holds no whole page.
    """
    if len(whole) < 2 * HALF:
        raise MalformedReply(f"a module image of {len(whole)} bytes, not 256 or more")
    halves = [whole[start : start + HALF] for start in range(HALF, len(whole) - HALF + 1, HALF)]
    return Memory(whole[:HALF], {f"{page:02x}": half for page, half in enumerate(halves)})


@dataclass(frozen=True, slots=True)
class Field:
    """One monitor in memory: two bytes a lane, successive lanes behind each other."""

    quantity: str
    page: str
    byte: int
    scale: float
    """SI units of one step."""
    signed: bool = False
    lanes: int = 0
    """Lanes behind each other; 0 for one value of the module."""

    def read(self, memory: Memory, lane: int = 0, scale: float = 1.0) -> float:
        """Return the value of a lane (1..), or of the module (0)."""
        raw = memory.word(self.page, self.byte + 2 * max(lane - 1, 0))
        if self.signed and raw >= 1 << 15:
            raw -= 1 << 16
        return raw * self.scale * scale


def limits(memory: Memory, at: Field, scale: float = 1.0) -> Iterator[Limit]:
    """Yield the four limits of a quantity, two bytes each; all of them 0 are not set."""
    values = [at.read(memory, lane, scale) for lane in (1, 2, 3, 4)]
    if any(values):
        for (bound, level), value in zip(BOUNDS, values, strict=True):
            yield Limit(at.quantity, bound, level, value)


def identified(first: int) -> str:
    """Return the standard that a module follows, by byte 0 of its memory.

    Raises:
        MalformedReply: 00h or FFh (the bus hangs, or nothing is plugged), or not known here.
    """
    standard = STANDARDS.get(first)
    if standard is None:
        raise MalformedReply(f"module identifier {first:02x}h is none that can be read")
    return standard


def float32(raw: bytes) -> float:
    """Return a big-endian IEEE 754 number of 4 bytes."""
    return float(struct.unpack(">f", raw)[0])
