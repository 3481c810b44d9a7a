"""Classic InfiniBand port counters -> catalogue, under the names that the kernel gives them.

`PMA` has the same counters under the names of the IBTA's performance management, which the tools
and managers of a fabric print.
"""

from dataclasses import dataclass

from fabrichealth.catalogue.infiniband import (
    BUFFER_OVERRUNS,
    LOCAL_INTEGRITY_ERRORS,
    MANAGEMENT_DROPS,
    RX_CONSTRAINT_ERRORS,
    RX_REMOTE_PHYSICAL_ERRORS,
    RX_SWITCH_RELAY_ERRORS,
    TX_CONSTRAINT_ERRORS,
)
from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    LINK_RECOVERIES,
    RX_BYTES,
    RX_CRC_ERRORS,
    RX_ERRORS,
    RX_PACKETS,
    SYMBOL_ERRORS,
    TRANSMIT_WAIT,
    TX_BYTES,
    TX_DISCARDS,
    TX_PACKETS,
)
from fabrichealth.units import IB_WORD_BYTES

COUNTERS = {
    "port_xmit_data": (TX_BYTES, IB_WORD_BYTES),
    "port_rcv_data": (RX_BYTES, IB_WORD_BYTES),
    "port_xmit_packets": (TX_PACKETS, 1),
    "port_rcv_packets": (RX_PACKETS, 1),
    "symbol_error": (SYMBOL_ERRORS, 1),
    "link_error_recovery": (LINK_RECOVERIES, 1),
    "link_downed": (LINK_DOWNS, 1),
    "port_rcv_errors": (RX_ERRORS, 1),
    "port_rcv_remote_physical_errors": (RX_REMOTE_PHYSICAL_ERRORS, 1),
    "port_rcv_switch_relay_errors": (RX_SWITCH_RELAY_ERRORS, 1),
    "port_xmit_discards": (TX_DISCARDS, 1),
    "port_xmit_constraint_errors": (TX_CONSTRAINT_ERRORS, 1),
    "port_rcv_constraint_errors": (RX_CONSTRAINT_ERRORS, 1),
    "local_link_integrity_errors": (LOCAL_INTEGRITY_ERRORS, 1),
    "excessive_buffer_overrun_errors": (BUFFER_OVERRUNS, 1),
    "VL15_dropped": (MANAGEMENT_DROPS, 1),
}
"""Metric, and what one count of the device is worth in the metric's unit."""

TRANSMIT_WAIT_COUNTER = "port_xmit_wait"
"""Counts ticks, whose length depends on the rate of the port: see `wait_tick`."""

PMA = {
    "PortXmitData": "port_xmit_data",
    "PortRcvData": "port_rcv_data",
    "PortXmitPkts": "port_xmit_packets",
    "PortRcvPkts": "port_rcv_packets",
    "SymbolErrorCounter": "symbol_error",
    "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed",
    "PortRcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortRcvSwitchRelayErrors": "port_rcv_switch_relay_errors",
    "PortXmitDiscards": "port_xmit_discards",
    "PortXmitConstraintErrors": "port_xmit_constraint_errors",
    "PortRcvConstraintErrors": "port_rcv_constraint_errors",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
    "VL15Dropped": "VL15_dropped",
    "PortXmitWait": TRANSMIT_WAIT_COUNTER,
}
"""The kernel's name of each counter of the performance management."""

DETAILS = {"PortLocalPhysicalErrors": RX_CRC_ERRORS}
"""Of PortRcvErrorDetails: packets whose CRC (or length, or end) was wrong at this port."""

METRICS = (*(metric for metric, _ in COUNTERS.values()), TRANSMIT_WAIT)


@dataclass(slots=True)
class Wait:
    """Ticks so far in seconds: `base` for those before `ticks`, since the rate last changed."""

    ticks: int = 0
    base: float = 0.0
    tick: float = 0.0

    def seconds(self, ticks: int, tick: float) -> float:
        """Return the seconds of all ticks; a change of the rate counts from now on."""
        if ticks < self.ticks or not self.tick:
            self.base = 0.0
        elif tick != self.tick:
            self.base += self.ticks * (self.tick - tick)
        self.ticks, self.tick = ticks, tick
        return max(self.base + ticks * tick, 0.0)


def wait_tick(bits_per_second: float) -> float:
    """Return the seconds of one tick of port_xmit_wait: 4 octets at the active data rate."""
    return IB_WORD_BYTES * 8 / bits_per_second
