"""Lasers that fall ill: slowly, at once, or all of a bank."""

from typing import ClassVar

import numpy as np

from emulator.module_kinds import ModuleKind
from emulator.optic_faults.fault import DAY, Moments, OpticFault, began
from emulator.stress import Stress


class AgeingLaser(OpticFault):
    """A laser loses light, faster and faster; control answers with bias until it cannot."""

    sizes = (1.2, 2.0, 4.0)
    cause, side = "decaying_transmitter", "tx"
    GROWN: ClassVar[float] = 12 * DAY

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what has a laser."""
        return kind.laser is not None

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Wear of one lane, in dB; grown after twelve days."""
        grown = np.clip(moments.elapsed / self.GROWN, 0, 1.25) ** 1.5
        return Stress(wear_db=self.one_lane(kind, self.size * grown))


class FailedLaser(AgeingLaser):
    """A laser fails at once: its driver gives all, the light is low or gone."""

    sizes = (3.0, 4.5, 60.0)

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Wear of one lane, in dB."""
        return Stress(wear_db=self.one_lane(kind, self.size * (moments.elapsed >= 0)))


class DimLaserBank(OpticFault):
    """An external laser source gives less: every lane of every port that it feeds is dim."""

    sizes = (1.5, 3.0, 6.0)
    cause, side = "shared_component", "tx"

    @classmethod
    def fits(cls, kind: ModuleKind) -> bool:
        """Only what is lit from elsewhere."""
        return kind.external

    def stress(self, kind: ModuleKind, moments: Moments) -> Stress:
        """Light that is missing, in dB."""
        return Stress(supply_db=self.size * began(moments))
