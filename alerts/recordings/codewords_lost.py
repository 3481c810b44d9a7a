"""What the code of a port could not repair."""

from alerts.recording import Recording, Worked
from fabrichealth.catalogue.ports import FEC_UNCORRECTABLE_CODEWORDS

PORT = 'device="leaf-01", port="Ethernet0"'

RECORDING = Recording(
    name=f"device_port:{FEC_UNCORRECTABLE_CODEWORDS}:rate5m",
    expr=f"max by (device, port) (rate({FEC_UNCORRECTABLE_CODEWORDS}[5m]))",
    means="Codewords a second that FEC could not repair, at the receiving port.",
    proofs=(
        Worked(
            {f"{FEC_UNCORRECTABLE_CODEWORDS}{{{PORT}}}": "7+120x20"},
            at="15m",
            gives={PORT: 2.0},
            why="120 a minute",
        ),
        Worked(
            {f"{FEC_UNCORRECTABLE_CODEWORDS}{{{PORT}}}": "900x20"},
            at="15m",
            gives={PORT: 0.0},
            why="codewords of yesterday",
        ),
    ),
)
