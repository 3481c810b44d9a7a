"""A host's files on disk: /sys/class/{infiniband,net} and /proc/stat of a host with N NICs.

Written from the kernel's ABI documents. A reader whose root is `HostTree.root` sees what the kernel
would show. Files are replaced, never truncated, so that no reader meets half a number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CLASSIC = (
    "port_xmit_data",
    "port_rcv_data",
    "port_xmit_packets",
    "port_rcv_packets",
    "unicast_xmit_packets",
    "unicast_rcv_packets",
    "multicast_xmit_packets",
    "multicast_rcv_packets",
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_discards",
    "port_xmit_constraint_errors",
    "port_rcv_constraint_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
    "port_xmit_wait",
)
MLX5 = (
    "rx_write_requests",
    "rx_read_requests",
    "rx_atomic_requests",
    "rx_dct_connect",
    "out_of_buffer",
    "out_of_sequence",
    "duplicate_request",
    "rnr_nak_retry_err",
    "packet_seq_err",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "resp_local_length_error",
    "resp_cqe_error",
    "req_cqe_error",
    "req_remote_invalid_request",
    "req_remote_access_errors",
    "resp_remote_access_errors",
    "resp_cqe_flush_error",
    "req_cqe_flush_error",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
    "roce_slow_restart",
    "roce_slow_restart_cnps",
    "roce_slow_restart_trans",
    "rx_icrc_encapsulated",
)
CONGESTION = ("rp_cnp_handled", "rp_cnp_ignored", "np_cnp_sent", "np_ecn_marked_roce_packets")
STATISTICS = (
    "rx_bytes",
    "tx_bytes",
    "rx_packets",
    "tx_packets",
    "rx_errors",
    "tx_errors",
    "rx_dropped",
    "tx_dropped",
    "rx_crc_errors",
    "rx_missed_errors",
    "multicast",
    "collisions",
)
GENERATIONS = {10: "SDR", 25: "EDR", 50: "HDR", 100: "NDR", 200: "XDR"}
"""Name of the InfiniBand generation by Gbit/s of a lane, as the kernel writes it."""
WORD_BYTES = 4
LINK_FILES = {"state", "phys_state", "rate", "operstate", "carrier", "speed", "link_downed"}
"""Files that tell of a port's link; the others only count."""
SLOWEST = "10 Gb/sec (4X SDR)"
"""What a port without a link shows as its rate."""


