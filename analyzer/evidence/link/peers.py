"""Peers: a receiver against others that should be alike, in the logarithm of its errors.

Alike are role, technology, speed, code, medium, class of length and role at the far end. The norm
is made by ports that are well, so that ill ones do not hide each other. Errors before FEC come
with every bit, whether there is traffic or not, so load does not matter to them.
"""

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.link.measures import ENOUGH, Reading
from analyzer.evidence.link.receivers import Receivers
from analyzer.evidence.robust import group_spread
from fabrichealth.model import Floats

LEAST = 8
"""Fewer peers have no norm."""

DECADES = 1.0
DEVIATIONS = 6.0
"""Robust deviations: with 60 peers or more chance gives it in one of ten thousand."""

NARROWEST = 0.15
"""Decades that peers differ by at the least."""


def decades_above(raw: Reading, ends: Receivers, ill: Bools) -> tuple[Floats, Floats]:
    """Return by how many decades, and deviations, each port is above its peers ([r], NaN unknown).

    `ill` ports are compared, but make no norm.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(raw.known & (raw.events >= ENOUGH), np.log10(raw.rate), np.nan)
    if not np.isfinite(value).any():
        nothing = np.full(len(ends), np.nan)
        return nothing, nothing
    norm = np.where(ill, np.nan, value)
    middle, spread = group_spread(norm, ends.stratum.astype(np.int64), LEAST)
    above = value - middle
    return above, above / np.maximum(spread, NARROWEST)


def odd(raw: Reading, ends: Receivers, ill: Bools) -> Bools:
    """Return which ports have far more errors than their peers."""
    above, deviations = decades_above(raw, ends, ill)
    with np.errstate(invalid="ignore"):
        return np.asarray((above > DECADES) & (deviations > DEVIATIONS), np.bool_)
