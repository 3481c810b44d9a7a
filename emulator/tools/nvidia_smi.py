"""nvidia-smi on an emulated host: `-q -x`, `nvlink -s` and `nvlink -e`.

Written from the tool's manual page and its DTD (v12).
"""

from collections.abc import Callable
from datetime import UTC, datetime

from emulator.fabric import Fabric
from emulator.port import PortState

Rows = Callable[[str, PortState], list[str]]
"""Gives what is printed of a link, by its number."""

HEAD = (
    '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'
    "<nvidia_smi_log>\n"
)


def query(fabric: Fabric, host: str) -> str:
    """Return the XML of `-q -x`."""
    accelerators = fabric.hosts[host].accelerators
    moment = datetime.fromtimestamp(fabric.now, UTC).strftime("%a %b %d %H:%M:%S %Y")
    rows = [
        f"<timestamp>{moment}</timestamp><driver_version>570.86.15</driver_version>"
        f"<attached_gpus>{len(accelerators)}</attached_gpus>"
    ]
    for slot, one in enumerate(accelerators):
        bus = f"00000000:{0x40 + slot:02X}:00.0"
        rows.append(
            f'<gpu id="{bus}"><product_name>Emulated</product_name>'
            f"<uuid>GPU-{host}-{slot}</uuid><pci><pci_bus_id>{bus}</pci_bus_id></pci>"
            f"<utilization><gpu_util>{one.utilization * 100:.0f} %</gpu_util></utilization>"
            f"<temperature><gpu_temp>{one.temperature:.0f} C</gpu_temp>"
            f"<memory_temp>N/A</memory_temp></temperature>"
            f"<gpu_power_readings><power_draw>{one.power:.2f} W</power_draw>"
            f"</gpu_power_readings>"
            f"<fabric><state>Completed</state><status>Success</status></fabric></gpu>"
        )
    return HEAD + "\n".join(rows) + "\n</nvidia_smi_log>\n"


def links(fabric: Fabric, host: str) -> str:
    """Return the text of `nvlink -s`: speed of each link in GB/s, both ways apart."""
    return _told(
        fabric,
        host,
        lambda link, port: (
            [f"Link {link}: {port.gbps / 8:.4g} GB/s"] if port.up else [f"Link {link}: <inactive>"]
        ),
    )


def errors(fabric: Fabric, host: str) -> str:
    """Return the text of `nvlink -e`: error counters of each link."""
    return _told(
        fabric,
        host,
        lambda link, port: [
            f"Link {link}: Replay Errors: {int(port.replays)}",
            f"Link {link}: Recovery Errors: {int(port.recoveries)}",
            f"Link {link}: CRC Errors: {int(port.crc_errors)}",
        ],
    )


def _told(fabric: Fabric, host: str, rows: Rows) -> str:
    lines = []
    for slot, one in enumerate(fabric.hosts[host].accelerators):
        lines.append(f"GPU {slot}: Emulated (UUID: GPU-{host}-{slot})")
        for port in fabric.ports_of(one.name):
            lines += [f"\t {row}" for row in rows(port.name.rpartition("/")[2], port)]
    return "\n".join(lines) + "\n"
