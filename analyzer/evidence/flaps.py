"""Flap scores on two time scales (RFC 2439's figure of merit, docs/methods.md).

Each transition to down adds 1000; the score halves with its half-life. The fast scale (15 min)
sees a link that is unusable now, the slow one (24 h) a link that falls once an hour.
"""

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats

PENALTY = 1000.0


def score(
    at: Floats, weight: Floats, row: NDArray[np.intp], rows: int, now: float, half_life: float
) -> Floats:
    """Return the decayed penalty of each row ([rows]) for events `at` with `weight` each."""
    decayed = PENALTY * weight * np.exp2(-(now - at) / half_life)
    return np.bincount(row, weights=decayed, minlength=rows).astype(np.float64)
