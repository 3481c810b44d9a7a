"""Shifts: how far each end's light and signal lie below what they usually were, in dB.

Usual is the upper quartile of the time of the long past, without the newest: where something has
been ill for days it still is what it was before. A lane counts for six dB at most, so that one
dark lane of eight is not a dim module.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from analyzer.evidence.durations import FRESH_POLLS, Bools, unbroken
from analyzer.evidence.optics.quantities import RX, SNR_HOST, SNR_MEDIA, TX, Quantity
from analyzer.evidence.optics.roster import Places, roster
from analyzer.evidence.parts.belonging import Belonging
from analyzer.evidence.robust import group_spread
from fabrichealth.model import Floats, Past, View, Window
from fabrichealth.model.quantiles import row_quantile

QUANTITIES = (RX, TX, SNR_MEDIA, SNR_HOST)
USUAL = 0.75
MOST_DB = 6.0
LEAST_PEERS = 8
NARROWEST = 0.1
"""dB by which units differ at the least: what is read is rounded."""


@dataclass(frozen=True, eq=False)
class Shift:
    """One quantity of every unit: `change[u]` in dB, negative is worse, NaN is not known."""

    quantity: Quantity
    change: Floats
    deviations: Floats
    """Robust deviations of its peers by which it is below their median ([u])."""
    lowest: Floats
    """The same of the worst poll of the window ([u]): errors are counted over all of it."""
    window: Window
    unit_of: Places
    """Unit of each row of the window, -1 for none."""
    usual: Floats
    """Of each row of the window."""

    def fallen(self, decibels: float, deviations: float) -> Bools:
        """Return which units are so far below their own past, and below what peers do ([u])."""
        with np.errstate(invalid="ignore"):
            alone = ~np.isfinite(self.deviations)
            return np.asarray(
                (self.change <= -decibels) & (alone | (self.deviations >= deviations)), np.bool_
            )

    def worst(self, unit: int) -> int | None:
        """Return the row of a unit's lane that lost most, None if nothing is known of it."""
        rows = np.flatnonzero(self.unit_of == unit)
        lost = self.window.last[rows] - self.usual[rows]
        return int(rows[np.nanargmin(lost)]) if np.isfinite(lost).any() else None

    def since(self, row: int, decibels: float) -> float:
        """Return since when a row has been half of so many dB below its usual without a break."""
        one = self.window.select(np.array([row], np.intp))
        with np.errstate(invalid="ignore"):
            low = one.values <= self.usual[row] - decibels / 2
        since, _ = unbroken(low, one)
        return float(since[0])


def shifts(view: View, own: Belonging) -> dict[str, Shift]:
    """Return the shift of each quantity of light and signal, by its name."""
    return {one.name: _shift(view, own, one) for one in QUANTITIES}


def _shift(view: View, own: Belonging, quantity: Quantity) -> Shift:
    window, unit_of = of_units(view, own, quantity)
    size = len(own)
    if not len(window):
        nothing = np.full(size, np.nan)
        none = np.empty(0, np.intp)
        return Shift(quantity, nothing, nothing, nothing, window, none, np.empty(0))
    usual = _usual_of(view.past(quantity.metric), window)
    with np.errstate(invalid="ignore"):
        lost = np.clip(window.last - usual, -MOST_DB, MOST_DB)
        worst = np.clip(np.fmin.reduce(window.values, axis=1) - usual, -MOST_DB, MOST_DB)
    unit_of = np.where(speaks(window) & np.isfinite(lost), unit_of, -1)
    change = mean_of_units(lost, unit_of, size)
    middle, spread = group_spread(change, own.stratum, LEAST_PEERS)
    deviations = (middle - change) / np.maximum(spread, NARROWEST)
    lowest = mean_of_units(worst, unit_of, size)
    return Shift(quantity, change, deviations, lowest, window, unit_of, usual)


def of_units(view: View, own: Belonging, quantity: Quantity) -> tuple[Window, Places]:
    """Return the window of a quantity, on its own side, and the unit of each row (-1: none)."""
    window = view[quantity.metric]
    lanes = roster(window.table)
    lanes.learn(window.table, quantity.metric)
    if quantity.side:
        rows = lanes.having(window.table, quantity.metric, window.series, quantity.tail)
        window = window.select(rows)
    units = own.units("modules", lanes.ports)
    return window, units[lanes.port[lanes.places(window.table, quantity.metric, window.series)]]


def mean_of_units(values: Floats, unit_of: Places, size: int) -> Floats:
    """Return the mean over the lanes of each unit ([u]); NaN where there is none."""
    known = unit_of >= 0
    number = np.bincount(unit_of[known], minlength=size)
    total = np.bincount(unit_of[known], values[known], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(number > 0, total / number, np.nan)


def speaks(window: Window) -> Bools:
    """Return which rows were read within a few polls of their target ([s])."""
    steps = np.diff(window.at, axis=1)  # there are far fewer targets than rows
    period = row_quantile(steps, 0.5)
    limit = np.where(np.isfinite(period), FRESH_POLLS * period, window.seconds / 2)
    with np.errstate(invalid="ignore"):
        return np.asarray(window.until - window.last_at <= limit[window.clock], np.bool_)


# The same past is handed out until a bin closes.
_usual: WeakKeyDictionary[Past, Floats] = WeakKeyDictionary()


def _usual_of(past: Past, window: Window) -> Floats:
    """Return what each row of a window usually says; NaN where there is no past of it."""
    found = np.full(len(window), np.nan)
    if past.values.shape[1] < 1 or not len(past):
        return found
    kept = _usual.get(past)
    if kept is None:
        older = slice(None, -1 if past.values.shape[1] > 1 else None)
        kept = _best_of(past.values[:, older], (past.ends - past.starts)[older])
        _usual[past] = kept
    place = np.minimum(np.searchsorted(past.series, window.series), len(past) - 1)
    same = past.series[place] == window.series
    found[same] = kept[place[same]]
    return found


ROWS = 1 << 15
"""So many rows are sorted at a time."""


def _best_of(values: Floats, weight: Floats) -> Floats:
    """Return the upper quartile of each row ([s] from [s, k]) by the length of bins ([k])."""
    found = np.full(len(values), np.nan)
    for start in range(0, len(values), ROWS):
        part = values[start : start + ROWS]
        order = np.argsort(-part, axis=1)  # the highest first, NaN last
        ordered = np.take_along_axis(part, order, axis=1)
        heavy = np.where(np.isfinite(ordered), weight[order], 0.0)
        total = np.cumsum(heavy, axis=1)
        place = np.argmax(total >= (1.0 - USUAL) * total[:, -1:], axis=1)
        found[start : start + ROWS] = ordered[np.arange(len(part)), place]
    return found
