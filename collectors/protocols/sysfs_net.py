"""/sys/class/net: state, speed and statistics of interfaces (kernel sysfs-class-net ABI).

Reading `carrier`, `speed` or `duplex` of an interface that is administratively down gives EINVAL;
a speed of -1 is unknown even with the link up. All `statistics/` are 64 bit.
"""

import re

from fabrichealth.errors import MalformedReply

STATISTICS = "statistics"
ADMIN_UP = 0x1
"""IFF_UP in `flags`."""
LOOPBACK = 772
"""ARPHRD_LOOPBACK in `type`."""

_UP = {"up": True, "down": False, "lowerlayerdown": False, "dormant": False, "notpresent": False}
_REPRESENTOR = re.compile(r"(c\d+)?pf\d+[vs]f\d+")


def up(raw: bytes) -> bool | None:
    """Read `operstate`; None where the driver does not say (`unknown`, `testing`)."""
    return _UP.get(raw.strip().decode("ascii", "replace"))


def flags(raw: bytes) -> int:
    """Read `flags`: `0x1003`.

    Raises:
        MalformedReply: not a hexadecimal number.
    """
    text = raw.strip()
    if not re.fullmatch(rb"0x[0-9a-fA-F]{1,8}", text):
        raise MalformedReply(f"not interface flags: {raw[:40]!r}")
    return int(text, 16)


def speed(raw: bytes) -> float | None:
    """Read `speed`, given in Mbit/s, as bit/s; None where it is unknown (-1, 0, all ones).

    Raises:
        MalformedReply: not a number.
    """
    text = raw.strip()
    if not re.fullmatch(rb"-?\d{1,10}", text):
        raise MalformedReply(f"not a speed: {raw[:40]!r}")
    megabits = int(text)
    return megabits * 1e6 if 0 < megabits < 0xFFFFFFFF else None


def is_representor(phys_port_name: str) -> bool:
    """Return whether an interface stands for a virtual or sub function of a NIC (`pf0vf3`)."""
    return _REPRESENTOR.fullmatch(phys_port_name) is not None
