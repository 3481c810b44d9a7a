"""A host's page in the form of dcgm-exporter: accelerators and their NVLinks."""

from emulator.fabric import Fabric

GAUGES = (
    ("DCGM_FI_DEV_GPU_TEMP", "temperature", 1.0),
    ("DCGM_FI_DEV_POWER_USAGE", "power", 1.0),
    ("DCGM_FI_DEV_GPU_UTIL", "utilization", 100.0),
    ("DCGM_FI_DEV_SM_CLOCK", "clock", 1.0),
    ("DCGM_FI_DEV_XID_ERRORS", "xid", 1.0),
)
COUNTERS = (
    ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "replays"),
    ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "recoveries"),
    ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "crc_errors"),
)


def page(fabric: Fabric, host: str) -> str:
    """Return the page that a host's exporter serves now."""
    lines: list[str] = []
    accelerators = fabric.hosts[host].accelerators
    for name, attribute, scale in GAUGES:
        lines += [f"# HELP {name} {attribute}", f"# TYPE {name} gauge"]
        lines += [
            f"{name}{{{_labels(host, slot)}}} {getattr(one, attribute) * scale:.6g}"
            for slot, one in enumerate(accelerators)
        ]
    for name, attribute in COUNTERS:
        lines += [f"# HELP {name} {attribute}", f"# TYPE {name} counter"]
        for slot, one in enumerate(accelerators):
            for port in fabric.ports_of(one.name):
                link = port.name.rpartition("/")[2]
                value = int(getattr(port, attribute))
                lines.append(f'{name}{{{_labels(host, slot)},nvlink="{link}"}} {value}')
    return "\n".join(lines) + "\n"


def _labels(host: str, slot: int) -> str:
    uuid = f"GPU-{host}-{slot}"
    return (
        f'gpu="{slot}",UUID="{uuid}",pci_bus_id="00000000:{0x40 + slot:02X}:00.0",'
        f'device="nvidia{slot}",modelName="Emulated",Hostname="{host}"'
    )
