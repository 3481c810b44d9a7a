"""Hex dumps of a module's memory, as tools print them: lines of bytes, perhaps with offsets.

A heading that names a page (`Upper page 11h`, `Bank 1 page 11h`, `Lower page 0h`, `A2h dump`)
begins a section. Where a line has an offset it must follow the line before it: a line that was lost
would move everything behind it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from fabrichealth.errors import MalformedReply

_HEADING = re.compile(
    r"(?:\b(?P<lower>lower)\b.*|(?:bank (?P<bank>\d)\D*)?page (?P<page>[0-9a-f]{1,2})h?\b.*"
    r"|\b(?P<address>a[02])h\b.*)",
    re.IGNORECASE,
)
_HEX = re.compile(r"[0-9a-fA-F]+")
_OFFSET = re.compile(
    r"(?:0x)?(?P<colon>[0-9a-fA-F]{4,8}):|0x(?P<x>[0-9a-fA-F]{4,8})"
    r"|(?P<bare>[0-9a-fA-F]{8})(?= +[0-9a-fA-F]{2} )"
)
"""What stands before the bytes of a line."""
SAME = "*"
"""What `hexdump` prints for lines that are all like the one before."""
MOST_REPEATED = 1 << 16


class _Line(NamedTuple):
    number: int
    section: str
    offset: int | None
    octets: bytes
    after_same: bool


def sections(text: str) -> dict[str, bytes]:
    """Return the bytes of each section: `lower`, a page, `a0`, `a2`, or empty without a heading.

    Raises:
        MalformedReply: a line is missing or half.
    """
    found: dict[str, bytearray] = {}
    first: dict[str, int] = {}
    for line in _lines(text):
        held = found.setdefault(line.section, bytearray())
        if line.offset is not None:
            place = line.offset - first.setdefault(line.section, line.offset)
            if line.after_same and held and len(held) < place <= MOST_REPEATED:
                held.extend(held[-16:] * ((place - len(held)) // 16))
            if place != len(held):
                raise MalformedReply(
                    f"line {line.number} of the dump is at {line.offset:#x}, "
                    f"{len(held):#x} bytes behind the first; a line is missing"
                )
        held.extend(line.octets)
    return {name: bytes(octets) for name, octets in found.items()}


def _lines(text: str) -> Iterator[_Line]:
    section, after_same = "", False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        offset = _OFFSET.match(line)
        heading = None if offset else _HEADING.search(line)
        if heading:
            section = _section(heading)
        elif line == SAME:
            after_same = True
        elif octets := _octets(line, offset, number):
            at = int(offset["colon"] or offset["x"] or offset["bare"], 16) if offset else None
            yield _Line(number, section, at, octets, after_same)
            after_same = False


def _octets(line: str, offset: "re.Match[str] | None", number: int) -> bytes:
    """Return the bytes of a line without its offset and the text beside them; none of others."""
    rest = line[offset.end() :].strip() if offset else line
    if offset and offset["colon"]:
        rest = rest.partition("  ")[0]  # text stands behind two blanks
    words = rest.partition("|")[0].split()
    if not words or not all(map(_HEX.fullmatch, words)):
        return b""
    if any(len(word) % 2 for word in words):
        if offset is None:
            return b""
        raise MalformedReply(f"line {number} of the dump has half a byte")
    return bytes.fromhex("".join(words))


def _section(heading: "re.Match[str]") -> str:
    if heading["address"]:
        return str(heading["address"]).lower()
    if heading["lower"]:
        return "lower"
    bank = str(heading["bank"] or "0")
    page = f"{int(heading['page'], 16):02x}"
    return page if bank == "0" else f"{bank}:{page}"
