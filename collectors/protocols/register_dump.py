"""A register dump: CSV rows `table,address,value`, as somebody wrote them down from a device.

Tables by name (coil, discrete, holding, input) or by their function (1 to 4); addresses as on the
wire, the first is 0; values from -32768 to 65535, hexadecimal with 0x. A first line that names the
columns, empty lines and lines that begin with # are passed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors.protocols.modbus_blocks import ADDRESSES
from collectors.protocols.modbus_registers import COIL, DISCRETE, HOLDING, INPUT
from fabrichealth.errors import MalformedReply

TABLES = {"coil": COIL, "discrete": DISCRETE, "holding": HOLDING, "input": INPUT}
HEADER = ["table", "address", "value"]

Cell = tuple[int, int]
"""Function and address."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is no row."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Dump:
    """What a dump holds."""

    words: Mapping[Cell, int]
    twice: Mapping[Cell, tuple[int, ...]]
    """Addresses with several values; they have none in `words`."""
    broken: tuple[Broken, ...]


def parse(text: str) -> Dump:
    """Read a dump.

    Raises:
        MalformedReply: no line of it is a row.
    """
    told: dict[Cell, dict[int, None]] = {}
    broken: list[Broken] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = [field.strip().strip('"').lower() for field in line.split(",")]
        if not line.strip() or line.lstrip().startswith("#") or (not told and fields == HEADER):
            continue
        row = _row(fields)
        if row is None:
            broken.append(Broken(number, line[:60]))
        else:
            told.setdefault(row[0], {})[row[1]] = None
    if not told:
        raise MalformedReply("no line of it is table,address,value")
    words = {cell: next(iter(values)) for cell, values in told.items() if len(values) == 1}
    twice = {cell: tuple(values) for cell, values in told.items() if len(values) > 1}
    return Dump(words, twice, tuple(broken))


def _row(fields: list[str]) -> tuple[Cell, int] | None:
    if len(fields) != len(HEADER):
        return None
    table, address, value = fields
    function = TABLES.get(table.removesuffix("s"), _number(table))
    place, word = _number(address), _number(value)
    if function is None or function not in TABLES.values() or place is None or word is None:
        return None
    if not (0 <= place < ADDRESSES and -(2**15) <= word < 2**16):
        return None
    return (function, place), word & 0xFFFF


def _number(text: str) -> int | None:
    digits = text.removeprefix("-")
    if not digits.isascii() or len(digits) > 6:
        return None
    try:
        return int(text, 16) if digits.startswith("0x") else int(text) if digits.isdigit() else None
    except ValueError:
        return None
