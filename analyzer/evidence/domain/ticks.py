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
    found = np.full((len(stock), len(at)), np.nan)
    place = stock.places(window)
    if not len(at) or not window.values.size or not (place >= 0).any():
        return found
    mine = window if (place >= 0).all() else window.select(np.flatnonzero(place >= 0))
    values = held(mine, at)
    low, high = window.metric.valid
    with np.errstate(invalid="ignore"):
        values[(values < low) | (values > high)] = np.nan
    found[place[place >= 0]] = values
    return found


def held(window: Window, at: Floats) -> Floats:
    """Return the newest reading of each row at ascending moments ([s, j]), NaN where it is old."""
    column, age = _newest(window.at, at)
    column, age = column[window.clock], age[window.clock]
    column, age = _behind_gaps(window, column, age, at)
    values = np.take_along_axis(window.values, np.maximum(column, 0), axis=1)
    period = window.period
    known = np.isfinite(period)
    usual = float(np.median(period[known])) if known.any() else window.seconds
    limit = np.maximum(FRESH_POLLS * np.where(known, period, usual), FRESH_SECONDS)
    with np.errstate(invalid="ignore"):
        values[~(age <= limit[:, None])] = np.nan
    return values


def _newest(polls: Floats, at: Floats) -> tuple[Columns, Floats]:
    """Return which poll of each clock is the newest at each moment ([c, j]), and its age.

    -1 and NaN where there was none yet. `polls[c, k]` are right-aligned and ascend.
    """
    known = np.isfinite(polls)
    many = len(at)
    clock, poll = np.nonzero(known)
    seen = np.searchsorted(at, polls[clock, poll], side="left")  # the first moment that sees it
    counted = np.bincount(clock * (many + 1) + seen, minlength=len(polls) * (many + 1))
    upto = counted.reshape(len(polls), many + 1)[:, :many].cumsum(axis=1)
    first = polls.shape[1] - known.sum(axis=1)
    column = np.where(upto > 0, first[:, None] + upto - 1, -1)
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
