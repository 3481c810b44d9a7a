"""Far side: what the facility's water does at each exchanger, metered or worked out.

What the loop gives off the facility takes up, so that of its flow and its return temperature one
meter is enough: heat = density x heat capacity x flow x rise. With neither, an approach that widens
may be scale or a new setpoint, and only a control valve that is as open as usual tells them apart.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.cooling.baselines import reference
from analyzer.evidence.cooling.fluids import WATER
from analyzer.evidence.cooling.loops import COLD, FLOW_TO, VALVE, WARM, Cooling
from analyzer.evidence.durations import Bools
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median

LEAST_RISE = 0.5
"""Kelvin of the facility's water below which no flow is worked out of it."""

AS_OPEN = 0.02
"""A valve this little further closed than usual is as open as usual."""


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
    as_open: Bools
    """Where the control valve is at least as open as usual; False where none is read."""


def far_side(cooling: Cooling) -> FarSide:
    """Return the facility's side of all exchangers."""
    supply, back = cooling.of_facility(COLD), cooling.of_facility(WARM)
    flow, heat = cooling.of_facility(FLOW_TO), cooling.heat
    metered = np.asarray(np.isfinite(flow).any(axis=1), np.bool_)[:, None]
    warmed = np.asarray(np.isfinite(back).any(axis=1), np.bool_)[:, None]
    valve = cooling[VALVE]
    with np.errstate(all="ignore"):
        flow = np.where(flow > 0, flow, np.nan)
        each = WATER.watts(np.ones_like(heat), np.ones_like(heat), supply)  # W for 1 L/min and 1 K
        told = np.where(warmed, back, supply + heat / (each * flow))
        rise = np.where(warmed & (back - supply >= LEAST_RISE), back - supply, np.nan)
        given = np.where(metered, flow, heat / (each * rise))
        usual = row_median(np.where(reference(cooling, valve), valve, np.nan))
        as_open = valve >= usual[:, None] - AS_OPEN
    stopped = np.logical_and(metered, np.isnan(flow))
    return FarSide(supply, told, given, stopped, np.asarray(as_open, np.bool_))
