"""Recorded SNMP walks: text of `snmpwalk -On`, or snmprec as simulators of agents write it.

snmprec has one variable a line, `OID|TAG|VALUE`, the tag being the ASN.1 tag in decimal, with an
`x` behind it where the value is hexadecimal (snmpsim's documentation, "Data file formats").
snmpwalk writes `.OID = TYPE: VALUE`; strings may go on in further lines (net-snmp, snmpcmd(1),
-On). Values are what they are on the wire: integers, octets, and OIDs and addresses as text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fabrichealth.errors import MalformedReply

Value = int | float | bytes | str | None
"""Integer types, Opaque floats, OCTET STRING, OBJECT IDENTIFIER or IpAddress; None for NULL."""

MOST = 1 << 64
"""No integer type of SNMP holds more (Counter64, RFC 2578 section 7.1.10)."""

_OID = r"\.?([0-9]{1,10}(?:\.[0-9]{1,10}){1,127})"
_RECORD = re.compile(_OID + r"\|([0-9]{1,3}x?)\|(.*)", re.ASCII)
_WALKED = re.compile(_OID + r" = (?:(?:Wrong Type \(should be .*?\): )?([A-Za-z0-9-]+): ?)?(.*)")
_NUMBER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_LAST_NUMBER = re.compile(r"(?:[^()]*\()?(-?[0-9]{1,20})\)?(?: .*)?", re.ASCII)

INTEGERS = {"2", "65", "66", "67", "70"}
NUMERIC = {
    "INTEGER", "Integer32", "Counter32", "Counter64", "Gauge32", "Unsigned32", "UInteger32",
    "Timeticks",
}  # fmt: skip
NOT_THERE = ("No Such ", "No more variables ")


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is no variable: its number from 1, what it says, and why not."""

    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What was recorded: values by OID without a leading dot, and what could not be read."""

    variables: dict[str, Value] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    twice: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    """OIDs that were recorded with differing values; none of them is among the variables."""


def walk(text: str) -> Walk:
    """Read a recorded walk of either form.

    Raises:
        MalformedReply: no line of it is a variable.
    """
    found = Walk()
    for number, line, said in _variables(text):
        if isinstance(said, str):
            found.broken.append(Broken(number, line[:60], said))
            continue
        oid, value = said
        if oid in found.twice:
            found.twice[oid] += (value,)
        elif oid in found.variables and found.variables[oid] != value:
            found.twice[oid] = (found.variables.pop(oid), value)
        else:
            found.variables[oid] = value
    if not (found.variables or found.twice):
        raise MalformedReply("no line is a variable of snmprec or of snmpwalk -On")
    return found


def _variables(text: str) -> Iterator[tuple[int, str, tuple[str, Value] | str]]:
    """Yield number, text and meaning of each variable; the meaning of a bad one is why."""
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        start, line = place, lines[place].rstrip("\r")
        place += 1
        recorded = _RECORD.fullmatch(line)
        walked = None if recorded else _WALKED.fullmatch(line)
        if recorded:
            yield start + 1, line, _meant(recorded[1], _recorded, recorded[2], recorded[3])
        elif walked:
            while place < len(lines) and not _ends(walked[2] or "", line, lines[place]):
                line += "\n" + lines[place].rstrip("\r")
                place += 1
            value = walked[3] + line[walked.end() :]
            if not value.startswith(NOT_THERE):
                yield start + 1, line, _meant(walked[1], _walked, walked[2] or "", value)
        elif line.strip() and not line.startswith(("#", *NOT_THERE)):
            yield start + 1, line, "neither OID|TAG|VALUE nor .OID = TYPE: VALUE"


def _ends(kind: str, line: str, following: str) -> bool:
    """Return whether a variable ends before the following line."""
    if _WALKED.fullmatch(following.rstrip("\r")) or _RECORD.fullmatch(following.rstrip("\r")):
        return True
    if kind == "STRING":
        value = line.partition("STRING: ")[2]
        return not (value.startswith('"') and (len(value) < 2 or not value.endswith('"')))
    if kind in {"Hex-STRING", "BITS"}:
        return not re.fullmatch(r"(?:[0-9A-Fa-f]{2} ?)+", following.strip() or "-")
    return True


def _meant(
    oid: str, read: Callable[[str, str], Value], kind: str, text: str
) -> tuple[str, Value] | str:
    """Return OID and value, or why there is none."""
    if any(int(part) >= 1 << 32 for part in oid.split(".")):
        return "a number of the OID is beyond 32 bits"
    try:
        return oid, read(kind, text)
    except ValueError as wrong:
        return str(wrong)


def _recorded(tag: str, text: str) -> Value:
    """Return the value of a tag of snmprec.

    Raises:
        ValueError: it cannot be read; the message says why.
    """
    bare, hexadecimal = tag.removesuffix("x"), tag.endswith("x")
    if bare in INTEGERS and not hexadecimal:
        return _integer(text, _NUMBER.fullmatch(text.strip()))
    if bare == "4":
        return bytes.fromhex(text) if hexadecimal else text.encode()
    if bare in {"6", "64"}:
        return text.strip().lstrip(".")
    if bare == "5":
        return None
    raise ValueError(f"tag {tag} is not known")


def _walked(kind: str, text: str) -> Value:
    """Return the value of a type of snmpwalk; an empty string has no type.

    Raises:
        ValueError: it cannot be read; the message says why.
    """
    if kind in NUMERIC:
        found = _LAST_NUMBER.fullmatch(text.strip())
        return _integer(found[1] if found else text, found)
    if kind in {"Hex-STRING", "BITS"}:
        digits = re.match(r"(?:[0-9A-Fa-f]{2}\s*)*", text)
        return bytes.fromhex(digits[0] if digits else "")
    if kind in {"STRING", ""}:
        if not kind and text not in {'""', "NULL"}:
            raise ValueError("a value without a type")
        if text == "NULL" and not kind:
            return None
        plain = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
        return re.sub(r'\\(["\\])', r"\1", plain).encode()
    if kind in {"OID", "IpAddress"}:
        return text.strip().lstrip(".")
    if kind == "Opaque":
        return float(text.removeprefix("Float: "))
    raise ValueError(f"type {kind} is not known")


def _integer(text: str, found: re.Match[str] | None) -> int:
    """Return an integer that some type of SNMP can hold.

    Raises:
        ValueError: it is none.
    """
    if found is None or not -(1 << 31) <= int(text) < MOST:
        raise ValueError("not an integer of SNMP")
    return int(text)
