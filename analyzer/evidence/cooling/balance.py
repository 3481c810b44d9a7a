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

OFFSET = 0.6
"""Kelvin by which a pair of sensors of 0.2 K may be apart for good, which weighs more at a small
rise: twice the 0.28 K of their difference, since a hall has hundreds of pairs."""

WANDER = 0.15
"""Kelvin of it that come and go with warmth and flow; at a rise of 3 K they are 5 % of the heat."""

EXPLAINED = 0.5
"""A fault explains a change if it leaves less than this share of it."""


@dataclass(frozen=True)
class Balance:
    """How much more heat the coolant seems to take than it used to, as a logarithm."""

    error: Floats
    """[place, bin + 1]; NaN where load, flow or a temperature is not known, or load is low."""
    slack: Floats
    """What offsets of the temperatures may explain of it ([place, bin + 1])."""

    @property
    def settled(self) -> Floats:
        """The error now and in the last bin, the smaller of the two, 0 where they differ in sign.

        Jobs begin while a median is taken; what is a meter's is still there half an hour later.
        """
        if self.error.shape[1] < 2:
            return self.error[:, -1]
        before, now = self.error[:, -2], self.error[:, -1]
        with np.errstate(invalid="ignore", over="ignore"):
            smaller = np.where(np.abs(before) < np.abs(now), before, now)
            return np.where(before * now < 0, 0.0, np.where(np.isnan(before), now, smaller))


def heat_balance(cooling: Cooling) -> Balance:
    """Return the heat balance of each place against its own past."""

    def work() -> Balance:
        rise = cooling[WARM] - cooling.cold
        high = row_quantile(cooling.load, 0.9)[:, None]
        with np.errstate(all="ignore"):
            judged = (cooling.load >= LEAST_LOAD * high) & (cooling.heat > 0) & (rise > 0.5)
            ratio = np.log(np.where(judged, cooling.heat / cooling.load, np.nan))
            chosen = np.where(reference(cooling, ratio), rise, np.nan)
            slack = OFFSET * np.abs(1.0 / rise - 1.0 / row_median(chosen)[:, None]) + WANDER / rise
        return Balance(ratio - usual(cooling, ratio, ())[:, None], slack)

    return cooling.once("heat balance", work)


def meter_at_fault(cooling: Cooling, less_flow: Floats) -> NDArray[np.bool_]:
    """Return where the flow's own meter explains that it fell by a factor of exp(less_flow).

    A branch that really has less flow warms its coolant more, and the balance still closes.
    `less_flow` is [place, bin + 1].
    """
    error, less = heat_balance(cooling).error[:, -1], less_flow[:, -1]
    with np.errstate(invalid="ignore", over="ignore"):
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
