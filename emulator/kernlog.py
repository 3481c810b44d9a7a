"""What the kernel of an emulated host writes to its log, as syslog keeps it in a file.

Written from the drivers' own messages: NVRM for accelerators, mlx5_core for Ethernet interfaces.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from emulator.fabric import Fabric

FIRST_BUS = 0x90
"""PCI bus of a host's first Ethernet interface."""

MEANINGS = {
    48: "DBE (double bit error) at an emulated address",
    74: "NVLink: fatal error detected on link 2(0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
    79: "GPU has fallen off the bus.",
    145: "NVLink: RLW SAW MVB Non-fatal XC0 i0 Link 02 (0x1, 0x0, 0x0)",
}


class KernelLog:
    """Tells what happened on a host since it was asked last."""

    def __init__(self, fabric: Fabric, host: str) -> None:
        self._fabric = fabric
        self._host = host
        self._codes: dict[str, int] = {}
        self._lit = dict.fromkeys(range(fabric.plan.planes), True)

    def lines(self) -> list[str]:
        """Return the lines written since the last call; none while the host is dark."""
        if self._host in self._fabric.dark:
            return []
        head = f"{datetime.fromtimestamp(self._fabric.now, UTC).isoformat()} {self._host} kernel: "
        return [head + text for text in self._news()]

    def _news(self) -> Iterator[str]:
        for slot, one in enumerate(self._fabric.hosts[self._host].accelerators):
            if one.xid and self._codes.get(one.name) != one.xid:
                meaning = MEANINGS.get(one.xid, "an emulated error")
                yield f"NVRM: Xid (PCI:0000:{0x40 + slot:02x}:00): {one.xid}, pid=4242, {meaning}"
            self._codes[one.name] = one.xid
        for plane, lit in self._lit.items():
            port = self._fabric.ports.get(f"{self._host}/eth{plane}")
            if port is not None and port.up != lit:
                self._lit[plane] = port.up
                state = "up" if port.up else "down"
                yield f"mlx5_core {interface_pci(plane)} eth{plane}: Link {state}"


def interface_pci(plane: int) -> str:
    """Return the PCI address of a host's Ethernet interface."""
    return f"0000:{FIRST_BUS + 8 * plane:02x}:00.0"
