"""Which files of a host's port are counters, what each counts, and how it ends."""

from collections.abc import Iterator
from dataclasses import dataclass

from collectors.host.ports import HostPort
from collectors.maps import infiniband, interface, roce
from collectors.protocols import sysfs_infiniband, sysfs_net
from collectors.protocols.sysfs_infiniband import COUNTERS, HW_COUNTERS
from collectors.transports.tree import Tree
from fabrichealth.catalogue.ports import TRANSMIT_WAIT
from fabrichealth.metric import Metric


@dataclass(slots=True)
class Row:
    """One counter file: its series, and what one count is worth."""

    path: str
    port: HostPort
    metric: Metric
    series: int
    worth: float = 1.0
    stops_at: int = -1
    """Where the counter saturates; -1 never."""
    wraps: int = 0
    """Bits at which it wraps; 0 never."""
    ticks: bool = False
    """Whether it counts ticks of the port's rate (port_xmit_wait)."""


def candidates(tree: Tree, port: HostPort) -> Iterator[Row]:
    """Yield a port's counter files, better witnesses of one metric first."""
    if not port.rdma:
        for name, metric in interface.STATISTICS.items():
            yield Row(f"{port.path}/{sysfs_net.STATISTICS}/{name}", port, metric, -1)
        for name, metric in interface.CARRIER_DOWNS.items():
            yield Row(f"{port.path}/{name}", port, metric, -1)
        return
    classic = set(tree.names(f"{port.path}/{COUNTERS}"))
    for name, (metric, worth) in infiniband.COUNTERS.items():
        if name in classic:
            stops = (1 << sysfs_infiniband.SATURATES[name]) - 1
            yield Row(f"{port.path}/{COUNTERS}/{name}", port, metric, -1, worth, stops)
    wait = infiniband.TRANSMIT_WAIT_COUNTER
    if wait in classic and port.technology == "ib":  # Ethernet has no credits to wait for
        stops = (1 << sysfs_infiniband.SATURATES[wait]) - 1
        path = f"{port.path}/{COUNTERS}/{wait}"
        yield Row(path, port, TRANSMIT_WAIT, -1, 1.0, stops, ticks=True)
    own = tree.names(f"{port.path}/{HW_COUNTERS}")
    for name, metric in roce.chosen(own).items():
        wraps = roce.wraps_at_bits(name, own)
        yield Row(f"{port.path}/{HW_COUNTERS}/{name}", port, metric, -1, wraps=wraps)
