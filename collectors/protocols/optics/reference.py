"""The slow decoder: straight from the rows, one value at a time.

It says every value with its raw number, for reports and explanations, and is what the fast decoder
(`layout`) is held against. A number is `m x 10^(e - 24)` where the row says F16.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Literal

from collectors.protocols.module import Memory, printable
from collectors.protocols.optics.field import Cell, Form
from collectors.protocols.optics.presence import Presence
from collectors.protocols.optics.standard import Reader

LIMIT_BYTES = 2
NOT_ABOVE = "the high alarm is not above the low one"
"""Why limits that are set are not believed."""


@dataclass(frozen=True, slots=True)
class Told:
    """One value of one module."""

    cell: Cell
    raw: int | float | bytes
    value: float | str
    """In the row's unit; NaN where the module says nothing."""
    why: str = ""
    """Why it says nothing."""


def read(memory: Memory, presence: Presence) -> Iterator[Told]:
    """Yield every value that a module has, in the order of its map."""
    reader = _reader(memory)
    hidden = [
        (veil.why, veil.hides)
        for veil in presence.standard.veils
        if veil.page not in presence.unusable
        and (not veil.page or veil.page in memory.pages)
        and bool(veil.holds(reader))
    ]
    for cell in presence.cells:
        raw = raw_of(cell, memory)
        why = next((why for why, hides in hidden if hides(cell)), "")
        if isinstance(raw, bytes):
            text = printable(raw) if cell.field.form is Form.TEXT else raw.hex(" ")
            yield Told(cell, raw, text)
            continue
        if not why and cell.field.of_four >= 0:
            why = _why_no_limit(cell, memory)
        if not why and raw_bits(cell, raw) in cell.field.none:
            why = "no value"
        value = nan if why else number(cell, raw)
        yield Told(cell, raw, value if isfinite(value) else nan, why)


def raw_of(cell: Cell, memory: Memory) -> int | float | bytes:
    """Return what stands in memory, before any scale."""
    row = cell.field
    octets = memory.octets(cell.page, cell.byte, row.size)
    if not row.numeric:
        return octets
    if row.form is Form.FLOAT:
        return float(struct.unpack(">f", octets)[0])
    order: Literal["little", "big"] = "little" if row.little else "big"
    whole = int.from_bytes(octets, order, signed=row.form is Form.SIGNED)
    return whole >> cell.low & (1 << row.width) - 1 if row.width < 8 else whole


def number(cell: Cell, raw: float) -> float:
    """Return the value of a raw number, in the row's unit."""
    if cell.field.form is Form.F16:
        raw = (int(raw) & 0x7FF) * 10.0 ** ((int(raw) >> 11) - 24)
    if cell.powers:
        raw = sum(factor * float(raw) ** power for power, factor in enumerate(cell.powers))
    return raw * (cell.field.scale * cell.factor)


def raw_bits(cell: Cell, raw: float) -> int:
    """Return a raw number as its bits stand in memory."""
    return int(raw) & (1 << 8 * cell.field.size) - 1 if isinstance(raw, int) else -1


def _why_no_limit(cell: Cell, memory: Memory) -> str:
    """Return why four limits are none: never set, or such that no value is within them."""
    first = cell.byte - LIMIT_BYTES * cell.field.of_four
    four = memory.octets(cell.page, first, 4 * LIMIT_BYTES)
    if four in {bytes(len(four)), b"\xff" * len(four)}:
        return "never set"
    high, low = (
        number(at, raw)
        for at in (replace(cell, byte=first), replace(cell, byte=first + LIMIT_BYTES))
        if not isinstance(raw := raw_of(at, memory), bytes)
    )
    return "" if high > low else NOT_ABOVE


def _reader(memory: Memory) -> Reader:
    def read_one(page: str, byte: int, size: int = 1, *, signed: bool = False) -> int:
        return int.from_bytes(memory.octets(page, byte, size), "big", signed=signed)

    return read_one
