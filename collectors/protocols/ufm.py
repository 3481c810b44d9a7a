"""UFM: its telemetry as CSV and as JSON (streamed, or asked for), and its REST resources.

All of them are rows of named cells, one row a port (or a link). Names differ between versions and
forms in case, underscores, `Extended`, `Infiniband_` before and a unit behind (`_u_Ticks`), so that
they are compared in a plain form; a column's place says nothing. An empty cell is no value.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from fabrichealth.errors import MalformedReply

LONGEST = 1 << 20

MOST = 2.0**64
"""No counter holds more."""

NO_VALUE = {"", "n/a", "na", "none", "null", "unknown", "-"}

GUID_KEYS = ("nodeguid", "systemguid", "guid", "portguid")
PORT_KEYS = ("portnum", "portnumber", "number", "port")
FAR_KEYS = ("sourceguid", "sourceport", "destinationguid", "destinationport")

_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16})")
_UNIT = re.compile(r"_u_[A-Za-z]+$")


@dataclass(slots=True)
class Table:
    """Rows under one set of names; `names` are in their plain form."""

    names: tuple[str, ...]
    rows: list[Sequence[Any]] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)

    def place(self, *names: str) -> int | None:
        """Return the column of the first of these names that there is."""
        return next((self.names.index(name) for name in names if name in self.names), None)


def plain(name: str) -> str:
    """Return a name without what differs between versions: `Infiniband_RcvErrors_u_Errors`."""
    text = _UNIT.sub("", name.strip())
    text = text.removeprefix("Infiniband_").removesuffix("_f")
    return re.sub(r"[_\s.-]", "", text).lower().removesuffix("extended")


def tables(text: str) -> list[Table]:
    """Read a body in whichever form it has; nothing where it is of no fabric.

    Raises:
        MalformedReply: JSON that is broken.
    """
    first = text.lstrip()[:1]
    found = _json(text) if first in {"{", "["} else _csv(text)
    return [table for table in found if table.rows and _usable(table)]


def _usable(table: Table) -> bool:
    """Return whether rows name a port, or both ends of a link."""
    port = table.place(*GUID_KEYS) is not None and table.place(*PORT_KEYS) is not None
    return port or all(key in table.names for key in FAR_KEYS)


def _csv(text: str) -> list[Table]:
    """Read CSV; a line that has the names again begins another table."""
    found: list[Table] = []
    for raw in text.splitlines():
        if not raw.strip() or raw.startswith("#") or "," not in raw[:LONGEST]:
            continue
        try:
            cells = next(csv.reader([raw[:LONGEST]]), [])
        except csv.Error:
            if found:
                found[-1].malformed.append(raw[:200])
            continue
        names = tuple(map(plain, cells))
        if {"nodeguid", "portguid"} & set(names):
            found.append(Table(names))
        elif found and len(cells) == len(found[-1].names):
            found[-1].rows.append(cells)
        elif found:
            found[-1].malformed.append(raw[:200])
    return found


def _json(text: str) -> list[Table]:
    try:
        bodies = [orjson.loads(text)]
    except orjson.JSONDecodeError:
        try:  # a stream: one message a line
            bodies = [orjson.loads(line) for line in text.splitlines() if line.strip()]
        except orjson.JSONDecodeError:
            raise MalformedReply("JSON that is broken") from None
    found: dict[tuple[str, ...], Table] = {}
    for body in bodies:
        for row in _objects(body):
            names = tuple(plain(str(key)) for key in row)
            found.setdefault(names, Table(names)).rows.append(list(row.values()))
    return list(found.values())


def _objects(body: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a message, of a list of them, or of a resource."""
    if isinstance(body, dict):
        inner = next(
            (body[key] for key in ("values", "data") if isinstance(body.get(key), list)), None
        )
        if inner is None:
            yield body
            return
        body = inner
    for one in body if isinstance(body, list) else ():
        if isinstance(one, dict):
            if isinstance(one.get("values"), list):
                yield from _objects(one)
            else:
                yield one


def guid(cell: object) -> str | None:
    """Return a GUID as 16 digits; None where it is none."""
    found = _GUID.fullmatch(str(cell).strip())
    digits = found[1].lower().rjust(16, "0") if found else ""
    return digits if digits.strip("0") else None


def port(cell: object) -> int | None:
    """Return a port's number; None where it is none (port 0 is a switch's own)."""
    text = str(cell).strip()
    return int(text) if re.fullmatch(r"[1-9]\d{0,2}", text) else None


def number(cell: object) -> float | None:
    """Return a cell's number; None where it has no value.

    Raises:
        MalformedReply: words that are neither.
    """
    if isinstance(cell, str) and len(cell) < 20 and cell.isdecimal():
        return float(cell)  # nearly every cell of a table
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int | float):
        return _possible(float(cell))
    text = str(cell).strip()
    if text.casefold() in NO_VALUE:
        return None
    if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text):
        return float(int(text, 16))
    if found := re.fullmatch(
        r"(-?\d{1,20}(?:\.\d{1,12})?(?:[eE][+-]?\d{1,3})?)\s*(?:C|mV|dBm|dB|mA)?", text
    ):
        return _possible(float(found[1]))
    raise MalformedReply(f"not a number: {text[:60]!r}")


def _possible(value: float) -> float:
    """Return a number, unless no counter of 64 bit and no measurement can be it."""
    if not abs(value) < MOST:  # nor NaN
        raise MalformedReply(f"no number of 64 bit: {value:g}")
    return value


def moment(cell: object) -> float | None:
    """Return a time stamp as unix seconds: microseconds, milliseconds, seconds, or text in UTC."""
    text = str(cell).strip()
    if re.fullmatch(r"\d{9,17}(?:\.\d{1,9})?", text):
        value = float(text)
        return value / (1e6 if value > 1e14 else 1e3 if value > 1e11 else 1.0)
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
