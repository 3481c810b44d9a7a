"""Stress: what acts on a module at a moment, beyond air and load.

Fields are numbers, or arrays that broadcast over [lane, time]; 0 does nothing. What acts together
adds up.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from emulator.light import Floats


@dataclass(frozen=True)
class Stress:
    """Ills of a module, of the fibre before its receivers, of what feeds it."""

    wear_db: ArrayLike = 0.0
    """Light that a laser has lost, which its control answers with bias until it cannot."""
    loss_db: ArrayLike = 0.0
    """Loss on the way to its receivers beyond what the link was built with."""
    interference: ArrayLike = 0.0
    """Power of reflected light against the signal's, at its receivers."""
    receiver_db: ArrayLike = 0.0
    """What its receivers have lost of their signal-to-noise ratio."""
    host_db: ArrayLike = 0.0
    """Electrical loss between host and module beyond what its equaliser makes good."""
    dsp_db: ArrayLike = 0.0
    """What its DSP loses on both sides."""
    supply_db: ArrayLike = 0.0
    """Light that its external laser source lacks."""
    heat: ArrayLike = 0.0
    """Degrees Celsius beyond what it should have; alike for all lanes."""

    def __add__(self, other: "Stress") -> "Stress":
        return Stress(
            **{
                one.name: np.add(getattr(self, one.name), getattr(other, one.name))
                for one in fields(self)
            }
        )

    def lane(self, name: str, lanes: int) -> Floats:
        """Return a field as an array [lane], where it has no time."""
        return np.broadcast_to(np.asarray(getattr(self, name), np.float64).reshape(-1), (lanes,))

    def now(self, lanes: int) -> "Stress":
        """Return it as of the one moment that it has: every field [lane]."""
        return Stress(**{one.name: self.lane(one.name, lanes) for one in fields(self)})
