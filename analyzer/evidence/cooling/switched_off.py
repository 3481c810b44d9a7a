"""Switched off: which share of a loop's machines fell silent before a moment, while others work on.

Who lifts a server switches it off first, so that its accelerators speak no more; that others took
over its work hides the fall of heat, and not the silence. Where most of them are silent it is their
reader that failed, and says nothing of servers.
"""

import numpy as np

from analyzer.evidence.cooling.places import Places
from analyzer.evidence.cooling.plates import plates
from analyzer.evidence.durations import Bools
from fabrichealth.catalogue.accelerators import POWER
from fabrichealth.model import Ids, View

LATE = 1.5
"""A machine is silent that has said nothing for so many of its own periods."""

MOST = 0.5
"""From this share on it is the reader that is silent."""


def switched_off(view: View, whole: Places, loop: int, moment: float, ahead: float) -> float:
    """Return the share of a loop's accelerators that were switched off by a moment, 0..1.

    They spoke within `ahead` seconds before, and have said nothing, or 0 W, since then. 0 where
    none is known, or most are silent.
    """
    known = plates(view[POWER].table, view.topology, whole)
    mine = known.power[whole.loop[known.place] == loop]
    spoke = _spoke(view, mine, moment - ahead, moment)
    if not spoke.any():
        return 0.0
    share = float((spoke & _silent(view, mine, moment)).sum() / spoke.sum())
    return share if share < MOST else 0.0


def _spoke(view: View, series: Ids, start: float, end: float) -> Bools:
    """Return which series said that they draw power in a span ([chip])."""
    found = np.zeros(len(series), np.bool_)
    past, window = view.past(POWER), view[POWER]
    if len(past):
        row = np.minimum(np.searchsorted(past.series, series), len(past) - 1)
        bins = (past.ends > start) & (past.starts < end)
        told = np.asarray((past.values[row][:, bins] > 0).any(axis=1), np.bool_)
        found |= told & (past.series[row] == series)
    if len(window):
        row = np.minimum(np.searchsorted(window.series, series), len(window) - 1)
        with np.errstate(invalid="ignore"):
            within = (window.times > start) & (window.times <= end) & (window.values > 0)
        told = np.asarray(within[row].any(axis=1), np.bool_)
        found |= told & (window.series[row] == series)
    return found


def _silent(view: View, series: Ids, moment: float) -> Bools:
    """Return which series have said nothing, or 0 W, since a moment and for long ([chip])."""
    window = view[POWER]
    if not len(window):
        return np.ones(len(series), np.bool_)
    row = np.minimum(np.searchsorted(window.series, series), len(window) - 1)
    there = window.series[row] == series
    period = np.where(np.isfinite(window.period), window.period, 0.0)
    with np.errstate(invalid="ignore"):
        late = (window.last_at <= moment) & (window.until - window.last_at > LATE * period)
        off = late | (window.last <= 0) | ~np.isfinite(window.last)
    return np.asarray(~there | off[row], np.bool_)
