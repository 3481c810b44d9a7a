"""A host's page as an adapter for UALink serves it: simulated, for no public telemetry exists.

The state is that of the host's scale-up links; two links make a station here.
"""

from collections.abc import Callable

from emulator.fabric import Fabric
from emulator.port import PortState

PORTS_PER_STATION = 2
FAMILIES: tuple[tuple[str, str, Callable[[PortState], float]], ...] = (
    ("ualink_port_up", "gauge", lambda port: port.up),
    ("ualink_port_admin_up", "gauge", lambda port: 1),
    ("ualink_port_speed_bits_per_second", "gauge", lambda port: port.gbps * 1e9),
    ("ualink_port_lanes", "gauge", lambda port: port.lanes),
    ("ualink_port_rx_bytes_total", "counter", lambda port: port.rx_octets),
    ("ualink_port_tx_bytes_total", "counter", lambda port: port.tx_octets),
    ("ualink_port_link_down_total", "counter", lambda port: port.link_downs),
    ("ualink_port_retrains_total", "counter", lambda port: port.recoveries),
    ("ualink_port_replays_total", "counter", lambda port: port.replays),
    ("ualink_port_crc_errors_total", "counter", lambda port: port.crc_errors),
)


def page(fabric: Fabric, host: str) -> str:
    """Return the page that a host's adapter serves now."""
    lines: list[str] = []
    for name, kind, value in FAMILIES:
        lines.append(f"# TYPE {name} {kind}")
        for slot, one in enumerate(fabric.hosts[host].accelerators):
            for number, port in enumerate(fabric.ports_of(one.name)):
                station, place = divmod(number, PORTS_PER_STATION)
                labels = (
                    f'host="{host}",accelerator="{slot}",uuid="GPU-{host}-{slot}",'
                    f'station="{station}",port="{place}"'
                )
                lines.append(f"{name}{{{labels}}} {value(port):.0f}")
    return "\n".join(lines) + "\n"
