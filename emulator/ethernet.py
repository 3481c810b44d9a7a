"""Ethernet: what one port of a RoCE fabric counts beyond its octets.

Pause counts follow from who stops whom; both ends of a cable are moved by one step, so that they
agree as the ends of a real cable would.
"""

import random
from dataclasses import dataclass, field

from emulator.receiver import ReceiverState

PRIORITIES = 8
LOSSLESS = 3
"""The priority that RoCE uses, as most fabrics set it."""
QUANTUM_BITS = 512
MOST_QUANTA = 65_535
FRAME_BYTES = 4096
"""Of every frame that a port carries."""


@dataclass
class EthernetState(ReceiverState):
    """What one port of an Ethernet cable counts since its device booted."""

    rx_pause_frames: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    tx_pause_frames: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    rx_pause_seconds: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    """How long this port was stopped by its peer."""
    tx_pause_seconds: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    ecn_marked: float = 0.0
    """Packets marked in this port's queue of the lossless priority."""
    rx_discards: float = 0.0
    tx_discards: float = 0.0
    pausing: float = 0.0
    """Share of time for which this port stops its peer; set by faults."""
    chops: bool = False
    """Whether it does so in turns long enough that nothing passes meanwhile."""
    held: float | None = None
    """Bytes in this port's queue of the lossless priority; None where no flows are known."""
    ingress_drops: float = 0.0
    """Packets of the lossless priority that came when there was no room for them."""
    ecn_arrived: float = 0.0
    """Marked packets that came to this NIC."""
    notices_sent: float = 0.0
    """Notifications of congestion that this NIC sent (CNP)."""
    notices_heeded: float = 0.0
    """The same, that came to it as a sender."""

    def stop(self, peer: "EthernetState", gbps: float, step: float) -> None:
        """Stop the peer for the share of time that `pausing` says."""
        seconds = self.pausing * step
        if not seconds:
            return
        frames = max(1, round(seconds * gbps * 1e9 / QUANTUM_BITS / MOST_QUANTA * 2))
        self.tx_pause_seconds[LOSSLESS] += seconds
        self.tx_pause_frames[LOSSLESS] += frames
        peer.rx_pause_seconds[LOSSLESS] += seconds
        peer.rx_pause_frames[LOSSLESS] += frames

    def mark(self, load: float, gbps: float, step: float, noise: random.Random) -> None:
        """Mark a few packets of a busy queue, as RED on a healthy fabric does."""
        if load > 0.6:
            packets = load * gbps * 1e9 / 8 / FRAME_BYTES * step
            self.ecn_marked += packets * 2e-5 * noise.uniform(0.5, 1.5)
