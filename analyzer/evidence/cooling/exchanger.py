"""Heat exchangers: conductance from the temperatures of both sides.

UA = heat / logarithmic mean temperature difference. Half of its resistance is either film, which
thins with flow to the power 0.8, so it is held against flow to the power 0.4 on each side (an
estimate that only has to hold over the range in which pumps and valves move).
"""

import numpy as np

from analyzer.evidence.cooling.balance import LEAST_LOAD
from analyzer.evidence.cooling.loops import COLD, FLOW_TO, WARM, Cooling
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_quantile

FILM = 0.4
"""Power of either flow that the conductance follows."""

LEAST_KELVIN = 0.3
"""Differences below this are the sensors' own."""


def conductance(cooling: Cooling) -> Floats:
    """Return the logarithm of each main's conductance, allowed for flow ([place, bin + 1]).

    Without the facility's return temperature the approach over the heat stands for it.
    """
    return cooling.view.once(("conductance", id(cooling)), lambda: _conductance(cooling))


def _conductance(cooling: Cooling) -> Floats:
    heat, flow, water = cooling.heat, cooling[FLOW_TO], cooling.of_facility(FLOW_TO)
    with np.errstate(invalid="ignore", divide="ignore"):
        cold_end = cooling.cold - cooling.of_facility(COLD)
        warm_end = cooling[WARM] - cooling.of_facility(WARM)
        judged = (heat > 0) & (heat >= LEAST_LOAD * row_quantile(heat, 0.9)[:, None])
        judged &= ~cooling.places.branched[:, None] & (cold_end > LEAST_KELVIN)
        one, other = np.where(judged, cold_end, np.nan), np.where(warm_end > 0, warm_end, np.nan)
        parts = np.log(one / other)
        mean = np.where(np.abs(parts) < 1e-3, one, (one - other) / parts)
        films = FILM * (np.log(flow) + np.where(water > 0, np.log(water), 0.0))
        whole = np.log(heat / mean) - films
        short = np.log(heat / one)
    known = np.asarray(np.isfinite(whole).any(axis=1), np.bool_)
    return np.where(known[:, None], whole, short)
