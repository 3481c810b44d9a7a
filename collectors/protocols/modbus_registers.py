"""Modbus registers as numbers: types, word order, sentinels and what is plausible, by columns.

Modbus carries 16-bit registers, the high octet first (Modbus Application Protocol V1.1b3, section
4.2); how a longer number lies in several of them is each vendor's choice. All registers of one
type are turned at once. A number that cannot be in the order that was said, and can in the other,
is marked so. Nothing here knows a metric.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats

COIL, DISCRETE, HOLDING, INPUT = 1, 2, 3, 4
"""Functions that read, and with them the four tables of a device."""

Order = Literal["big", "little"]
Type = Literal[
    "bit", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"
]  # fmt: skip

FORMS: dict[Type, str] = {
    "bit": ">u2",
    "int16": ">i2",
    "uint16": ">u2",
    "int32": ">i4",
    "uint32": ">u4",
    "int64": ">i8",
    "uint64": ">u8",
    "float32": ">f4",
    "float64": ">f8",
}
"""Each type as numpy has it, the high octet first."""

NOTHING: dict[Type, tuple[int, ...]] = {
    "int16": (0x7FFF, 0x8000),
    "uint16": (0xFFFF, 0x7FFF, 0x8000),
    "int32": (0x7FFF_FFFF, 0x8000_0000),
    "uint32": (0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000),
    "int64": (0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000),
    "uint64": (0xFFFF_FFFF_FFFF_FFFF,),
}
"""Numbers by which devices say that there is no sensor, where a map does not say others.

Counters pass through the later ones; only the first means none.
"""

TINY = 1e-20
"""A float nearer to 0 may be a number's wrong half: 230.0 with its words exchanged is 2e-41."""

Words = NDArray[np.uint16]


class Verdict(IntEnum):
    """What became of a register."""

    READ = 0
    MISSING = 1
    """One of its words did not come."""
    SENTINEL = 2
    """It says that there is no number."""
    IMPLAUSIBLE = 3
    SWAPPED = 4
    """Implausible in this order of words, plausible in the other."""
    STRANGE = 5
    """None of the values that it may have."""


@dataclass(frozen=True, slots=True)
class Register:
    """How one number lies in a device; `value = raw * times / over + offset`."""

    function: int
    address: int
    type: Type
    word_order: Order = "big"
    byte_order: Order = "big"
    bit: int | None = None
    """Only this bit of an integer counts."""
    sentinels: tuple[float, ...] = ()
    """Raw numbers that mean there is none; those of signed types may be written unsigned."""
    meanings: tuple[tuple[float, float], ...] = ()
    """The only raw values there are, and what they mean; empty: it is a number."""
    times: float = 1.0
    over: float = 1.0
    offset: float = 0.0
    low: float = -np.inf
    high: float = np.inf

    @property
    def width(self) -> int:
        """How many addresses it takes."""
        return width(self.type)


def width(kind: Type) -> int:
    """Return how many addresses a type takes."""
    return np.dtype(FORMS[kind]).itemsize // 2


@dataclass(frozen=True, slots=True)
class Decoded:
    """Registers as numbers, in the order in which they were declared [m]."""

    values: Floats
    """NaN where none was read."""
    verdicts: NDArray[np.int8]
    raw: Floats
    """What stood there, before scale and range; NaN where nothing came."""
    swapped: Floats
    """What the other order of words would give, where that is the better one."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Registers of one type [g]."""

    form: np.dtype[np.generic]
    rows: NDArray[np.intp]
    """Their places among all registers."""
    words: NDArray[np.intp]
    """Places of their words, the most significant first [g, width]."""
    flipped: NDArray[np.bool_]
    """Whether the octets of each word stand the other way round."""
    sentinels: Floats
    """NaN where there are fewer [g, s]."""
    times: Floats
    over: Floats
    offset: Floats
    low: Floats
    high: Floats


