"""Far side: what the facility's water does at each exchanger, metered or worked out.

What the loop gives off the facility takes up, so that of its flow and its return temperature one
meter is enough: heat = density x heat capacity x flow x rise. With neither only the control valve
tells anything (`unmetered`).
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.cooling.fluids import WATER
from analyzer.evidence.cooling.loops import COLD, FLOW_TO, WARM, Cooling
from analyzer.evidence.durations import Bools
from fabrichealth.model import Floats

LEAST_RISE = 0.5
"""Kelvin of the facility's water below which no flow is worked out of it."""


@dataclass(frozen=True)
class FarSide:
    """The facility's side of each main's exchanger ([place, bin + 1])."""

    supply: Floats
    """°C."""
    back: Floats
    """°C; NaN where neither it nor the flow is read."""
    flow: Floats
    """L/min; NaN where neither it nor the return is read, or nothing flows."""
    stopped: Bools
    """Where a flow that is metered is gone, or not read: nothing is known of the exchanger."""


def far_side(cooling: Cooling) -> FarSide:
    """Return the facility's side of all exchangers."""
    supply, back = cooling.of_facility(COLD), cooling.of_facility(WARM)
    flow, heat = cooling.of_facility(FLOW_TO), cooling.heat
    metered = np.asarray(np.isfinite(flow).any(axis=1), np.bool_)[:, None]
    warmed = np.asarray(np.isfinite(back).any(axis=1), np.bool_)[:, None]
    with np.errstate(all="ignore"):
        flow = np.where(flow > 0, flow, np.nan)
        each = WATER.watts(np.ones_like(heat), np.ones_like(heat), supply)  # W for 1 L/min and 1 K
        told = np.where(warmed, back, supply + heat / (each * flow))
        rise = np.where(warmed & (back - supply >= LEAST_RISE), back - supply, np.nan)
        given = np.where(metered, flow, heat / (each * rise))
    stopped = np.logical_and(metered, np.isnan(flow))
    return FarSide(supply, told, given, stopped)
