"""Ethernet: what one port of a RoCE fabric counts beyond its octets.

FEC counts follow from the light at the receiver, pause counts from who stops whom; both ends of a
cable are moved by one step, so that they agree as the ends of a real cable would.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from emulator import fec
from emulator.optics import ModuleState

PRIORITIES = 8
LOSSLESS = 3
"""The priority that RoCE uses, as most fabrics set it."""
QUANTUM_BITS = 512
MOST_QUANTA = 65_535
FRAME_BYTES = 4096

Draw = Callable[[float], int]
"""Draws from Poisson's distribution of a mean."""


@dataclass
class EthernetState:
    """Counters of one port since its device booted, and its module."""

    module: ModuleState
    codewords: list[float] = field(default_factory=lambda: [0.0] * (fec.CORRECTABLE + 1))
    """Codewords with 0 to 15 symbol errors."""
    uncorrectable: float = 0.0
    corrected_bits: float = 0.0
    rx_pause_frames: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    tx_pause_frames: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    rx_pause_seconds: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    """How long this port was stopped by its peer."""
    tx_pause_seconds: list[float] = field(default_factory=lambda: [0.0] * PRIORITIES)
    ecn_marked: float = 0.0
    """Packets marked in this port's queue of the lossless priority."""
    rx_errors: float = 0.0
    rx_discards: float = 0.0
    tx_discards: float = 0.0
    pausing: float = 0.0
    """Share of time for which this port stops its peer; set by faults."""

    @property
    def corrected_codewords(self) -> float:
        """Codewords that had errors and were mended."""
        return sum(self.codewords[1:])

    @property
    def corrected_symbols(self) -> float:
        """Symbols that were mended."""
        return sum(count * words for count, words in enumerate(self.codewords))

    @property
    def pre_fec_ber(self) -> float:
        """Bit-error rate before correction, as a device that measures it would say now."""
        return self.module.ber

    def receive(self, sender: "EthernetState", gbps: float, step: float, draw: Draw) -> None:
        """Let what `sender` sent in `step` seconds arrive at so many Gbit/s."""
        self.module.receive(sender.module)
        ber = self.module.ber
        words = fec.codewords_per_second(gbps) * step
        *mended, lost = fec.spectrum(ber)
        for count, share in enumerate(mended):
            self.codewords[count] += words * share if count == 0 else draw(words * share)
        torn = draw(words * lost)
        self.uncorrectable += torn
        self.rx_errors += torn
        self.corrected_bits += draw(words * fec.CODEWORD_BITS * ber)

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
