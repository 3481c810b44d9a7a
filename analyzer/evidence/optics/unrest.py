"""Unrest: what goes up and down from poll to poll, of the few places that may do so.

A plug with poor contact jumps for seconds. Modules are read once a minute at the best and once in
five or fifteen where they are many, so unrest is looked for over a number of polls, not over a
span of time: half an hour of readings every five minutes cannot tell a loose plug from one that
was touched.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools
from analyzer.evidence.optics.modules import warmed
from analyzer.evidence.optics.quantities import Quantity
from analyzer.evidence.optics.roster import Places, Roster
from fabrichealth.model import Floats, View, Window
from fabrichealth.model.quantiles import row_median, row_quantile

POLLS = 24
"""Over so many polls at least unrest is looked for."""

STEPS = 4
"""Fewer steps between polls than this tell nothing of unrest."""

STEP_SHARE, STEP_DEVIATIONS = 0.8, 1.812
"""The 80 % quantile of steps between polls of white noise is so many standard deviations; a
single step among them does not move it."""


@dataclass(frozen=True)
class Unrest:
    """Of some places ([n]); NaN is not known."""

    deviation: Floats
    """How it goes up and down from poll to poll, as a standard deviation; a step is no unrest."""
    calm: Floats
    """The lesser deviation of the two halves of the window: what goes on in both."""
    window: Window
    """Whose rows the places are, without what is impossible or of a module that warms up."""

    def dips(self, depth: Floats) -> tuple[NDArray[np.intp], Bools]:
        """Return how often each fell by `depth` ([n]) below its own median and came back ([n]).

        And whether it did so in both halves of the window; else something was done to it once.
        """
        low = _low(self.window.values, depth)
        starts = low.copy()
        starts[:, 1:] &= ~low[:, :-1]
        half = low.shape[1] // 2
        both = starts[:, :half].any(axis=1) & starts[:, half:].any(axis=1)
        return starts.sum(axis=1), np.asarray(both, np.bool_)

    def first(self, place: int, step: float, depth: float) -> float:
        """Return when the first dip or step of one place was seen, unix seconds; NaN: none."""
        values, times = self.window.values[place], self.window.times[place]
        known = np.flatnonzero(np.isfinite(values))
        steps = np.abs(np.diff(values[known], prepend=values[known[:1]])) >= step
        seen = known[steps | _low(values[None, known], np.array([depth]))[0]]
        return float(times[seen[0]]) if len(seen) else float("nan")


def _low(values: Floats, depth: Floats) -> Bools:
    """Return where each row ([n, k]) lies by its depth ([n]) below its own median."""
    with np.errstate(invalid="ignore"):
        return np.asarray(values <= (row_median(values) - depth)[:, None], np.bool_)


def unrest(
    view: View, lanes: Roster, quantity: Quantity, warm_up: float, places: Places
) -> tuple[Places, Unrest]:
    """Return which of some places tell of a quantity, and their unrest over enough polls."""
    window = view.at_least(quantity.metric, POLLS)
    rows = np.arange(len(window))
    if quantity.side:
        rows = lanes.having(window.table, quantity.metric, window.series, quantity.tail)
    told = lanes.places(window.table, quantity.metric, window.series[rows])
    mine = np.flatnonzero(np.isin(told, places))
    chosen = window.select(rows[mine])
    values = possible(warmed(chosen, warm_up), quantity)
    chosen = replace(chosen, values=values)
    half = values.shape[1] // 2
    halves = np.minimum(deviation(values[:, :half]), deviation(values[:, half:]))
    return told[mine], Unrest(deviation(values), halves, chosen)


def possible(values: Floats, quantity: Quantity) -> Floats:
    """Return values without those that the quantity cannot have."""
    low, high = quantity.metric.valid
    with np.errstate(invalid="ignore"):
        return np.where((values >= low) & (values <= high), values, np.nan)


def deviation(values: Floats) -> Floats:
    """Return how each row goes up and down, as a standard deviation ([s]); a step is no unrest."""
    if values.shape[1] <= STEPS:
        return np.full(len(values), np.nan)
    steps = np.abs(np.diff(values, axis=1))
    told = np.isfinite(steps).sum(axis=1) >= STEPS
    return np.where(told, row_quantile(steps, STEP_SHARE) / STEP_DEVIATIONS, np.nan)
