"""Heat exchangers: conductance from the temperatures of both sides.

UA = heat / logarithmic mean temperature difference. Films thin with flow, so a control valve that
opens raises it without any cleaning: it is held against the facility's flow as its own past shows,
and what lies beyond the flows of that past is believed less.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.cooling.balance import LEAST_LOAD, OFFSET
from analyzer.evidence.cooling.baselines import reference
from analyzer.evidence.cooling.far_side import far_side
from analyzer.evidence.cooling.loops import FLOW_TO, WARM, Cooling
from analyzer.evidence.cooling.unmetered import unmetered
from analyzer.evidence.durations import Bools
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median, row_quantile

FILM = 0.25
"""Power of either flow that the conductance follows, where its past does not show it."""

FILMS = (0.0, 0.8)
"""A plate without a film, and a film alone."""

BOTH_SIDES = 0.5
"""Power of one side's flow at the most that a past is believed to show: half of what resists is on
the other side of the plate, and temperatures that are apart make up the rest."""

VARIED = 0.2
"""Logarithm by which a flow must have ranged to show it."""

LEAST_KELVIN = 0.3
"""Differences below this are the sensors' own."""

NEWEST = 3
"""Columns of a trail that a verdict rests on."""

MEETING = 0.05
"""Kelvin that two sides at least differ where they meet, whatever sensors that are apart say."""


@dataclass(frozen=True)
class Exchanger:
    """The exchanger of each main ([place, bin + 1])."""

    log: Floats
    """Logarithm of its conductance, allowed for flow."""
    doubt: Floats
    """How much of a change of it the flow may explain after all."""
    proven: Bools
    """Where both sides are known at both ends; else little flow may look like scale ([place])."""


def exchanger(cooling: Cooling) -> Exchanger:
    """Return the exchangers of all loops, worked out once a pass.

    Where neither return nor flow of the facility is read, what passes per kelvin between the
    inlets at the same opening of the valve stands for conductance (`unmetered`).
    """
    return cooling.once("exchanger", lambda: _exchanger(cooling))


def _exchanger(cooling: Cooling) -> Exchanger:
    heat, side = cooling.heat, far_side(cooling)
    with np.errstate(all="ignore"):
        cold_end = cooling.cold - side.supply
        warm_end = cooling[WARM] - side.back
        judged = (heat > 0) & (heat >= LEAST_LOAD * row_quantile(heat, 0.9)[:, None])
        judged &= ~cooling.places.branched[:, None] & (cold_end > LEAST_KELVIN)
        judged &= ~side.stopped
        one = np.where(judged, cold_end, np.nan)
        # ends that meet are an exchanger at its best: leaving them out would leave its worst hours
        read = np.where(judged & (warm_end > MEETING - OFFSET), warm_end, np.nan)
        least = _least_offset(read, reference(cooling, read))[:, None]
        whole = np.log(heat / _mean(one, _so(read, np.maximum(least, 0.0)))) - FILM * np.log(
            cooling[FLOW_TO]
        )
        flow = np.log(side.flow)
    known = np.asarray(np.isfinite(whole).any(axis=1), np.bool_)
    log, doubt = _allowed(cooling, whole, flow)
    doubt += _apart(one, read, least, reference(cooling, whole))
    less, unsure = unmetered(cooling, side.supply, judged)
    log = np.where(known[:, None], log, less)
    doubt = np.where(known[:, None], doubt, unsure)
    return Exchanger(log, doubt, known)


def _mean(one: Floats, other: Floats) -> Floats:
    """Return the logarithmic mean of the differences at both ends, K."""
    parts = np.log(one / other)
    return np.where(np.abs(parts) < 1e-3, one, (one - other) / parts)


def _least_offset(read: Floats, usual: Bools) -> Floats:
    """Return by how much warm ends at least seem too near, kelvin ([place]).

    The facility's water never leaves warmer than the loop's comes, whatever meters say.
    """
    chosen = usual.copy()
    chosen[:, -NEWEST:] = True
    lowest = np.fmin.reduce(np.where(chosen, read, np.nan), axis=1)
    return np.asarray(np.fmax(MEETING - lowest, -OFFSET), np.float64)


def _so(read: Floats, offset: Floats | float) -> Floats:
    """Return the differences at warm ends if they seemed too near by so much, K."""
    return np.maximum(read + offset, MEETING)


def _apart(one: Floats, read: Floats, least: Floats, usual: Bools) -> Floats:
    """Return how much of a change of conductance sensors may make that are apart all the time.

    Where the two sides nearly meet such an offset is much of the mean difference, and how much
    goes with load and setpoint: of a lower conductance counts what no offset explains.
    """
    found = np.zeros(one.shape)
    for offset in (least, OFFSET):
        with np.errstate(all="ignore"):
            said = _mean(one, _so(read, np.maximum(least, 0.0)))
            more = np.log(said / _mean(one, _so(read, offset)))
        found = np.fmax(found, more - row_median(np.where(usual, more, np.nan))[:, None])
    return found


def _allowed(cooling: Cooling, raw: Floats, flow: Floats) -> tuple[Floats, Floats]:
    """Return conductance as if the facility always gave its usual flow, and how far to doubt it."""
    chosen = reference(cooling, raw) & np.isfinite(flow)
    x, y = np.where(chosen, flow, np.nan), np.where(chosen, raw, np.nan)
    middle = row_median(x)
    dx, dy = x - middle[:, None], y - row_median(y)[:, None]
    low, high = row_quantile(x, 0.05), row_quantile(x, 0.95)
    with np.errstate(all="ignore"):
        slope = np.nansum(dx * dy, axis=1) / np.nansum(dx * dx, axis=1)
        shown = (high - low >= VARIED) & np.isfinite(slope)
        power = np.where(shown, np.clip(slope, FILMS[0], BOTH_SIDES), FILM)
        away = np.where(np.isfinite(flow) & np.isfinite(middle)[:, None],
                        flow - middle[:, None], 0.0)  # fmt: skip
        above = np.nan_to_num(np.maximum(flow - high[:, None], 0.0))
        below = np.nan_to_num(np.maximum(low[:, None] - flow, 0.0))
    # beyond the flows of its past the exchanger may follow any power between a plate's and a film's
    doubt = (power[:, None] - FILMS[0]) * above + (FILMS[1] - power[:, None]) * below
    return raw - power[:, None] * away, doubt
