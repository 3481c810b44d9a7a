"""The ethtool generic netlink family (kernel uapi ethtool_netlink_generated.h).

Requests name an interface in a header nest; replies are attributes after it. What a driver does
not know it leaves out, so every field here may be None: absent, never 0.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from collectors.protocols import netlink
from fabrichealth.errors import MalformedReply

FAMILY = "ethtool"
GET_LINK_MODES = 4
GET_LINK_STATE = 6
GET_PAUSE = 21
GET_FEC = 29
GET_MODULE_EEPROM = 31

STATISTICS = 4
"""Header flag: answer with statistics. Requests that do not know it answer EINVAL."""
UNKNOWN_SPEED = 0xFFFFFFFF

FEC_MODES = {49: "none", 50: "rs", 51: "baser", 74: "llrs"}
"""FEC by the number of its link mode bit."""

HALF_PAGE = 128


@dataclass(frozen=True, slots=True)
class LinkModes:
    """Speed in bit/s and lanes as negotiated."""

    speed: float | None = None
    lanes: int | None = None


@dataclass(frozen=True, slots=True)
class LinkState:
    """Whether there is a link; why not, and how often it went down, where the driver says."""

    up: bool | None = None
    reason: int | None = None
    downs: int | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Pause frames of the whole link (IEEE 802.3 annex 31B), since the driver was loaded."""

    sent: int | None = None
    received: int | None = None


@dataclass(frozen=True, slots=True)
class Fec:
    """What FEC did: totals over the port, and codewords by symbol errors in them."""

    mode: str | None = None
    """none, rs, baser or llrs as active now."""
    corrected: int | None = None
    """Codewords repaired."""
    uncorrectable: int | None = None
    corrected_bits: int | None = None
    histogram: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Codewords by (fewest, most) symbol errors in them, both inclusive."""


def header(interface: str, flags: int = 0) -> bytes:
    """Return the request header: interface name, and flags where there are any."""
    name = netlink.attribute(2, interface.encode() + b"\0")
    extra = netlink.attribute(3, struct.pack("=I", flags)) if flags else b""
    return netlink.nest(1, name, extra)


def module_eeprom_request(interface: str, page: int, offset: int, bank: int, address: int) -> bytes:
    """Return the attributes that ask for half a page: `offset` 0 or 128; address 50h or 51h."""
    return header(interface) + b"".join(
        [
            netlink.attribute(2, struct.pack("=I", offset)),
            netlink.attribute(3, struct.pack("=I", HALF_PAGE)),
            netlink.attribute(4, struct.pack("=B", page)),
            netlink.attribute(5, struct.pack("=B", bank)),
            netlink.attribute(6, struct.pack("=B", address)),
        ]
    )


def link_modes(payload: bytes) -> LinkModes:
    """Read a LINKMODES reply: 5 speed u32 in Mbit/s (all ones unknown), 9 lanes u32.

    Raises:
        MalformedReply: a length does not fit.
    """
    found = netlink.generic_attributes(payload)
    speed, lanes = _number(found, 5), _number(found, 9)
    known = speed is not None and speed not in {0, UNKNOWN_SPEED}
    return LinkModes(speed * 1e6 if speed is not None and known else None, lanes or None)


def link_state(payload: bytes) -> LinkState:
    """Read a LINKSTATE reply: 2 link u8, 5 extended state u8, 7 down count u32.

    Raises:
        MalformedReply: a length does not fit.
    """
    found = netlink.generic_attributes(payload)
    up = _number(found, 2)
    return LinkState(None if up is None else bool(up), _number(found, 5), _number(found, 7))


def pause(payload: bytes) -> Pause:
    """Read a PAUSE reply: statistics nest 5 with 2 frames sent, 3 frames received.

    Raises:
        MalformedReply: a length does not fit.
    """
    found = netlink.first(netlink.generic_attributes(payload).get(5, b""))
    return Pause(_number(found, 2), _number(found, 3))


def fec(payload: bytes) -> Fec:
    """Read a FEC reply: 4 active mode, 5 statistics nest (2, 3, 4 totals, 5 histogram bins).

    Raises:
        MalformedReply: a length does not fit.
    """
    found = netlink.generic_attributes(payload)
    statistics = found.get(5, b"")
    totals = netlink.first(statistics)
    bins = {}
    for kind, nested in netlink.attributes(statistics):
        if kind == 5:
            one = netlink.first(nested)
            low, high, count = _number(one, 2), _number(one, 3), _number(one, 4)
            if low is None or high is None or count is None:
                raise MalformedReply("FEC histogram bin without its bounds or value")
            bins[low, high] = count
    active = _number(found, 4)
    return Fec(
        None if active is None else FEC_MODES.get(active),
        _total(totals, 2),
        _total(totals, 3),
        _total(totals, 4),
        bins,
    )


def module_eeprom(payload: bytes) -> bytes:
    """Read a MODULE_EEPROM reply: 7 data.

    Raises:
        MalformedReply: it holds no half page.
    """
    data = netlink.generic_attributes(payload).get(7, b"")
    if len(data) != HALF_PAGE:
        raise MalformedReply(f"half a module page has {len(data)} bytes, not {HALF_PAGE}")
    return data


def _number(found: Mapping[int, bytes], kind: int) -> int | None:
    payload = found.get(kind)
    return None if payload is None else netlink.unsigned(payload)


def _total(found: Mapping[int, bytes], kind: int) -> int | None:
    """Return element 0, the port's total; an empty array says that the driver has none."""
    values = netlink.unsigned_array(found.get(kind, b""))
    return values[0] if values else None
