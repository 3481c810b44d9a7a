"""Balances: heat that the coolant takes up against power of the racks, and water against water.

The share of a rack's power that goes into the coolant differs by product and is learned; a change
of it means that a meter drifts (or that air takes over). Detection reference, E4.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.baselines import reference, usual
from analyzer.evidence.cooling.loops import FLOW_TO, WARM, Cooling
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median, row_quantile

LEAST_LOAD = 0.3
"""Below this share of its usual high load a balance is not judged: differences get too small."""

SURE_KELVIN = 10.0
"""At this rise two sensors of 0.2 K leave 2.8 %; at half of it twice as much."""

VARIED = 0.25
"""A rise that ranged over so much of itself tells what of it is the sensors'."""

MOST_OFF = 1.0
"""Kelvin that a pair of sensors may be apart for good."""

EXPLAINED = 0.5
"""A fault explains a change if it leaves less than this share of it."""


@dataclass(frozen=True)
class Balance:
    """How much more heat the coolant seems to take than it used to, as a logarithm."""

    error: Floats
    """[place, bin + 1]; NaN where load, flow or a temperature is not known, or load is low."""
    doubt: Floats
    """By how many times the limit must be wider, for a small rise ([place, bin + 1])."""


def heat_balance(cooling: Cooling) -> Balance:
    """Return the heat balance of each place against its own past."""

    def work() -> Balance:
        rise = cooling[WARM] - cooling.cold
        high = row_quantile(cooling.load, 0.9)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            judged = (cooling.load >= LEAST_LOAD * high) & (cooling.heat > 0) & (rise > 0.5)
            due = np.where(judged, cooling.load * rise / cooling.heat, np.nan)  # K, all heat taken
            offset = _offset(cooling, due, rise)[:, None]
            ratio = np.log(np.where(rise > offset, rise - offset, np.nan) / due)
            doubt = np.maximum(SURE_KELVIN / rise, 1.0)
        return Balance(ratio - usual(cooling, ratio, ())[:, None], doubt)

    return cooling.view.once(("heat balance", id(cooling)), work)


def _offset(cooling: Cooling, due: Floats, rise: Floats) -> Floats:
    """Return by how many kelvin the two temperatures of each place always differ ([place]).

    A constant error of a sensor weighs more at a small rise; it shows where the load varied, as
    what is left of the rise on a straight line through it. Else it is taken to be none.
    """
    chosen = reference(cooling, due)
    x, y = np.where(chosen, due, np.nan), np.where(chosen, rise, np.nan)
    dx, dy = x - row_median(x)[:, None], y - row_median(y)[:, None]
    slope = np.nansum(dx * dy, axis=1) / np.nansum(dx * dx, axis=1)
    varied = row_quantile(x, 0.95) - row_quantile(x, 0.05) >= VARIED * row_median(x)
    found = row_median(y - slope[:, None] * x)
    return np.where(varied & np.isfinite(found), np.clip(found, -MOST_OFF, MOST_OFF), 0.0)


def meter_at_fault(cooling: Cooling, less_flow: Floats) -> NDArray[np.bool_]:
    """Return where the flow's own meter explains that it fell by a factor of exp(less_flow).

    A branch that really has less flow warms its coolant more, and the balance still closes.
    `less_flow` is [place, bin + 1].
    """
    error, less = heat_balance(cooling).error[:, -1], less_flow[:, -1]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(error + less) < EXPLAINED * np.abs(less), np.bool_)


def branch_sum(cooling: Cooling) -> Floats:
    """Return at each main the flow of its branches together, L/min; NaN where one is unread."""
    flow, found = cooling[FLOW_TO], np.zeros(cooling[FLOW_TO].shape)
    branched = np.flatnonzero(cooling.places.branched)
    known = np.zeros(len(flow), np.bool_)
    np.add.at(found, cooling.places.main[branched], flow[branched])
    known[cooling.places.main[branched]] = True
    found[~known] = np.nan
    return found
