"""Takeover: what the feeds that carry on carried before a moment, and what they took over at it.

Training swings, and every swing moves both feeds at once: when one meter falls silent just then the
other seems to take over. So it counts only if it stands out of what the partner usually does.
"""

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools
from analyzer.evidence.power.feeds import Places
from fabrichealth.model import Floats, Window
from fabrichealth.model.quantiles import row_quantile

POLLS = 2
SOON = 3
"""Polls within which a partner takes over: what it carries more later is another load. So many
before that say what it carried."""
LATEST = SOON + POLLS
"""Periods from the moment within which those polls must lie: what is read only after a gap is
later, not at the same moment."""
STANDS_OUT = 1.5
"""So many times its usual swing a partner that takes over carries more."""


def before_it(window: Window, moment: float, *, after: bool) -> Floats:
    """Return what rows said in their last polls before a moment ([s]); `after` as in `gain`.

    Not what they said for half an hour: a job may have begun or ended meanwhile. NaN where they
    said nothing shortly before.
    """
    with np.errstate(invalid="ignore"):
        lately = window.times >= moment - 2 * LATEST * half_a_period(window)
    values = np.where(lately, _earlier(window, moment, after=after), np.nan)
    rank = np.cumsum(np.isfinite(values)[:, ::-1], axis=1)[:, ::-1]  # 1 for the newest of each row
    return row_quantile(np.where(rank <= SOON, values, np.nan), 0.5)


def gain(window: Window, rows: Places, moment: float, *, after: bool) -> float:
    """Return by how much the sum of rows grew at a moment (NaN if either side is unknown).

    `after`: the moment is the last one before it happened, not the first one of it.
    """
    one = window.select(rows)
    step, earlier = half_a_period(one), before_it(one, moment, after=after)
    if not np.isfinite(earlier).all():
        return float("nan")
    with np.errstate(invalid="ignore"):
        later = (one.times > moment + (step if after else -step)) & np.isfinite(one.values)
        soon = later & (one.times <= moment + 2 * LATEST * step)
    soon &= np.cumsum(later, axis=1) <= SOON
    if (soon.sum(axis=1) < POLLS).any():
        return float("nan")
    took = row_quantile(np.where(soon, one.values, np.nan), 0.5)
    return float(np.sum(took - earlier))


def swing(window: Window, rows: Places, moment: float) -> float:
    """Return by how much a sum of rows rises now and then, amperes; 0 for never.

    Rises are measured as `gain` does, those about the moment left out, and of the others the
    greatest: once a job began, twice it swings.
    """
    one = window.select(rows)
    values = one.values
    if values.shape[1] < 2 * SOON:
        return 0.0
    spans = np.lib.stride_tricks.sliding_window_view(values, SOON, axis=1)
    level = row_quantile(spans.reshape(-1, SOON), 0.5).reshape(spans.shape[:2])
    rises = level[:, SOON:] - level[:, :-SOON]
    with np.errstate(invalid="ignore"):
        about = np.abs(one.times[:, SOON : SOON + rises.shape[1]] - moment)
        usual = np.isfinite(rises) & (about > 2 * LATEST * half_a_period(one))
    return float(np.sum(_second(np.where(usual, rises, 0.0))))


def _second(rises: Floats) -> Floats:
    """Return the greatest of each row that is not of its greatest rise itself ([s])."""
    apart: NDArray[np.intp] = np.abs(
        np.arange(rises.shape[1])[None, :] - np.argmax(rises, axis=1)[:, None]
    )
    others: Bools = np.asarray(apart >= SOON, np.bool_)
    return np.asarray(np.max(np.where(others, rises, 0.0), axis=1, initial=0.0), np.float64)


def _earlier(window: Window, moment: float, *, after: bool) -> Floats:
    """Return what rows said before a moment, NaN since ([s, k]); `after` as in `gain`."""
    step = half_a_period(window)
    with np.errstate(invalid="ignore"):
        return np.where(window.times <= moment + (step if after else -step), window.values, np.nan)


def half_a_period(window: Window) -> float:
    """Return half of the usual period of a window's rows, seconds; 0 where none is known."""
    period = window.period[np.isfinite(window.period)]
    return float(np.median(period)) / 2 if len(period) else 0.0
