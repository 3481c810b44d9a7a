"""Unmetered far sides: exchangers of which neither the facility's flow nor its return is read.

What an exchanger gives off per kelvin between its two inlets depends on its wall and on both flows
alone, not on load, weather or setpoint: effectiveness times the lesser capacity flow. The
facility's flow follows the control valve, so that heat over that difference is held against what it
was at the same opening, and nothing is said of openings that the past does not hold.
"""

import numpy as np

from analyzer.evidence.cooling.baselines import LEAST_BINS, reference, renewals
from analyzer.evidence.cooling.loops import FLOW_TO, VALVE, WARM, Cooling
from analyzer.evidence.durations import Bools
from analyzer.evidence.robust import group_quantiles, row_spread
from fabrichealth.model import Floats

ALIKE = 0.05
"""Openings, and flows of the loop, whose logarithms are so near are alike."""

LEAST_OPEN = 0.03
"""A valve that is less open reads its own play."""

SURE = 3.0
"""Robust deviations of its own past by which a change is doubted: pressures of facilities sway."""


def unmetered(cooling: Cooling, supply: Floats, judged: Bools) -> tuple[Floats, Floats]:
    """Return the logarithm of what passes per kelvin against its usual, and the doubt of it.

    Both are [place, bin + 1] as `supply` (°C of the facility) and `judged` are; usual is 0, NaN
    where no valve is read or its opening is new.
    """
    valve = cooling[VALVE]
    with np.errstate(all="ignore"):
        between = cooling[WARM] - supply
        chosen = judged & (valve >= LEAST_OPEN) & (between > 0)
        raw = np.where(chosen, np.log(cooling.heat / between), np.nan)
        opening, flow = np.log(valve) / ALIKE, np.log(cooling[FLOW_TO]) / ALIKE
    usual = reference(cooling, raw, renewals(cooling, cooling.view))
    group = _group(opening, flow)
    past = np.where(usual, raw, np.nan)
    middle = group_quantiles(past.ravel(), group.ravel(), (0.5,), LEAST_BINS)[:, 0]
    log = raw - middle.reshape(raw.shape)
    doubt = SURE * row_spread(np.where(usual, log, np.nan))
    return log, np.broadcast_to(np.nan_to_num(doubt)[:, None], log.shape)


def _group(opening: Floats, flow: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return equal numbers for columns of one place with one opening and one flow."""
    known = np.isfinite(opening) & np.isfinite(flow)
    cells = [np.where(known, np.rint(one), 0.0).astype(np.int64) for one in (opening, flow)]
    low = [int(one.min(initial=0)) for one in cells]
    many = [int(one.max(initial=0)) - least + 1 for one, least in zip(cells, low, strict=True)]
    place = np.arange(len(opening))[:, None]
    return (place * many[0] + cells[0] - low[0]) * many[1] + cells[1] - low[1]