@dataclass
class Nic:
    """One NIC of one port; counters of names not set here are 0."""

    rdma: str
    guid: str
    """Sixteen hexadecimal digits."""
    pci: str
    interface: str = ""
    """Its Ethernet interface; empty for InfiniBand."""
    gbps: float = 400.0
    lanes: int = 4
    driver: str = "mlx5_core"
    firmware: str = "28.40.1000"
    model: str = "MT4129"
    up: bool = True
    admin_up: bool = True
    carrier_downs: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    """`counters/`; data in words of 4 bytes."""
    hw_counters: dict[str, int] = field(default_factory=dict)
    statistics: dict[str, int] = field(default_factory=dict)

    def carry(self, received: int, sent: int, packet: int = 4096) -> None:
        """Count bytes received and sent, in packets of so many bytes."""
        for counts, name, amount in (
            (self.counters, "port_rcv_data", received // WORD_BYTES),
            (self.counters, "port_xmit_data", sent // WORD_BYTES),
            (self.counters, "port_rcv_packets", received // packet),
            (self.counters, "port_xmit_packets", sent // packet),
            (self.statistics, "rx_bytes", received),
            (self.statistics, "tx_bytes", sent),
            (self.statistics, "rx_packets", received // packet),
            (self.statistics, "tx_packets", sent // packet),
        ):
            counts[name] = counts.get(name, 0) + amount


class HostTree:
    """Writes the tree of one host below `root`, and brings it up to date."""

    def __init__(self, root: Path, nics: Sequence[Nic], boot: float) -> None:
        self.root = root
        self.nics = list(nics)
        self.boot = boot
        self._written: dict[str, str] = {}

    def update(self) -> None:
        """Write what changed since the last time; files of a NIC that went are removed."""
        wanted = dict(self._files())
        for path, content in wanted.items():
            if self._written.get(path) != content:
                self._write(self.root / path, content)
        for path in self._written.keys() - wanted.keys():
            self._remove(self.root / path)
        self._written = wanted

    def update_links(self) -> None:
        """Write only which ports are up, and how: links of many hosts fall at one moment."""
        for path, content in self._files():
            known = self._written.get(path)
            if known != content and known is not None and path.rpartition("/")[2] in LINK_FILES:
                self._write(self.root / path, content)
                self._written[path] = content

    def _files(self) -> Iterator[tuple[str, str]]:
        yield "proc/stat", f"cpu  0 0 0 0 0 0 0 0 0 0\nctxt 0\nbtime {int(self.boot)}\n"
        yield "proc/sys/kernel/osrelease", "6.8.0-emulated\n"
        yield "sys/class/dmi/id/product_name", "Emulated Node\n"
        for nic in self.nics:
            if nic.rdma:
                yield from _rdma(nic)
            if nic.interface:
                yield from _interface(nic)

    def _write(self, path: Path, content: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.new")
        fresh.write_text(content)
        fresh.replace(path)

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.root or any(folder.iterdir()):
                return
            folder.rmdir()


def nics(count: int, *, ethernet: bool, gbps: float = 400.0) -> list[Nic]:
    """Return so many NICs as a host of one rail each has them."""
    return [
        Nic(
            rdma=f"mlx5_{number}",
            guid=f"b83fd2030000{number:04x}",
            pci=f"0000:{0x10 + 8 * number:02x}:00.0",
            interface=f"eth{number}" if ethernet else "",
            gbps=gbps,
        )
        for number in range(count)
    ]


def _rdma(nic: Nic) -> Iterator[tuple[str, str]]:
    device = f"sys/class/infiniband/{nic.rdma}"
    guid = ":".join(nic.guid[at : at + 4] for at in range(0, 16, 4))
    yield f"{device}/node_guid", f"{guid}\n"
    yield f"{device}/fw_ver", f"{nic.firmware}\n"
    yield f"{device}/hca_type", f"{nic.model}\n"
    yield f"{device}/board_id", "EMU0000000001\n"
    yield f"{device}/device/uevent", f"DRIVER={nic.driver}\nPCI_SLOT_NAME={nic.pci}\n"
    port = f"{device}/ports/1"
    if nic.up:
        lane = round(nic.gbps / nic.lanes)
        generation = GENERATIONS.get(lane, "EDR")
        rate = f"{nic.gbps:g} Gb/sec ({nic.lanes}X {generation})"
        state, physical = "4: ACTIVE", "5: LinkUp"
    else:
        rate, state = SLOWEST, "1: DOWN"
        physical = "2: Polling" if nic.admin_up else "3: Disabled"
    yield f"{port}/state", f"{state}\n"
    yield f"{port}/phys_state", f"{physical}\n"
    yield f"{port}/rate", f"{rate}\n"
    yield f"{port}/link_layer", "Ethernet\n" if nic.interface else "InfiniBand\n"
    for name in CLASSIC:
        yield f"{port}/counters/{name}", f"{nic.counters.get(name, 0)}\n"
    for name in (*MLX5, *(CONGESTION if nic.interface else ())):
        yield f"{port}/hw_counters/{name}", f"{nic.hw_counters.get(name, 0)}\n"
    yield f"{port}/hw_counters/lifespan", "10\n"


def _interface(nic: Nic) -> Iterator[tuple[str, str]]:
    device = f"sys/class/net/{nic.interface}"
    yield f"{device}/type", "1\n"
    yield f"{device}/dev_port", "0\n"
    yield f"{device}/addr_assign_type", "0\n"
    yield f"{device}/address", ":".join(["02", *(nic.guid[at : at + 2] for at in range(6, 16, 2))])
    yield f"{device}/device/uevent", f"DRIVER={nic.driver}\nPCI_SLOT_NAME={nic.pci}\n"
    yield f"{device}/flags", "0x1003\n" if nic.admin_up else "0x1002\n"
    yield f"{device}/operstate", "up\n" if nic.up else "down\n"
    yield f"{device}/carrier", "1\n" if nic.up else "0\n"
    yield f"{device}/carrier_down_count", f"{nic.carrier_downs}\n"
    yield f"{device}/speed", f"{round(nic.gbps * 1000)}\n" if nic.up else "-1\n"
    for name in STATISTICS:
        yield f"{device}/statistics/{name}", f"{nic.statistics.get(name, 0)}\n"
