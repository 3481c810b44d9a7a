"""hccn_tool for the RoCE port of one NPU of an emulated host.

Written from the product documents of the tool: one question a call, power in mW, bias in mA.
"""

from datetime import UTC, datetime

from emulator.ethernet import PRIORITIES
from emulator.fabric import Fabric
from emulator.port import PortState


def answers(fabric: Fabric, port: str) -> dict[str, str]:
    """Return what the tool prints about a port of an Ethernet cable, by question (`-link` ..)."""
    state = fabric.ports[port]
    return {
        "-link": f"link status: {'UP' if state.up else 'DOWN'}\n",
        "-speed": f"Speed: {state.gbps * 1000:.0f} Mb/s\n",
        "-link_stat": _changes(fabric, state),
        "-stat": _statistics(fabric, port),
        "-optical": _optical(fabric, port),
        "-net_health": "net health status: Success\n" if state.up else "net health status: Fault\n",
        "-fec": "fec mode: rs FEC mode\n",
    }


def _changes(fabric: Fabric, state: PortState) -> str:
    moment = datetime.fromtimestamp(fabric.now, UTC).strftime("%a %b %d %H:%M:%S %Y")
    ups = int(state.link_downs) + state.up
    return (
        f"[device 0]current time        : {moment}\n"
        f"[device 0]link up count       : {ups}\n"
        f"[device 0]link change records :\n"
    )


def _statistics(fabric: Fabric, port: str) -> str:
    state, ethernet = fabric.ports[port], fabric.ethernet(port)
    told = {
        "mac_rx_fcs_err_pkt_num": ethernet.rx_errors,
        "mac_rx_total_oct_num": state.rx_octets,
        "mac_tx_total_oct_num": state.tx_octets,
        **{f"mac_rx_pfc_pri{n}_pkt_num": ethernet.rx_pause_frames[n] for n in range(PRIORITIES)},
        **{f"mac_tx_pfc_pri{n}_pkt_num": ethernet.tx_pause_frames[n] for n in range(PRIORITIES)},
    }
    return "packet statistics:\n" + "".join(f"{name}:{n:.0f}\n" for name, n in told.items())


def _optical(fabric: Fabric, port: str) -> str:
    module = fabric.optical(port).module
    dark = sum(1 << lane for lane, dbm in enumerate(module.rx_dbm) if dbm <= -40)
    rows = {
        "present": "present",
        "Vendor Name": module.vendor,
        "Vendor PN": module.part,
        "Vendor SN": module.serial,
        "temperature": f"{module.temperature:.0f} C",
        "Vcc": f"{module.voltage * 1000:.2f} mV",
        **{f"Tx Power{lane}": f"{10 ** (dbm / 10):.4f} mW" for lane, dbm in _by(module.tx_dbm)},
        **{f"Rx Power{lane}": f"{10 ** (dbm / 10):.4f} mW" for lane, dbm in _by(module.rx_dbm)},
        **{f"Tx Bias{lane}": f"{bias:.4f} mA" for lane, bias in _by(module.bias_ma)},
        "Rx Los Flag": f"0x{dark:x}",
        **{f"Media SNR Lane{lane}": f"{snr:.1f} dB" for lane, snr in _by(module.snr_db)},
    }
    return "optical info:\n" + "".join(f"{name:<21}: {value}\n" for name, value in rows.items())


def _by(values: list[float]) -> list[tuple[int, float]]:
    return list(enumerate(values))
