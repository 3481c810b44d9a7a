"""Pumps by the affinity laws: flow goes with speed, head with its square (reference, E2 and E3).

Head / speed^2 over flow / speed is one curve whatever the speed; a worn pump lies below its own.
The curve is a parabola H/N^2 = h0 - k (Q/N)^2, fitted where the past moved along it, else with the
usual droop. Running pumps share the flow; each combination of them has its own past.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.cooling.baselines import reference
from analyzer.evidence.cooling.loops import (
    DROP,
    FILTER_DROP,
    FLOW_TO,
    PRESSED,
    PUMPS_POWER,
    PUMPS_RUNNING,
    SPEED,
    SUCKED,
    Cooling,
)
from analyzer.evidence.cooling.resistance import SMOOTH
from analyzer.evidence.durations import Bools
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median, row_quantile

LEAST_SPEED = 0.15
"""Of full speed; below it there is hardly a head to judge."""

SAME = 0.05
"""Logarithm of the resistance beyond which another system is pumped through."""

MOVED = 0.15
"""A past in which (Q/N)^2 ranged over less of itself fits no curve."""


@dataclass(frozen=True)
class Pumps:
    """What the pumps of each main do ([place, bin + 1])."""

    head: Floats
    """kPa, filter included."""
    shortfall: Floats
    """Share of the head that its own curve gives at this flow and speed, and that is missing."""
    inefficiency: Floats
    """Share of its usual efficiency (head x flow / power) that is lost; NaN without power."""
    along: Floats
    """Logarithm of flow / speed against its usual: where it works on its curve."""
    same_system: Bools
    """Where what it pumps through is as it was, or its curve is known ([place, bin + 1])."""


def pumps(cooling: Cooling, droop: float) -> Pumps:
    """Return what the pumps do; `droop` is the usual share of shut-off head lost in service."""
    flow, speed = cooling[FLOW_TO], cooling[SPEED]
    with np.errstate(all="ignore"):
        own = np.where(
            np.isfinite(cooling[DROP]), cooling[DROP], cooling[PRESSED] - cooling[SUCKED]
        )
        head = own + np.where(np.isfinite(cooling[FILTER_DROP]), cooling[FILTER_DROP], 0.0)
        running = np.where(
            np.isfinite(cooling[PUMPS_RUNNING]), np.round(cooling[PUMPS_RUNNING]), 1.0
        )
        alike = running == running[:, -1:]
        usable = (
            (speed >= LEAST_SPEED) & (head > 1.0) & (flow > 0.5) & alike & (running > 0)
            & ~cooling.places.branched[:, None]
        )  # fmt: skip
        each = np.where(usable, (flow / np.maximum(running, 1.0) / speed) ** 2, np.nan)
        normal = np.where(usable, head / speed**2, np.nan)
        power = cooling[PUMPS_POWER]
        lifted = head * flow / 60.0  # kPa x L/s = W
        efficiency = np.where(usable & (power >= 1.0), lifted / power, np.nan)
    chosen = reference(cooling, normal)
    x, y = np.where(chosen, each, np.nan), np.where(chosen, normal, np.nan)
    duty, usual_head = row_median(x), row_median(y)
    with np.errstate(all="ignore"):
        slope = _slope(x, y, duty, usual_head, droop)
        curve = usual_head[:, None] - slope[:, None] * (each - duty[:, None])
        shortfall = 1.0 - normal / np.where(curve > 0, curve, np.nan)
        best = row_median(np.where(chosen, efficiency, np.nan))
        lost = 1.0 - efficiency / best[:, None]
        along = np.log(each / duty[:, None]) / 2.0
        system = np.log(np.where(usable, head, np.nan)) - SMOOTH * np.log(flow)
        moved = np.abs(system - row_median(np.where(chosen, system, np.nan))[:, None])
        same = (moved <= np.maximum(SAME, np.abs(shortfall) / 2.0)) | _ranged(x, duty)[:, None]
    return Pumps(head, shortfall, lost, along, same)


def _slope(x: Floats, y: Floats, duty: Floats, head: Floats, droop: float) -> Floats:
    """Return k of each place ([place]), fitted or the usual one."""
    prior = droop / (1.0 - droop) * head / np.where(duty > 0, duty, np.nan)
    dx, dy = x - duty[:, None], y - head[:, None]
    fitted = -np.nansum(dx * dy, axis=1) / np.nansum(dx * dx, axis=1)
    known = _ranged(x, duty) & np.isfinite(fitted)
    return np.where(known, np.clip(fitted, 0.0, 3.0 * prior), prior)


def _ranged(x: Floats, duty: Floats) -> Bools:
    """Return which places have moved along their curve enough to know it ([place])."""
    return np.asarray((row_quantile(x, 0.95) - row_quantile(x, 0.05)) / duty >= MOVED, np.bool_)
