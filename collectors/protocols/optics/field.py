"""Fields: one row of a memory map says where a value lies, how it is coded, and when it is there.

Pages are named in hexadecimal: `` (empty) is the lower memory, `11` the upper memory of page 11h,
`a2` the lower memory of an SFP's second address. Bytes are numbered 0..255 as the standards do.
Multi-byte numbers are big-endian unless a row says otherwise. Values are SI.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import NamedTuple

from collectors.protocols.module import HALF, Item, Memory

LANES_OF_BANK = 8


class Form(StrEnum):
    """How the bytes of a value are coded."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"
    F16 = "f16"
    """CMIS: 5 bits exponent e, 11 bits mantissa m: m x 10^(e - 24)."""
    FLOAT = "float32"
    TEXT = "text"
    OCTETS = "octets"


class Per(Enum):
    """What a row has one value for each of."""

    MODULE = "module"
    MEDIA = "media lane"
    HOST = "host lane"
    HOST_IN_USE = "host lane in use"
    """Host lanes of an application; the others have flags that mean nothing."""
    LASER = "laser"


@dataclass(frozen=True, slots=True)
class When:
    """A condition: bits of a byte have one of some values."""

    page: str
    byte: int
    low: int
    width: int
    wanted: frozenset[int]
    why: str
    """What it means where they have not: the reason why a field is absent."""

    def holds(self, memory: Memory) -> bool:
        """Return whether it does; a byte that was not read is 0."""
        return memory.byte(self.page, self.byte) >> self.low & (1 << self.width) - 1 in self.wanted

    @property
    def place(self) -> str:
        """Return where these bits lie, as people write it: `01h:160 bit 2`."""
        bits = f"{self.low}" if self.width == 1 else f"{self.low + self.width - 1}-{self.low}"
        whole = self.width == 8
        word = "bit" if self.width == 1 else "bits"
        return where(self.page, self.byte) + ("" if whole else f" {word} {bits}")


def offered(page: str, byte: int, bit: int, what: str = "not advertised") -> When:
    """Return the condition that an advertisement bit is set."""
    return When(page, byte, bit, 1, frozenset({1}), what)


class Factor(NamedTuple):
    """A factor that the module advertises for a scale: a code in bits of a byte."""

    page: str
    byte: int
    low: int
    width: int
    factors: Mapping[int, float]

    def of(self, memory: Memory) -> float:
        """Return the factor; 1 for a reserved code."""
        code = memory.byte(self.page, self.byte) >> self.low & (1 << self.width) - 1
        return self.factors.get(code, 1.0)


class Calibration(NamedTuple):
    """Where the coefficients lie that turn raw numbers of an externally calibrated SFP into steps.

    Either a slope (u8.8) with an offset (s16) behind it, or float32 from the constant on.
    """

    when: When
    page: str
    slope: int = 0
    powers: tuple[int, ...] = ()

    def of(self, memory: Memory) -> tuple[float, ...]:
        """Return the coefficients from the constant on; none where raw numbers are steps."""
        if not self.when.holds(memory):
            return ()
        if self.powers:
            raw = (memory.octets(self.page, byte, 4) for byte in self.powers)
            return tuple(struct.unpack(">f", four)[0] for four in raw)
        slope, offset = struct.unpack(">Hh", memory.octets(self.page, self.slope, 4))
        return offset, slope / 256


