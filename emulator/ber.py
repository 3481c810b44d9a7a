"""BER as SNMP uses it: tag, length and value in octets (RFC 3417 section 8, ITU-T X.690)."""

from collections.abc import Iterable, Iterator

INTEGER, OCTETS, NULL, OID, SEQUENCE = 0x02, 0x04, 0x05, 0x06, 0x30
COUNTER32, GAUGE32, TIMETICKS, COUNTER64 = 0x41, 0x42, 0x43, 0x46
NO_SUCH_OBJECT, NO_SUCH_INSTANCE, END_OF_MIB = 0x80, 0x81, 0x82
"""Exceptions in place of a value (RFC 3416 section 3)."""

Oid = tuple[int, ...]


def element(tag: int, content: bytes) -> bytes:
    """Return an element of definite length."""
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(octets))) + octets + content


def integer(value: int, tag: int = INTEGER) -> bytes:
    """Return an integer type: two's complement in as few octets as it takes."""
    size = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return element(tag, value.to_bytes(size, "big", signed=True))


def oid(value: Oid) -> bytes:
    """Return an object identifier: the first two numbers in one, each in base 128."""
    first, second, *rest = value
    content = bytearray()
    for number in (40 * first + second, *rest):
        octets = [number & 0x7F]
        while number := number >> 7:
            octets.append(number & 0x7F | 0x80)
        content += bytes(reversed(octets))
    return element(OID, bytes(content))


def sequence(parts: Iterable[bytes], tag: int = SEQUENCE) -> bytes:
    """Return a sequence, or a PDU, of elements."""
    return element(tag, b"".join(parts))


def elements(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of elements behind each other.

    Raises:
        ValueError: one of them does not end where the octets do.
    """
    place = 0
    while place < len(raw):
        if place + 2 > len(raw):
            raise ValueError("an element without a length")
        tag, size = raw[place], raw[place + 1]
        place += 2
        if size & 0x80:
            octets = size & 0x7F
            size = int.from_bytes(raw[place : place + octets], "big")
            place += octets
        if place + size > len(raw):
            raise ValueError("an element beyond the end")
        yield tag, raw[place : place + size]
        place += size


def number(content: bytes) -> int:
    """Return the value of an integer."""
    return int.from_bytes(content, "big", signed=True)


def numbers(content: bytes) -> Oid:
    """Return the value of an object identifier.

    Raises:
        ValueError: it is empty, or breaks off.
    """
    found, part = [], 0
    for octet in content:
        part = part << 7 | octet & 0x7F
        if not octet & 0x80:
            found.append(part)
            part = 0
    if not content or content[-1] & 0x80:
        raise ValueError("an identifier that breaks off")
    first = min(found[0] // 40, 2)
    return (first, found[0] - 40 * first, *found[1:])
