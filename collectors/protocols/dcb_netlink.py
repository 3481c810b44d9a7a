"""Priority flow control totals by DCB over rtnetlink (kernel uapi dcbnl.h).

Request: message type 78, `u8 family, u8 command 21 (IEEE_GET), u16 0`, attribute 1 the interface.
Reply: attribute 13 nest, in it attribute 2, `struct ieee_pfc`: u8 capability, u8 enabled, u8 mbc,
u16 delay at 4, u64 requests[8] at 8 (sent), u64 indications[8] at 72 (received); 136 bytes.
"""

import struct
from dataclasses import dataclass

from collectors.protocols import netlink
from fabrichealth.errors import MalformedReply

MESSAGE = 78
IEEE_GET = 21
_TOTALS = struct.Struct("=BBBxHxx8Q8Q")


@dataclass(frozen=True, slots=True)
class Pfc:
    """PFC frames by priority, 8 each, and the bitmap of priorities that have PFC."""

    enabled: int
    sent: tuple[int, ...]
    received: tuple[int, ...]


def request(interface: str, sequence: int) -> bytes:
    """Return the request for one interface."""
    body = struct.pack("=BBH", 0, IEEE_GET, 0)
    name = netlink.attribute(1, interface.encode() + b"\0")
    return netlink.frame(MESSAGE, 0, sequence, body + name)


def pfc(payload: bytes) -> Pfc | None:
    """Read the reply; None where the driver answers without PFC.

    Raises:
        MalformedReply: a length does not fit.
    """
    if len(payload) < 4:
        raise MalformedReply("DCB reply without its header")
    nested = netlink.first(payload[4:]).get(13)
    if nested is None:
        return None
    totals = netlink.first(nested).get(2)
    if totals is None:
        return None
    if len(totals) < _TOTALS.size:
        raise MalformedReply(f"PFC totals of {len(totals)} bytes, not {_TOTALS.size}")
    _, enabled, _, _, *counts = _TOTALS.unpack_from(totals)
    return Pfc(enabled, tuple(counts[:8]), tuple(counts[8:]))
