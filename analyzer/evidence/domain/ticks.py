"""Ticks: what every accelerator of the inventory said at the same moments.

Targets are read at their own times. At each tick counts the newest reading that is not older than
a few of its own periods, as for anybody who looks at a board; what is older is missing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.inventory import Inventory
from analyzer.evidence.durations import FRESH_POLLS, FRESH_SECONDS
from fabrichealth.model import Floats, Window

Bools = NDArray[np.bool_]
Columns = NDArray[np.intp]

MOST_TICKS = 600
"""As many are looked at in one window at most: at one a second ten minutes."""


@dataclass(frozen=True, eq=False)
class Ticks:
    """Readings of one metric at common moments."""

    at: Floats
    """Unix seconds, ascending, one step apart ([j])."""
    values: Floats
    """By accelerator of the inventory ([n, j]); NaN where it says nothing."""

    @property
    def step(self) -> float:
        """Seconds between two ticks; 0 where there is one at most."""
        return float(self.at[1] - self.at[0]) if len(self.at) > 1 else 0.0

    @property
    def span(self) -> float:
        """Seconds that the ticks stand for."""
        return self.step * len(self.at)


def moments(window: Window, most: int = MOST_TICKS) -> Floats:
    """Return ticks for a window ([j]): as many as it has polls, none before anything was read."""
    period = window.period[np.isfinite(window.period)]
    read = window.at[np.isfinite(window.at)]
    if not len(period) or not len(read):
        return np.empty(0)
    step = max(float(np.median(period)), window.seconds / most)
    many = int((window.until - float(read.min())) / step + 1e-9) + 1
    at = window.until - step * np.arange(min(many, int(window.seconds / step + 1e-9)))[::-1]
    return np.asarray(at, np.float64)


def sampled(window: Window, stock: Inventory, at: Floats) -> Floats:
    """Return what each accelerator said at some moments ([n, j]).

    Rows of others are left out, and what no instrument can say is missing.
    """
    place = stock.places(window)
    if not len(at) or not window.values.size or not (place >= 0).any():
        return np.full((len(stock), len(at)), np.nan)
    mine = window if (place >= 0).all() else window.select(np.flatnonzero(place >= 0))
    values = possible(window, held(mine, at))
    if len(place) == len(stock) and (place == np.arange(len(place))).all():
        return values
    found = np.full((len(stock), len(at)), np.nan)
    found[place[place >= 0]] = values
    return found


def held(window: Window, at: Floats) -> Floats:
    """Return the newest reading of each row at ascending moments ([s, j]), NaN where it is old."""
    column, age = _newest(window.at, at)
    period = window.period
    known = np.isfinite(period)
    usual = float(np.median(period[known])) if known.any() else window.seconds
    limit = np.maximum(FRESH_POLLS * np.where(known, period, usual), FRESH_SECONDS)
    whole = bool(np.isfinite(window.values).all())
    if whole and (column == column[0]).all() and (column[0] >= 0).all():  # all read in step
        first = int(column[0, 0])
        row = np.arange(first, first + len(at))
        every = (column[0] == row).all()  # then nothing need be copied
        values = window.values[:, first : first + len(at)] if every else window.values[:, column[0]]
        if age.max() <= limit.min():
            return values
        old = age[window.clock] > limit[:, None]
    else:
        column, age = _behind_gaps(window, column[window.clock], age[window.clock], at)
        values = np.take_along_axis(window.values, np.maximum(column, 0), axis=1)
        with np.errstate(invalid="ignore"):
            old = ~(age <= limit[:, None])
    return np.where(old, np.nan, values)


def speaks(window: Window) -> Bools:
    """Return what `durations.fresh` does, without a look at every time of every row ([s])."""
    if not window.values.size:
        return np.zeros(len(window), np.bool_)
    period = window.period
    known = np.isfinite(period)
    usual = float(np.median(period[known])) if known.any() else window.seconds
    last = window.at[window.clock, -1]
    silent = np.flatnonzero(~np.isfinite(window.values[:, -1]))
    if len(silent):
        last = last.copy()
        last[silent] = window.select(silent).last_at
    with np.errstate(invalid="ignore"):
        old = window.until - last > FRESH_POLLS * np.where(known, period, usual)
    return np.asarray(~old & np.isfinite(last), np.bool_)


def row_mean(values: Floats) -> Floats:
    """Return the mean of each row, NaN aside; NaN where all of it is."""
    if not values.shape[1]:
        return np.full(len(values), np.nan)
    total = values.sum(axis=1)
    mean = total / values.shape[1]
    torn = np.flatnonzero(np.isnan(total))  # the rest is whole
    if len(torn):
        known = np.isfinite(values[torn])
        many = known.sum(axis=1)
        some = np.where(known, values[torn], 0.0).sum(axis=1)
        mean[torn] = np.where(many > 0, some / np.maximum(many, 1), np.nan)
    return np.asarray(mean, np.float64)


def possible(window: Window, values: Floats) -> Floats:
    """Return values of a window's metric, NaN in place of what no instrument can say."""
    low, high = window.metric.valid
    if not values.size:
        return values
    least, most = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    if not (least < low or most > high):
        return values
    with np.errstate(invalid="ignore"):
        return np.where((values >= low) & (values <= high), values, np.nan)


def _newest(polls: Floats, at: Floats) -> tuple[Columns, Floats]:
    """Return which poll of each clock is the newest at each moment ([c, j]), and its age.

    -1 and NaN where there was none yet. `polls[c, k]` are right-aligned and ascend.
    """
    clocks, width = polls.shape
    known = np.isfinite(polls)
    span = float(at[-1] - at[0])
    lane = span + 10.0  # clocks one behind the other, so that one search serves all
    start = lane * np.arange(clocks)[:, None]
    behind = np.where(known, np.clip(polls - at[0], -1.0, span + 1.0), -5.0) + start
    asked = (at - at[0])[None, :] + start
    found = np.searchsorted(behind.ravel(), asked.ravel(), side="right").reshape(clocks, -1)
    column = found - width * np.arange(clocks)[:, None] - 1
    column[column < width - known.sum(axis=1)[:, None]] = -1
    age = at[None, :] - np.take_along_axis(polls, np.maximum(column, 0), axis=1)
    return column, np.where(column >= 0, age, np.nan)


def _behind_gaps(
    window: Window, column: Columns, age: Floats, at: Floats
) -> tuple[Columns, Floats]:
    """Step back, in rows with gaps, to the newest poll of their clock in which they spoke."""
    torn = np.flatnonzero(~np.isfinite(window.values).all(axis=1))
    if not len(torn):
        return column, age
    finite = np.isfinite(window.values[torn])
    spoke = np.maximum.accumulate(np.where(finite, np.arange(finite.shape[1]), -1), axis=1)
    there = column[torn]
    back = np.where(there >= 0, np.take_along_axis(spoke, np.maximum(there, 0), axis=1), -1)
    read = np.take_along_axis(window.at[window.clock[torn]], np.maximum(back, 0), axis=1)
    column[torn] = back
    age[torn] = np.where(back >= 0, at[None, :] - read, np.nan)
    return column, age
