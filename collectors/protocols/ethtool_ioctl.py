"""The ethtool ioctl (kernel uapi ethtool.h): command buffers and what the kernel writes in them.

Native byte order. Each command is a buffer that begins with its number; the kernel answers into
the same buffer, so a request here is a buffer large enough for the answer. The kernel writes as
many names and values as the driver has *then*, whatever was asked: rings may be added between two
calls, so buffers are made with room to spare (`ROOM`).
"""

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.errors import MalformedReply

SIOCETHTOOL = 0x8946
GET_DRIVER = 0x03
GET_STRINGS = 0x1B
GET_STATISTICS = 0x1D
GET_SET_SIZES = 0x37
GET_MODULE_INFO = 0x42
GET_MODULE_EEPROM = 0x43

STATISTICS_SET = 1
"""String set of the driver's own statistics (ETH_SS_STATS)."""
NAME_BYTES = 32
ROOM = 1024
"""Names or values that a driver may add between asking how many and asking for them."""
MOST = 65536
"""More statistics than any driver has; a larger number is nonsense."""


@dataclass(frozen=True, slots=True)
class Driver:
    """Who drives an interface, and where it sits (ETHTOOL_GDRVINFO)."""

    name: str
    version: str
    firmware: str
    bus: str
    """PCI address of the device, where it has one."""
    statistics: int
    """How many statistics it has now."""


def driver_request() -> bytearray:
    """Return the buffer of ETHTOOL_GDRVINFO (196 bytes)."""
    return _request(struct.pack("=I", GET_DRIVER), 196)


def driver(reply: bytes) -> Driver:
    """Read ETHTOOL_GDRVINFO: driver[32] at 4, version[32], fw_version[32], bus_info[32]; n_stats.

    Raises:
        MalformedReply: shorter than 196 bytes.
    """
    if len(reply) < 196:
        raise MalformedReply(f"driver info of {len(reply)} bytes, not 196")
    name, version, firmware, bus = (_text(reply[at : at + 32]) for at in (4, 36, 68, 100))
    (count,) = struct.unpack_from("=I", reply, 180)
    return Driver(name, version, firmware, bus, count)


def set_size_request(string_set: int) -> bytearray:
    """Return the buffer of ETHTOOL_GSSET_INFO for one set."""
    return _request(struct.pack("=IIQ", GET_SET_SIZES, 0, 1 << string_set), 20)


def set_size(reply: bytes) -> int:
    """Read ETHTOOL_GSSET_INFO for one set: its size, 0 where the driver has no such set.

    Raises:
        MalformedReply: shorter than 20 bytes, or more than `MOST`.
    """
    if len(reply) < 20:
        raise MalformedReply(f"set sizes of {len(reply)} bytes, not 20")
    _, _, mask, count = struct.unpack_from("=IIQI", reply)
    if count > MOST:
        raise MalformedReply(f"a set of {count} statistics")
    return count if mask else 0


def names_request(string_set: int, count: int) -> bytearray:
    """Return the buffer of ETHTOOL_GSTRINGS."""
    head = struct.pack("=III", GET_STRINGS, string_set, count)
    return _request(head, 12 + NAME_BYTES * (count + ROOM))


def names(reply: bytes) -> tuple[str, ...]:
    """Read ETHTOOL_GSTRINGS; a name of 32 characters has no NUL.

    Raises:
        MalformedReply: fewer bytes than names.
    """
    if len(reply) < 12:
        raise MalformedReply(f"strings of {len(reply)} bytes")
    (count,) = struct.unpack_from("=I", reply, 8)
    if count * NAME_BYTES > len(reply) - 12:
        raise MalformedReply(f"{count} names in {len(reply) - 12} bytes")
    places = range(12, 12 + NAME_BYTES * count, NAME_BYTES)
    return tuple(_text(reply[start : start + NAME_BYTES]) for start in places)


def statistics_request(count: int) -> bytearray:
    """Return the buffer of ETHTOOL_GSTATS."""
    return _request(struct.pack("=II", GET_STATISTICS, count), 8 + 8 * (count + ROOM))


def statistics(reply: bytes) -> NDArray[np.uint64]:
    """Read ETHTOOL_GSTATS: values [n], in the order of the names.

    Raises:
        MalformedReply: fewer bytes than values.
    """
    if len(reply) < 8:
        raise MalformedReply(f"statistics of {len(reply)} bytes")
    (count,) = struct.unpack_from("=I", reply, 4)
    if count * 8 > len(reply) - 8:
        raise MalformedReply(f"{count} values in {len(reply) - 8} bytes")
    return np.frombuffer(reply, np.uint64, count, 8)


def module_info_request() -> bytearray:
    """Return the buffer of ETHTOOL_GMODULEINFO (44 bytes)."""
    return _request(struct.pack("=I", GET_MODULE_INFO), 44)


def module_info(reply: bytes) -> tuple[int, int]:
    """Read ETHTOOL_GMODULEINFO: kind (1 SFF-8079, 2 SFF-8472, 3 SFF-8636, 4 SFF-8436) and bytes.

    Raises:
        MalformedReply: shorter than 12 bytes, or an image no module has.
    """
    if len(reply) < 12:
        raise MalformedReply(f"module info of {len(reply)} bytes")
    _, kind, size = struct.unpack_from("=III", reply)
    if size > 1 << 16:
        raise MalformedReply(f"a module memory of {size} bytes")
    return kind, size


def module_eeprom_request(offset: int, size: int) -> bytearray:
    """Return the buffer of ETHTOOL_GMODULEEEPROM; the image is linear (SFP: A2h at 256)."""
    return _request(struct.pack("=IIII", GET_MODULE_EEPROM, 0, offset, size), 16 + size)


def module_eeprom(reply: bytes) -> bytes:
    """Read ETHTOOL_GMODULEEEPROM: as many bytes as the kernel says it wrote.

    Raises:
        MalformedReply: it says more than there are.
    """
    if len(reply) < 16:
        raise MalformedReply(f"module memory of {len(reply)} bytes")
    (size,) = struct.unpack_from("=I", reply, 12)
    if size > len(reply) - 16:
        raise MalformedReply(f"{size} bytes of module memory in {len(reply) - 16}")
    return bytes(reply[16 : 16 + size])


def _request(head: bytes, size: int) -> bytearray:
    buffer = bytearray(size)
    buffer[: len(head)] = head
    return buffer


def _text(field: bytes) -> str:
    return bytes(field).partition(b"\0")[0].decode("ascii", "replace").strip()
