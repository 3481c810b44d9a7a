"""Netlink frames and attributes (kernel uapi netlink.h, genetlink.h); native byte order.

A frame is `u32 length, u16 type, u16 flags, u32 sequence, u32 port`; a generic one adds `u8
command, u8 version, u16 0`. Attributes follow, `u16 length (with these 4 bytes), u16 type`, padded
to 4 bytes.
"""

import errno
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from fabrichealth.errors import MalformedReply

ROUTE, GENERIC = 0, 16
"""Netlink protocols (AF_NETLINK) of links and of families resolved by name."""
REQUEST, ACK, DUMP = 1, 4, 0x300
NOOP, ERROR, DONE = 1, 2, 3
CONTROL = 16
"""The family that resolves the others (nlctrl); its command 3 asks for one by name."""
NESTED = 0x8000
TYPE_MASK = 0x3FFF

_FRAME = struct.Struct("=IHHII")
_GENERIC = struct.Struct("=BBH")
_ATTRIBUTE = struct.Struct("=HH")


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a reply; `error` is the positive errno of an ERROR frame, 0 an ack."""

    type: int
    sequence: int
    payload: bytes
    error: int = 0


def attribute(kind: int, payload: bytes) -> bytes:
    """Return one attribute, padded."""
    size = _ATTRIBUTE.size + len(payload)
    return _ATTRIBUTE.pack(size, kind) + payload + bytes(-size % 4)


def nest(kind: int, *attributes: bytes) -> bytes:
    """Return attributes within one attribute."""
    return attribute(kind | NESTED, b"".join(attributes))


def frame(kind: int, flags: int, sequence: int, payload: bytes) -> bytes:
    """Return one request."""
    size = _FRAME.size + len(payload)
    return _FRAME.pack(size, kind, flags | REQUEST, sequence, 0) + payload


def generic(family: int, command: int, sequence: int, *attributes: bytes) -> bytes:
    """Return one request to a generic family."""
    body = _GENERIC.pack(command, 1, 0) + b"".join(attributes)
    return frame(family, ACK, sequence, body)


def frames(data: bytes) -> Iterator[Frame]:
    """Yield the messages in what a socket received.

    Raises:
        MalformedReply: a length does not fit.
    """
    start = 0
    while start < len(data):
        if len(data) - start < _FRAME.size:
            raise MalformedReply(f"netlink: {len(data) - start} bytes left, a frame has 16 or more")
        size, kind, _, sequence, _ = _FRAME.unpack_from(data, start)
        if not _FRAME.size <= size <= len(data) - start:
            raise MalformedReply(f"netlink: frame of {size} bytes in {len(data) - start}")
        payload = data[start + _FRAME.size : start + size]
        error = 0
        if kind == ERROR:
            if len(payload) < 4:
                raise MalformedReply("netlink: error frame without an errno")
            error = abs(int(struct.unpack_from("=i", payload)[0]))
        yield Frame(kind, sequence, payload, error)
        start += size + -size % 4


def generic_attributes(payload: bytes) -> dict[int, bytes]:
    """Return the attributes of a generic reply by type; the first of a type wins.

    Raises:
        MalformedReply: a length does not fit.
    """
    if len(payload) < _GENERIC.size:
        raise MalformedReply("netlink: generic reply without its header")
    return first(payload[_GENERIC.size :])


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (type, payload) of attributes in order.

    Raises:
        MalformedReply: a length does not fit.
    """
    start = 0
    while start < len(data):
        if len(data) - start < _ATTRIBUTE.size:
            raise MalformedReply(f"netlink: {len(data) - start} bytes left, an attribute has 4")
        size, kind = _ATTRIBUTE.unpack_from(data, start)
        if not _ATTRIBUTE.size <= size <= len(data) - start:
            raise MalformedReply(f"netlink: attribute of {size} bytes in {len(data) - start}")
        yield kind & TYPE_MASK, data[start + _ATTRIBUTE.size : start + size]
        start += size + -size % 4


def first(data: bytes) -> dict[int, bytes]:
    """Return attributes by type; the first of a type wins.

    Raises:
        MalformedReply: a length does not fit.
    """
    found: dict[int, bytes] = {}
    for kind, payload in attributes(data):
        found.setdefault(kind, payload)
    return found


def unsigned(payload: bytes) -> int:
    """Return a u8, u16, u32 or u64 by its length.

    Raises:
        MalformedReply: another length.
    """
    if len(payload) not in {1, 2, 4, 8}:
        raise MalformedReply(f"netlink: a number of {len(payload)} bytes")
    return int.from_bytes(payload, "little" if struct.pack("=H", 1)[0] else "big")


def unsigned_array(payload: bytes) -> list[int]:
    """Return an array of u64.

    Raises:
        MalformedReply: not a multiple of 8 bytes.
    """
    if len(payload) % 8:
        raise MalformedReply(f"netlink: an array of u64 in {len(payload)} bytes")
    return list(struct.unpack(f"={len(payload) // 8}Q", payload))


def family_request(name: str, sequence: int) -> bytes:
    """Return the request for the number of a generic family (nlctrl, command 3)."""
    return generic(CONTROL, 3, sequence, attribute(2, name.encode() + b"\0"))


def family_id(payload: bytes) -> int:
    """Return the family's number; it is not stable over module loads.

    Raises:
        MalformedReply: the reply has none.
    """
    found = generic_attributes(payload).get(1)
    if found is None:
        raise MalformedReply("netlink: the kernel names no number for the family")
    return unsigned(found)


def error_name(number: int) -> str:
    """Return the name of an errno (`EOPNOTSUPP`, also ENOTSUP here), or its number as text."""
    if number == errno.EOPNOTSUPP:
        return "EOPNOTSUPP"
    return errno.errorcode.get(number, str(number))
