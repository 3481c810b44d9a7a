"""Staying cool: chips under load that are no warmer since a moment, so that water flows on.

Without flow a cold plate warms by about 2 K a second and its chip throttles (detection reference,
E5): what a unit says of its pumps and flows meanwhile is no reading. Other instruments than the
unit's, like its branches' meters, for loops whose branches have none.
"""

import numpy as np

from analyzer.evidence.cooling.places import Places
from analyzer.evidence.cooling.plates import plates
from analyzer.evidence.durations import Bools, fresh
from fabrichealth.catalogue.accelerators import POWER, TEMPERATURE
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, View
from fabrichealth.model.quantiles import row_median, row_quantile

OF_CHIPS = (TEMPERATURE, POWER)
"""What is looked at, now and in the long past."""

WARMER = 8.0
"""Kelvin by which a chip may be warmer than before and still be cooled."""

AT_WORK = 0.5
"""Of the power that it drew before a chip draws, that says whether it is cooled."""

HIGH = 0.9
"""Quantile of the long past that is high load."""

FEWEST = 2
"""So many chips at least."""


def stay_cool(view: View, whole: Places, loop: int, moment: float) -> bool:
    """Return whether most chips of a loop work on since a moment and are no warmer for it."""
    known = plates(view[TEMPERATURE].table, view.topology, whole)
    mine = whole.loop[known.place] == loop
    warm, drawn = (
        _before_and_since(view, metric, series[mine], moment)
        for metric, series in zip(OF_CHIPS, (known.case, known.power), strict=True)
    )
    with np.errstate(invalid="ignore", over="ignore"):
        works = (drawn[1] >= AT_WORK * drawn[0]) & (drawn[1] > 0) & np.isfinite(warm[1] - warm[0])
        cool: Bools = works & (warm[1] - warm[0] < WARMER)
    return bool(cool.sum() >= FEWEST and 2 * cool.sum() > int(mine.sum()))


def _before_and_since(
    view: View, metric: Metric, series: Ids, moment: float
) -> tuple[Floats, Floats]:
    """Return the median of what series said before a moment, and the last since ([chip]).

    Before a moment that the window does not reach back beyond: what they said at high load.
    """
    window, found = view[metric], np.full((2, len(series)), np.nan)
    if not len(window) or not window.values.size:
        return found[0], found[1]
    at = np.minimum(np.searchsorted(window.series, series), len(window) - 1)
    told = np.flatnonzero(window.series[at] == series)
    rows = at[told]
    with np.errstate(invalid="ignore"):
        early = window.times[rows] < moment
        later = fresh(window)[rows] & (window.last_at[rows] > moment)
    found[0, told] = row_median(np.where(early, window.values[rows], np.nan))
    found[1, told] = np.where(later, window.last[rows], np.nan)
    return np.where(np.isfinite(found[0]), found[0], _usual(view, metric, series)), found[1]


def _usual(view: View, metric: Metric, series: Ids) -> Floats:
    """Return what series said at high load in the long past ([chip])."""
    found, past = np.full(len(series), np.nan), view.past(metric)
    if len(past) and past.values.size:
        at = np.minimum(np.searchsorted(past.series, series), len(past) - 1)
        told = np.flatnonzero(past.series[at] == series)
        found[told] = row_quantile(past.values[at[told]], HIGH)
    return found