@dataclass(frozen=True, slots=True)
class Field:
    """One row of a memory map."""

    name: str
    page: str
    byte: int
    says: str
    spec: str
    form: Form = Form.UNSIGNED
    size: int = 1
    """Bytes of one value."""
    low: int = 0
    """Lowest bit of a value that is less than a byte."""
    width: int = 8
    """Bits of a value that is less than a byte."""
    scale: float = 1.0
    """Units of one step."""
    unit: str = ""
    per: Per = Per.MODULE
    lanes: int = 0
    """Values behind each other; 0 for one of the whole module."""
    first: int = 1
    """Number of the first lane."""
    places: tuple[tuple[int, int], ...] = ()
    """Byte and lowest bit of each lane, where they are in no simple order."""
    little: bool = False
    gates: tuple[When, ...] = ()
    codes: Mapping[int, str] | None = None
    """Words for its numbers."""
    none: frozenset[int] = frozenset()
    """Raw numbers that say: not measured."""
    factor: Factor | None = None
    calibration: Calibration | None = None
    tells: Item | None = None
    """What it is to the catalogue; None for what only the report shows."""
    banked: bool = False
    """Whether each bank has the page with 8 lanes more."""
    of_four: int = -1
    """Place among the four limits of a quantity; all four 00h or all FFh were never set."""

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.form not in {Form.TEXT, Form.OCTETS}

    @property
    def bits(self) -> int:
        """Bits from one lane to the next."""
        return 8 * self.size if self.size > 1 or self.width == 8 else self.width

    @property
    def span(self) -> tuple[int, int]:
        """Return the first and the last byte of all its values."""
        if self.places:
            bytes_ = [byte for byte, _ in self.places]
            return min(bytes_), max(bytes_)
        whole = (self.low + self.bits * max(self.lanes, 1) + 7) // 8
        return self.byte, self.byte + max(whole, self.size) - 1

    @property
    def place(self) -> str:
        """Return page, bytes and bits as people write them: `11h:154-169`, `01h:160 bits 4-3`."""
        first, last = self.span
        text = where(self.page, first) + (f"-{last}" if last > first else "")
        if self.size == 1 and self.width < 8 and not self.places and not self.lanes:
            high = self.low + self.width - 1
            text += f" bit {self.low}" if self.width == 1 else f" bits {high}-{self.low}"
        return text

    def cells(self, bank: int = 0) -> Iterator["Cell"]:
        """Yield where each value of it lies in a bank; lanes of banks follow each other."""
        page = f"{bank}:{self.page}" if bank else self.page
        if not self.lanes:
            yield Cell(self, 0, page, self.byte, self.low)
            return
        for number in range(self.lanes):
            if self.places:
                byte, low = self.places[number]
            else:
                ahead = self.low + number * self.bits
                byte, low = self.byte + ahead // 8, ahead % 8
            yield Cell(self, self.first + number + bank * LANES_OF_BANK, page, byte, low)


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a field: of one lane (0: of the module), in one bank."""

    field: Field
    lane: int
    page: str
    byte: int
    low: int
    factor: float = 1.0
    """What the scale is multiplied with on this module."""
    powers: tuple[float, ...] = ()
    """Coefficients, from the constant on, that turn this module's raw number into steps."""

    @property
    def item(self) -> Item | None:
        """Return what it is to the catalogue, lane included."""
        tells = self.field.tells
        return tells and (tells._replace(lane=self.lane) if self.lane else tells)

    @property
    def place(self) -> str:
        """Return page, bytes and bits of this value."""
        last = self.byte + self.field.size - 1
        text = where(self.page, self.byte) + (f"-{last}" if self.field.size > 1 else "")
        if self.field.size == 1 and self.field.width < 8:
            high = self.low + self.field.width - 1
            one = self.field.width == 1
            text += f" bit {self.low}" if one else f" bits {high}-{self.low}"
        return text


@dataclass(frozen=True, slots=True)
class Checksum:
    """The low byte of the sum of a range of bytes, at another."""

    page: str
    first: int
    last: int
    at: int
    spec: str

    @property
    def place(self) -> str:
        """Return where the sum lies."""
        return where(self.page, self.at)

    def stated(self, memory: Memory) -> tuple[int, int]:
        """Return (what the module says, what the bytes add up to)."""
        found = sum(memory.byte(self.page, byte) for byte in range(self.first, self.last + 1))
        return memory.byte(self.page, self.at), found & 0xFF


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a standard: what it holds, and when it is there."""

    name: str
    says: str
    gates: tuple[When, ...] = field(default=())
    changes: bool = False
    """Whether its content moves while the module is plugged."""
    banked: bool = False


def where(page: str, byte: int) -> str:
    """Return a place as people write it: `14` of the lower memory, `11h:154`, `1:11h:154`."""
    if page == "a2":
        return f"A2h:{byte}"
    if not page:
        return f"lower:{byte}"
    return f"{page}h:{byte}" if byte >= HALF else f"{byte}"