class Registers:
    """The registers of one map, laid out once."""

    def __init__(self, registers: Sequence[Register]) -> None:
        self.registers = tuple(registers)
        cells = sorted(
            {
                (one.function, one.address + word)
                for one in self.registers
                for word in range(one.width)
            }
        )
        self.place = {cell: place for place, cell in enumerate(cells)}
        """Where the word at (function, address) stands in what is decoded."""
        self.size = len(cells)
        forms = dict.fromkeys(FORMS[one.type] for one in self.registers)
        self._groups = [
            self._group(form, [n for n, r in enumerate(self.registers) if FORMS[r.type] == form])
            for form in forms
        ]
        self._bits = [(n, r.bit) for n, r in enumerate(self.registers) if r.bit is not None]
        self._states = [(n, r.meanings) for n, r in enumerate(self.registers) if r.meanings]

    def words_of(self, row: int) -> NDArray[np.intp]:
        """Return the places of the words of one register."""
        one = self.registers[row]
        return np.array([self.place[one.function, one.address + n] for n in range(one.width)])

    def decode(self, words: Words, came: NDArray[np.bool_]) -> Decoded:
        """Turn words [n] into numbers, as far as they came [n]."""
        count = len(self.registers)
        values, raw, swapped = (np.full(count, np.nan) for _ in range(3))
        verdicts = np.zeros(count, np.int8)
        for group in self._groups:
            given = _given(group, words)
            said = _numbers(given, group.form)
            found, verdict = _judged(group, said)
            doubtful = (verdict == Verdict.IMPLAUSIBLE) | _tiny(group, said)
            if group.words.shape[1] > 1 and doubtful.any():
                turned = _numbers(given[:, ::-1], group.form)
                other, would = _judged(group, turned)
                better = doubtful & (would == Verdict.READ) & ~_tiny(group, turned)
                verdict[better] = Verdict.SWAPPED
                swapped[group.rows[better]] = other[better]
            verdict[~came[group.words].all(axis=1)] = Verdict.MISSING
            values[group.rows], verdicts[group.rows], raw[group.rows] = found, verdict, said
        self._mean(values, verdicts, raw)
        values[verdicts != Verdict.READ] = np.nan
        raw[verdicts == Verdict.MISSING] = np.nan
        return Decoded(values, verdicts, raw, swapped)

    def _mean(self, values: Floats, verdicts: NDArray[np.int8], raw: Floats) -> None:
        """Turn the few registers that are bits or states."""
        for row, bit in self._bits:
            if np.isfinite(raw[row]):
                raw[row] = values[row] = float(int(raw[row]) >> bit & 1)
                if verdicts[row] != Verdict.MISSING:
                    verdicts[row] = Verdict.READ
        for row, meanings in self._states:
            meant = dict(meanings).get(float(raw[row]))
            if verdicts[row] in {Verdict.MISSING, Verdict.SENTINEL}:
                continue
            verdicts[row] = Verdict.STRANGE if meant is None else Verdict.READ
            values[row] = np.nan if meant is None else meant

    def _group(self, form: str, rows: list[int]) -> _Group:
        chosen = [self.registers[row] for row in rows]
        most = max(len(one.sentinels) for one in chosen)
        kind = np.dtype(form)

        def column(numbers: Iterable[float]) -> Floats:
            return np.array(list(numbers), np.float64)

        words = [
            self.words_of(row)[:: 1 if one.word_order == "big" else -1]
            for row, one in zip(rows, chosen, strict=True)
        ]
        return _Group(
            kind,
            np.array(rows, np.intp),
            np.stack(words),
            np.array([one.byte_order == "little" for one in chosen]),
            np.array(
                [
                    [_as_read(number, kind) for number in one.sentinels]
                    + [np.nan] * (most - len(one.sentinels))
                    for one in chosen
                ]
            ).reshape(len(chosen), most),
            *(
                column(getattr(one, name) for one in chosen)
                for name in ("times", "over", "offset", "low", "high")
            ),
        )


def _given(group: _Group, words: Words) -> Words:
    """Return the words of a group, the most significant first [g, width]."""
    given = words[group.words]
    if group.flipped.any():
        given[group.flipped] = given[group.flipped].byteswap()
    return given


def _numbers(given: Words, form: np.dtype[np.generic]) -> Floats:
    """Return words [g, width] as raw numbers [g]."""
    octets = np.ascontiguousarray(given.astype(">u2"))
    with np.errstate(invalid="ignore"):  # a signalling NaN is one all the same
        numbers: Floats = octets.view(form)[:, 0].astype(np.float64)
    return numbers


def _judged(group: _Group, raw: Floats) -> tuple[Floats, NDArray[np.int8]]:
    """Return raw numbers [g] as values, and what is to be thought of each."""
    with np.errstate(invalid="ignore", over="ignore"):
        values = raw * group.times / group.over + group.offset
        said = (raw[:, None] == group.sentinels).any(axis=1)
        bad = ~((values >= group.low) & (values <= group.high))
        if group.form.kind == "f":
            said |= ~np.isfinite(raw)
    verdicts = np.where(said, Verdict.SENTINEL, np.where(bad, Verdict.IMPLAUSIBLE, Verdict.READ))
    return values, verdicts.astype(np.int8)


def _tiny(group: _Group, raw: Floats) -> NDArray[np.bool_]:
    """Return which floats are nearer to 0 than anything measured, and not 0."""
    size = np.abs(raw)
    small: NDArray[np.bool_] = (group.form.kind == "f") & (size > 0) & (size < TINY)
    return small


def _as_read(number: float, form: np.dtype[np.generic]) -> float:
    """Return a sentinel as the register gives it: FFFFh of a signed type is -1."""
    bits = 8 * form.itemsize
    if form.kind == "i" and number >= 2 ** (bits - 1):
        return float(int(number) - 2**bits)
    return float(np.float32(number)) if form == np.dtype(">f4") else float(number)
