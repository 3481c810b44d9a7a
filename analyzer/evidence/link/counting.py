"""What counters that move at every poll say of a window: increases, and the time behind them.

Most rows only rise and were read at every poll: for them the first and the last value are
enough. The rest (a reset, a missed poll, a link that trained within the window) is gone through
step by step: a step over a reset says nothing, one over missed polls counts with its length.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import FRESH_POLLS, FRESH_SECONDS, Bools
from fabrichealth.model import Changes, Floats, Window
from fabrichealth.model.quantiles import row_median


@dataclass(frozen=True)
class Counted:
    """Totals of each row of a window ([s])."""

    window: Window
    increase: Floats
    seconds: Floats
    """Time that the increase took; 0 where nothing can be said."""
    latest: Floats
    """Increase per second in the newest step; NaN where there is none."""
    fresh: Bools
    """Which rows were read within a few of their clock's periods."""


@dataclass(frozen=True)
class Steps:
    """Every step of a few rows ([n, k - 1]); NaN where there is none that counts."""

    increase: Floats
    seconds: Floats
    began: Floats
    ended: Floats


def steps(window: Window, rows: NDArray[np.intp], settled: Floats) -> Steps:
    """Return the steps of some rows, from each value to the next that was read.

    Steps that fall, and those that begin before `settled` ([n], unix seconds), do not count.
    """
    values = possible(window, rows)
    times = np.where(np.isfinite(values), window.at[window.clock[rows]], np.nan)
    before, then = _carried(values)[:, :-1], _carried(times)[:, :-1]
    increase, seconds = values[:, 1:] - before, times[:, 1:] - then
    with np.errstate(invalid="ignore"):
        counts = (increase >= 0) & (seconds > 0) & (then >= settled[:, None])
    nothing = np.nan
    return Steps(
        np.where(counts, increase, nothing),
        np.where(counts, seconds, nothing),
        np.where(counts, then, nothing),
        np.where(counts, times[:, 1:], nothing),
    )


def counted(window: Window, settled: Floats) -> Counted:
    """Return the totals of every row; `settled` ([s]) is when its link had trained, or -inf."""
    number, width = window.values.shape
    increase, seconds = np.zeros(number), np.zeros(number)
    latest = np.full(number, np.nan)
    if width < 2:
        return Counted(window, increase, seconds, latest, np.zeros(number, bool))
    values = window.values
    low, high = window.metric.valid
    with np.errstate(invalid="ignore", over="ignore"):
        rise = np.diff(values, axis=1)
        plain = (rise >= 0).all(axis=1)  # NaN is not >= 0
        plain &= (values[:, 0] >= low) & (values[:, -1] <= high)
    first, last = window.at[window.clock, 0], window.at[window.clock, -1]
    plain &= np.isfinite(first) & np.isfinite(last) & (settled <= first)
    increase[plain] = (values[:, -1] - values[:, 0])[plain]
    seconds[plain] = (last - first)[plain]
    newest = last - window.at[window.clock, -2]
    with np.errstate(invalid="ignore", divide="ignore"):
        latest[plain] = (rise[:, -1] / newest)[plain]
    seen = last.copy()
    rest = np.flatnonzero(~plain)
    if len(rest):
        every = steps(window, rest, settled[rest])
        increase[rest] = np.nansum(every.increase, axis=1)
        seconds[rest] = np.nansum(every.seconds, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            latest[rest] = _carried(every.increase / every.seconds)[:, -1]
        seen[rest] = window.select(rest).last_at
    return Counted(window, increase, seconds, latest, lately(window, seen))


def lately(window: Window, last_at: Floats) -> Bools:
    """Return which rows were read within a few periods of their clock ([s])."""
    if window.at.shape[1] < 2:
        return np.zeros(len(window), bool)
    period = row_median(np.diff(window.at, axis=1))
    limit = np.maximum(FRESH_POLLS * np.nan_to_num(period), FRESH_SECONDS)
    with np.errstate(invalid="ignore"):
        return np.asarray(window.until - last_at <= limit[window.clock], np.bool_)


def possible(window: Window, rows: NDArray[np.intp]) -> Floats:
    """Return the values of some rows, NaN where no instrument can say them."""
    values = window.values[rows]
    low, high = window.metric.valid
    with np.errstate(invalid="ignore"):
        return np.where((values >= low) & (values <= high), values, np.nan)


def _carried(values: Floats) -> Floats:
    """Return each row with missing values replaced by the last one before them."""
    known = np.isfinite(values)
    place = np.where(known, np.arange(values.shape[1]), 0)
    np.maximum.accumulate(place, axis=1, out=place)
    return np.take_along_axis(values, place, axis=1)


def impossible(changes: Changes, most: Floats | float) -> Bools:
    """Return which steps of counters no link can make ([e]): wild readings, counters of others.

    `most` is what a row can count in a second at the most ([r], or for all).
    """
    bound = np.broadcast_to(np.asarray(most, np.float64), len(changes.rows))[changes.row_of]
    with np.errstate(invalid="ignore"):
        return np.asarray(changes.increase > np.maximum(changes.step * bound, 1.0), np.bool_)
