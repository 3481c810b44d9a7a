"""How full a port is, in its fuller direction."""

from alerts.recording import Recording, Worked
from fabrichealth.catalogue.ports import RX_BYTES, SPEED, TX_BYTES

PORT = 'device="leaf-01", port="Ethernet0"'


def _carried(metric: object) -> str:
    return f"max by (device, port) (rate({metric}[5m]))"


RECORDING = Recording(
    name=f"device_port:{TX_BYTES}:utilization5m",
    expr=(
        f"8 * (({_carried(TX_BYTES)} >= {_carried(RX_BYTES)}) or {_carried(RX_BYTES)}"
        f" or {_carried(TX_BYTES)}) / max by (device, port) ({SPEED} > 0)"
    ),
    means="Bits that a port carried over those of its speed, five minutes, fuller direction.",
    proofs=(
        Worked(
            {
                f"{TX_BYTES}{{{PORT}}}": "0+750000000000x20",
                f"{RX_BYTES}{{{PORT}}}": "0+1500000000000x20",
                f"{SPEED}{{{PORT}}}": "4e11x20",
            },
            at="15m",
            gives={PORT: 0.5},
            why="25 GB/s arrive, 12.5 leave, of 400 Gb/s",
        ),
        Worked(
            {f"{TX_BYTES}{{{PORT}}}": "0+750000000000x20", f"{SPEED}{{{PORT}}}": "4e11x20"},
            at="15m",
            gives={PORT: 0.25},
            why="only one direction is read",
        ),
    ),
)
