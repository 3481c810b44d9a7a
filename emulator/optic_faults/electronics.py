"""What happens inside a module and at its contacts to the host."""

from typing import ClassVar

import numpy as np

from emulator.module_kinds import ModuleKind
from emulator.optic_faults.fault import DAY, RESEATED, UPGRADED, Moments, OpticFault, began
from emulator.stress import Stress


class AgeingReceiver(OpticFault):
    """A photodiode or its amplifier grows noisy: light as ever, less comes of it."""

    sizes = (1.5, 3.0, 5.0)
    cause, side = "degraded_receiver", "rx"
    GROWN: ClassVar[float] = 10 * DAY

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what receives light."""
        return kind.optical and kind.receiver is not None

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Penalty of one lane, in dB; grown after ten days."""
        grown = np.clip(moments.elapsed / self.GROWN, 0, 1)
        return Stress(receiver_db=self.one_lane(kind, self.size * grown))


class Overheating(OpticFault):
    """Air that does not reach a module: it is hot, and hotter the more it carries."""

    sizes = (16.0, 24.0, 34.0)
    cause, side = "module_overheating", "rx"
    SOAK: ClassVar[float] = 1800.0
    """Seconds in which heat sinks soak."""

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what knows its temperature."""
        return kind.monitored

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Heat in degrees; `size` at full load."""
        soaked = 1 - np.exp(-np.maximum(moments.elapsed, 0) / self.SOAK)
        return Stress(heat=self.size * (0.5 + 0.5 * moments.load) * soaked)


class WeakHostLane(OpticFault):
    """A contact or a serdes at the host's side, since the module was seated anew."""

    sizes = (3.0, 5.5, 8.0)
    cause, side = "host_electrical", "tx"
    event = RESEATED

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what a host drives."""
        return kind.host_lanes > 0

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Electrical loss of one lane, in dB."""
        return Stress(host_db=self.one_lane(kind, self.size * (moments.elapsed >= 0)))


class BadFirmware(OpticFault):
    """New firmware whose DSP settles badly: both sides are noisy, on every lane."""

    sizes = (1.5, 3.0, 5.0)
    cause, side = "loose_or_bad_module", "rx"
    event = UPGRADED

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what has a DSP."""
        return kind.retimed

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Penalty on both sides, in dB."""
        return Stress(dsp_db=self.size * began(moments))
