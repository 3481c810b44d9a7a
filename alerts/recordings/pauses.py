"""How long a port was made to stand still."""

from alerts.recording import Recording, Worked
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE

PORT = 'device="leaf-01", port="Ethernet0"'

RECORDING = Recording(
    name=f"device_port:{PFC_RX_PAUSE}:ratio5m",
    expr=f"max by (device, port) (rate({PFC_RX_PAUSE}[5m]))",
    means="Share of five minutes that a port was paused by its peer, of its most paused priority.",
    proofs=(
        Worked(
            {
                f'{PFC_RX_PAUSE}{{{PORT}, priority="3"}}': "0+30x20",
                f'{PFC_RX_PAUSE}{{{PORT}, priority="4"}}': "0+6x20",
            },
            at="15m",
            gives={PORT: 0.5},
            why="priority 3 stood for half of each minute",
        ),
    ),
)
