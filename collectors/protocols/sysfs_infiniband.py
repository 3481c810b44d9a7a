"""/sys/class/infiniband: state, rate, identity and counters of RDMA ports (kernel RDMA sysfs).

`counters/` are those of the port (IBTA performance management). The kernel reads every error
counter and port_xmit_wait from the classic block, so that they keep its 4 to 32 bits even on the
newest adapter, and stop at their maximum; data and packets are 64 bit where the adapter has them.
`hw_counters/` are the driver's own; `lifespan` among them is a setting.
"""

import re
from dataclasses import dataclass

from fabrichealth.errors import MalformedReply

COUNTERS = "counters"
HW_COUNTERS = "hw_counters"
LIFESPAN = "lifespan"

SATURATES = {
    "symbol_error": 16,
    "link_error_recovery": 8,
    "link_downed": 8,
    "port_rcv_errors": 16,
    "port_rcv_remote_physical_errors": 16,
    "port_rcv_switch_relay_errors": 16,
    "port_xmit_discards": 16,
    "port_xmit_constraint_errors": 8,
    "port_rcv_constraint_errors": 8,
    "local_link_integrity_errors": 4,
    "excessive_buffer_overrun_errors": 4,
    "VL15_dropped": 16,
    "port_xmit_wait": 32,
    "port_xmit_data": 32,
    "port_rcv_data": 32,
    "port_xmit_packets": 32,
    "port_rcv_packets": 32,
}
"""Bits at whose maximum a counter stops (IBTA). One that stands beyond is simply wider."""

ACTIVE = 4
DOWN = 1
PHYSICALLY_DISABLED = 3
PHYSICALLY_UP = 5


@dataclass(frozen=True, slots=True)
class Rate:
    """Data rate in bit/s and lanes of a port."""

    bits_per_second: float
    lanes: int


def state(raw: bytes) -> int:
    """Read `state` or `phys_state`: the number in `4: ACTIVE`, `5: LinkUp`.

    Raises:
        MalformedReply: there is no number before a colon.
    """
    found = re.match(rb"\s*(\d{1,2}):", raw)
    if not found:
        raise MalformedReply(f"not a port state: {raw[:40]!r}")
    return int(found[1])


def rate(raw: bytes) -> Rate:
    """Read `rate`: `400 Gb/sec (4X NDR)`, `2.5 Gb/sec (1X SDR)`.

    Raises:
        MalformedReply: another form.
    """
    found = re.match(rb"\s*(\d{1,6}(?:\.\d{1,3})?) Gb/sec \((\d{1,2})X(?: \w+)?\)", raw)
    if not found:
        raise MalformedReply(f"not a port rate: {raw[:40]!r}")
    return Rate(float(found[1]) * 1e9, int(found[2]))


def is_ethernet(raw: bytes) -> bool:
    """Read `link_layer`: Ethernet (RoCE) or InfiniBand."""
    return raw.strip() == b"Ethernet"


def guid(raw: bytes) -> str:
    """Read `node_guid`: `cc00:0000:0000:0002` becomes `0xcc00000000000002`.

    Raises:
        MalformedReply: not 16 hexadecimal digits, or all of them 0.
    """
    digits = raw.strip().decode("ascii", "replace").lower().removeprefix("0x").replace(":", "")
    if not re.fullmatch(r"[0-9a-f]{16}", digits) or not digits.strip("0"):
        raise MalformedReply(f"not a GUID: {raw[:40]!r}")
    return f"0x{digits}"
