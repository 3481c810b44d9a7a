"""Resistance: how hard a branch, a filter or a whole loop is to flow through.

dp = R x Q^n, and thinner when warm: R = dp / (Q^n x (mu / mu0)^(2 - n)), whatever the loop's
control holds steady (detection reference, E2). n is fitted where the flow of a healthy past
varied, and 1.75 (smooth, turbulent) where it did not.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.cooling.baselines import reference
from analyzer.evidence.cooling.loops import FLOW_TO, Cooling
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median

SMOOTH = 1.75
"""Exponent of smooth turbulent flow."""

EXPONENTS = (1.0, 2.0)
"""Laminar microchannels have 1, fittings and quick connectors 2."""

VARIED = 0.05
"""A flow whose logarithm scatters by less tells nothing of the exponent."""

LAWFUL = 0.8
"""Share of the drop's scatter that the flow must explain: else the resistance itself changed."""

LEAST_FLOW, LEAST_DROP = 0.5, 0.5
"""L/min and kPa below which meters say noise."""

PEERS = 4
"""Fewer branches of a loop than this have no usual change."""


@dataclass(frozen=True)
class Resistance:
    """Logarithm of the resistance of each place ([place, bin + 1]), and its exponent."""

    log: Floats
    exponent: Floats
    """[place]."""


def resistance(cooling: Cooling, drop: Floats) -> Resistance:
    """Return the resistance of each place, given the pressure drop over it (kPa)."""
    flow = cooling[FLOW_TO]
    with np.errstate(all="ignore"):
        usable = (flow >= LEAST_FLOW) & (drop >= LEAST_DROP)
        x = np.log(np.where(usable, flow, np.nan))
        y = np.log(np.where(usable, drop, np.nan))
    n = _exponent(cooling, x, y)[:, None]
    return Resistance(y - n * x - (2.0 - n) * np.log(cooling.thickness), n[:, 0])


def _exponent(cooling: Cooling, x: Floats, y: Floats) -> Floats:
    """Return n of each place by its reference, straight in logarithms; else `SMOOTH`."""
    chosen = reference(cooling, y)
    xs, ys = np.where(chosen, x, np.nan), np.where(chosen, y, np.nan)
    dx, dy = xs - row_median(xs)[:, None], ys - row_median(ys)[:, None]
    with np.errstate(all="ignore"):
        count = np.isfinite(dx).sum(axis=1)
        varied = np.nansum(dx * dx, axis=1)
        slope = np.nansum(dx * dy, axis=1) / varied
        explained = slope**2 * varied / np.nansum(dy * dy, axis=1)
        wide = (count >= 6) & (np.sqrt(varied / np.maximum(count, 1)) >= VARIED)
        wide &= explained >= LAWFUL
    return np.where(wide & np.isfinite(slope), np.clip(slope, *EXPONENTS), SMOOTH)


def less_common(cooling: Cooling, change: Floats) -> Floats:
    """Return the change of branches less that of their loop's usual branch ([place, k]).

    What all branches share (the coolant, the main's own meter) is no branch's fault. With few
    branches, and for mains, the change itself.
    """
    middle = cooling.places.among_siblings(change, PEERS)
    shared = cooling.places.branched[:, None] & np.isfinite(middle)
    return change - np.where(shared, middle, 0.0)
