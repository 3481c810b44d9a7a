"""Errors of a port before its code repairs them, whoever counts them."""

from alerts.recording import Recording, Worked
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS, PRE_FEC_BER, SPEED

PORT = 'device="leaf-01", port="Ethernet0"'
GBPS_400 = "4e11x20"

RECORDING = Recording(
    name=f"device_port:{PRE_FEC_BER}:max5m",
    expr=(
        f"max by (device, port) (max_over_time({PRE_FEC_BER}[5m]))"
        f" or max by (device, port) (rate({FEC_CORRECTED_BITS}[5m]))"
        f" / max by (device, port) ({SPEED} > 0)"
    ),
    means="Pre-FEC bit error ratio of a port: the worst of five minutes as the device reports it, "
    "else repaired bits over the bits of its speed.",
    proofs=(
        Worked(
            {
                f"{PRE_FEC_BER}{{{PORT}}}": "1e-8x10 3e-8 1e-8x10",
                f"{FEC_CORRECTED_BITS}{{{PORT}}}": "0+60x20",
                f"{SPEED}{{{PORT}}}": GBPS_400,
            },
            at="14m",
            gives={PORT: 3e-8},
            why="the device's own figure goes before what is worked out",
        ),
        Worked(
            {
                f"{FEC_CORRECTED_BITS}{{{PORT}}}": "0+2400000x20",
                f"{SPEED}{{{PORT}}}": GBPS_400,
            },
            at="15m",
            gives={PORT: 1e-7},
            why="40,000 repaired bits a second of 400 Gb/s",
        ),
        Worked(
            {f"{FEC_CORRECTED_BITS}{{{PORT}}}": "0+2400000x20"},
            at="15m",
            gives={},
            why="of unknown speed there is no ratio",
        ),
    ),
)
