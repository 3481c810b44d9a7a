"""mlxlink --json of one port of an emulated host: what its firmware knows.

Written from the tool's documentation (NVIDIA Firmware Tools): words and numbers are all texts.
"""

import json
from typing import Any

from emulator.port import PortState
from emulator.receiver import ReceiverState

BINS = 16


def port(state: PortState) -> str:
    """Return what `mlxlink -d CARD -p N -c -m --json --rx_fec_histogram ..` prints."""
    output: dict[str, Any] = {
        "Operational Info": {
            "State": "Active" if state.up else "Polling",
            "Physical state": "LinkUp" if state.up else "ETH_AN_FSM_ENABLE",
            "Speed": "IB-NDR" if state.up else "N/A",
            "Width": f"{state.lanes}x" if state.up else "N/A",
            "FEC": "Standard_RS-FEC - (544,514)" if state.up else "N/A",
        }
    }
    if state.optical is not None:
        output |= _measured(state, state.optical)
    return json.dumps({"result": {"output": output}, "status": {"code": 0, "message": "success"}})


def _measured(state: PortState, optical: ReceiverState) -> dict[str, Any]:
    module = optical.module
    ber = f"{optical.pre_fec_ber:.0E}" if state.up else "15E-255"
    return {
        "Physical Counters and BER Info": {
            "Symbol Errors": f"{int(state.symbol_errors)}",
            "Raw Physical Errors Per Lane": [
                f"{optical.corrected_bits / state.cable.lanes:.0f}"
                for _ in range(state.cable.lanes)
            ],
            "Raw Physical BER": ber,
            "Effective Physical BER": "15E-255",
            "Link Down Counter": f"{int(state.link_downs)}",
            "Link Error Recovery Counter": f"{int(state.recoveries)}",
        },
        "Histogram of FEC Errors": {
            "Header": ["Range", "Occurrences"],
            **{
                f"Bin {count}": [f"[{count}]" if not count else f"[{count}:{count}]", f"{n:.0f}"]
                for count, n in enumerate(optical.codewords[:BINS])
            },
        },
        "Module Info": {
            "Cable Type": "Optical Module (separated)",
            "Vendor Name": module.vendor,
            "Vendor Part Number": module.part,
            "Vendor Serial Number": module.serial,
            "FW Version": module.firmware,
            "Temperature [C]": f"{module.temperature:.0f} [-5..75]",
            "Voltage [mV]": f"{module.voltage * 1000:.1f} [2970..3630]",
            "Bias Current [mA]": f"{_lanes(module.bias_ma)} [10..100]",
            "Rx Power Current [dBm]": f"{_lanes(module.rx_dbm)} [-6.9..5.5]",
            "Tx Power Current [dBm]": f"{_lanes(module.tx_dbm)} [-4.3..5.5]",
        },
    }


def _lanes(values: list[float]) -> str:
    return ",".join(f"{value:.3f}" for value in values)
