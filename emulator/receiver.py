"""Receiver: what one end of an optical cable counts, from the light that reaches it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from emulator import fec
from emulator.optics import ModuleState

Draw = Callable[[float], int]
"""Draws from Poisson's distribution of a mean."""


@dataclass
class ReceiverState:
    """FEC counters of one port since its device booted, and its module."""

    module: ModuleState
    codewords: list[float] = field(default_factory=lambda: [0.0] * (fec.CORRECTABLE + 1))
    """Codewords with 0 to 15 symbol errors."""
    uncorrectable: float = 0.0
    corrected_bits: float = 0.0
    electrical_ber: float = 0.0
    """Error rate of the wires: from the far host into its module, and from ours to this port."""
    rx_errors: float = 0.0
    """Frames that were torn by what FEC could not mend."""

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
        return min(self.module.ber + self.electrical_ber, 0.5)

    def receive(self, sender: "ReceiverState", gbps: float, step: float, draw: Draw) -> None:
        """Let what `sender` sent in `step` seconds arrive at so many Gbit/s."""
        self.module.receive(sender.module)
        self.electrical_ber = sender.module.wire_ber + self.module.wire_ber
        ber = self.pre_fec_ber
        words = fec.codewords_per_second(gbps) * step
        *mended, lost = fec.spectrum(ber)
        for count, share in enumerate(mended):
            self.codewords[count] += words * share if count == 0 else draw(words * share)
        torn = draw(words * lost)
        self.uncorrectable += torn
        self.rx_errors += torn
        self.corrected_bits += draw(words * fec.CODEWORD_BITS * ber)
