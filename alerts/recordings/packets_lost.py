"""The share of packets that a port loses on arrival."""

from alerts.recording import Recording, Worked
from fabrichealth.catalogue.ports import RX_DISCARDS, RX_ERRORS, RX_PACKETS

PORT = 'device="leaf-01", port="Ethernet0"'


def _rate(metric: object) -> str:
    return f"max by (device, port) (rate({metric}[5m]))"


RECORDING = Recording(
    name=f"device_port:{RX_ERRORS}:ratio5m",
    expr=(
        f"({_rate(RX_ERRORS)} + ({_rate(RX_DISCARDS)} or {_rate(RX_ERRORS)} * 0))"
        f" / ({_rate(RX_PACKETS)} > 0)"
    ),
    means="Received packets that are lost (errors and discards) over those received, five minutes.",
    proofs=(
        Worked(
            {
                f"{RX_ERRORS}{{{PORT}}}": "0+60x20",
                f"{RX_DISCARDS}{{{PORT}}}": "0+60x20",
                f"{RX_PACKETS}{{{PORT}}}": "0+6000x20",
            },
            at="15m",
            gives={PORT: 0.02},
            why="one in a hundred wrong, one in a hundred dropped",
        ),
        Worked(
            {f"{RX_ERRORS}{{{PORT}}}": "0+60x20", f"{RX_PACKETS}{{{PORT}}}": "0+6000x20"},
            at="15m",
            gives={PORT: 0.01},
            why="a device that does not count discards",
        ),
        Worked(
            {f"{RX_ERRORS}{{{PORT}}}": "5x20", f"{RX_PACKETS}{{{PORT}}}": "9x20"},
            at="15m",
            gives={},
            why="of a port that receives nothing there is no ratio",
        ),
    ),
)
