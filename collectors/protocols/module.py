"""A pluggable module's memory and what it tells, whatever standard it follows.

Decoders speak SI (watts, amperes, volts, degrees Celsius) under the catalogue's quantity names:
temperature, supply_voltage, rx_power, tx_power, tx_bias, and laser_temperature, snr, pre_fec_ber,
tec_current, laser_age where a module has them. A lane is 1.., 0 is the module as a whole. What a
module does not have is not in these lists; a dark lane has 0 W.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from fabrichealth.errors import MalformedReply

HALF = 128
"""Bytes of half a page: lower memory is 0..127, a page is seen at 128..255."""

BOUNDS = (("high", "alarm"), ("low", "alarm"), ("high", "warning"), ("low", "warning"))
"""The order of limits and flags in every one of these standards."""

DIAGNOSTICS = "a2"
"""The page that is an SFP's second address."""

SFP, QSFP, CMIS = "sff8472", "sff8636", "cmis"
STANDARDS = {  # by the identifier, SFF-8024 table 4-1; 80h is what a co-packaged engine says
    0x03: SFP, 0x0B: SFP, 0x0C: QSFP, 0x0D: QSFP, 0x11: QSFP,
    **dict.fromkeys((0x18, 0x19, 0x1B, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x80), CMIS),
}  # fmt: skip


class Kind(Enum):
    """What an item of a module is to the catalogue."""

    VALUE = "value"
    LIMIT = "limit"
    ALARM = "alarm"
    SIGNAL = "signal"


class Item(NamedTuple):
    """The name of one thing that a module tells: a monitor, a limit, a flag, a condition."""

    kind: Kind
    quantity: str
    """Of a signal its name: rx_los, tx_los, rx_lol, tx_lol or tx_fault."""
    lane: int = 0
    side: str = "media"
    bound: str = ""
    level: str = ""


class Value(NamedTuple):
    """One monitor: a quantity of one lane (0: of the module), in SI."""

    quantity: str
    lane: int
    value: float
    side: str = "media"


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

    The name of a page is hexadecimal, after its bank and a colon where that is not 0. Of an SFP,
    address A0h is lower memory and page `00`, and the lower half of address A2h is page `a2`.
    """

    lower: bytes
    pages: Mapping[str, bytes] = field(default_factory=dict)

    def half(self, page: str, byte: int = HALF) -> bytes:
        """Return the half of a page in which a byte lies; empty where it was not read."""
        if page == DIAGNOSTICS or (page and byte >= HALF):
            return self.pages.get(page, b"")
        return self.lower

    def has(self, page: str) -> bool:
        """Return whether a page was read whole (the empty name is the lower memory)."""
        return len(self.half(page) if page else self.lower) == HALF

    def byte(self, page: str, byte: int) -> int:
        """Return a byte, 0..255 counted as the standards do; 0 where the page was not read."""
        half = self.half(page, byte)
        place = byte % HALF
        return half[place] if place < len(half) else 0

    def bit(self, page: str, byte: int, bit: int) -> bool:
        """Return a bit of a byte."""
        return bool(self.byte(page, byte) >> bit & 1)

    def word(self, page: str, byte: int) -> int:
        """Return two bytes as a big-endian unsigned number."""
        return self.byte(page, byte) << 8 | self.byte(page, byte + 1)

    def octets(self, page: str, first: int, size: int) -> bytes:
        """Return bytes; 0 for those that were not read."""
        return bytes(self.byte(page, place) for place in range(first, first + size))


def printable(raw: bytes) -> str:
    """Return ASCII text without its padding; what is not printable is a blank."""
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


def identified(first: int) -> str:
    """Return the standard that a module follows, by byte 0 of its memory.

    Raises:
        MalformedReply: 00h or FFh (the bus hangs, or nothing is plugged), or not known here.
    """
    standard = STANDARDS.get(first)
    if standard is None:
        raise MalformedReply(f"module identifier {first:02x}h is none that can be read")
    return standard
