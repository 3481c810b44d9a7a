"""What happens between two modules: dirt, bends, reflections, connectors that move."""

from typing import ClassVar

import numpy as np

from emulator.module_kinds import ModuleKind
from emulator.optic_faults.fault import CONNECTED, RESEATED, Moments, OpticFault, began
from emulator.stress import Stress


class Dirt(OpticFault):
    """Dirt before a receiver, after somebody has touched the connector.

    Lanes that share a fibre lose alike; of parallel fibres neighbours lose most.
    """

    sizes = (1.5, 3.0, 5.0)
    cause, side = "contaminated_connector", "rx"
    event = RESEATED
    REACH: ClassVar[float] = 1.5
    """Fibres over which it fades."""

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what has a connector for light."""
        return kind.medium in CONNECTED and kind.receiver is not None

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Loss in dB."""
        began = (moments.elapsed >= 0)[None, :]
        if not kind.parallel:
            return Stress(loss_db=self.size * began)
        away = np.abs(np.arange(kind.lanes) - self.lane % kind.lanes) / self.REACH
        return Stress(loss_db=self.size * np.exp(-(away**2))[:, None] * began)


class Bend(OpticFault):
    """A fibre bent or crushed: both ends lose light, longer waves more."""

    sizes = (1.5, 3.0, 5.0)
    cause, side = "damaged_fiber", None
    both_ends = True
    LONGER: ClassVar[float] = 0.08
    """What each of the wavelengths on a fibre loses more than the one before."""

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what has fibre."""
        return kind.optical and kind.receiver is not None

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Loss in dB."""
        waves = np.zeros(kind.lanes) if kind.parallel else np.arange(kind.lanes) % 4
        return Stress(loss_db=self.size * (1 + self.LONGER * waves)[:, None] * began(moments))


class Reflection(OpticFault):
    """Light that comes back twice beats with the signal (MPI): noise in bursts, light as ever."""

    sizes = (-24.0, -20.5, -17.5)
    cause, side = "contaminated_connector", "rx"

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what has a connector for light."""
        return kind.medium in CONNECTED and kind.receiver is not None

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Interference against the signal: its phase wanders, so it comes and goes."""
        shape = (kind.lanes, len(moments.elapsed))
        burst = moments.random.random(shape) < 0.25
        strength = moments.random.uniform(0.3, 1.0, shape)
        return Stress(interference=10 ** (self.size / 10) * burst * strength * began(moments))


class LooseConnector(OpticFault):
    """A connector that moves: now these lanes are dim, now those."""

    sizes = (2.0, 4.0, 8.0)
    cause, side = "loose_or_bad_module", "rx"
    event = RESEATED

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what has a connector for light."""
        return kind.medium in CONNECTED and kind.receiver is not None

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Loss in dB, of other lanes at each moment."""
        shape = (kind.lanes, len(moments.elapsed))
        moved = moments.random.random(shape) < 0.3
        loss = self.size * moments.random.uniform(0.3, 1.0, shape)
        return Stress(loss_db=loss * moved * began(moments))


class CrushedCable(OpticFault):
    """A copper cable bent too far: its signal is weak at both ends."""

    sizes = (0.7, 1.4, 2.2)
    cause, side = "copper_cable", None
    both_ends = True

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only copper."""
        return not kind.optical and kind.receiver is not None

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Loss in dB."""
        return Stress(loss_db=self.size * began(moments))
