"""A leaf switch's page, in our own catalogue's names (an exporter that knows them).

The names stand here as text because the emulator plays a foreign exporter; the collectors'
tests hold them against the catalogue.
"""

from collections.abc import Callable

from emulator.fabric import Fabric
from emulator.port import PortState

FAMILIES: tuple[tuple[str, str, Callable[[PortState], int]], ...] = (
    ("fabric_port_up", "gauge", lambda port: int(port.up)),
    ("fabric_port_admin_up", "gauge", lambda port: 1),
    ("fabric_port_symbol_errors_total", "counter", lambda port: int(port.symbol_errors)),
    ("fabric_port_link_down_total", "counter", lambda port: int(port.link_downs)),
    ("fabric_port_link_recoveries_total", "counter", lambda port: int(port.recoveries)),
    ("fabric_port_rx_bytes_total", "counter", lambda port: int(port.rx_octets)),
    ("fabric_port_tx_bytes_total", "counter", lambda port: int(port.tx_octets)),
)
OF_LIT_PORTS: tuple[tuple[str, str, Callable[[PortState], int]], ...] = (
    ("fabric_port_speed_bits_per_second", "gauge", lambda port: int(port.gbps * 1e9)),
    ("fabric_port_lanes", "gauge", lambda port: port.lanes),
)


def page(fabric: Fabric, switch: str) -> str:
    """Return the page that a switch's exporter serves now."""
    ports = sorted(fabric.ports_of(switch), key=lambda port: int(port.name.partition("/")[2]))
    lines: list[str] = []
    for families, shown in (
        (FAMILIES, ports),
        (OF_LIT_PORTS, [port for port in ports if port.up]),
    ):
        for name, kind, value in families:
            lines.append(f"# TYPE {name} {kind}")
            lines += [f"{name}{{{_labels(switch, port)}}} {value(port)}" for port in shown]
    return "\n".join(lines) + "\n"


def _labels(switch: str, port: PortState) -> str:
    return f'device="{switch}",port="{port.name.partition("/")[2]}"'
