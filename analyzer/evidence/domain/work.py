"""Work: how busy accelerators say they are, and whether their other instruments bear it out.

A duty cycle counts every kernel, so an accelerator that spins in a collective, or whose instrument
reports the busiest moment of an interval, is called busy while its matrix units rest. It is not
believed where those rest and its power, if it is read, is far below that of the ones that work.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer.evidence.domain.distribution import IDLE, Bools
from analyzer.evidence.domain.inventory import Inventory, inventory
from analyzer.evidence.domain.ticks import Ticks, moments, possible, row_mean, sampled, speaks
from fabrichealth.catalogue.accelerators import POWER, TENSOR_ACTIVE, UTILIZATION
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View

BUSY = 0.5
"""Who says to be busy for more than this share says that it works."""

BURST = 0.5
"""Matrix units that rest on the whole but reach this are used in bursts."""

STILL = 0.01
"""Where power is not read matrix units must rest so much: decoding for one user uses few."""

FAINT = 0.6
"""Power below this share of what those that work draw bears out that nothing is worked."""


@dataclass(frozen=True, eq=False)
class Work:
    """What each accelerator of the inventory did over the window."""

    stock: Inventory
    told: Ticks
    """Utilisation as it says itself."""
    rests: Bools
    """Says that it is busy, and is not: neither matrix units nor power bear it out ([n])."""
    bursts: Bools
    """Of those, which are used in bursts ([n])."""
    tensor: Floats
    """Mean activity of the matrix units ([n]); NaN where that is not read."""
    power: Floats
    """Mean power in watts ([n]); NaN where that is not read."""
    uncounted: Bools
    """Never told how busy it is, but tells other things: cut in slices, or without such a counter
    ([n])."""

    @cached_property
    def believed(self) -> Floats:
        """Utilisation ([n, j]), what the matrix units say in place of who is not believed."""
        if not self.rests.any():
            return self.told.values
        told = self.told.values
        instead = np.broadcast_to(self.tensor[:, None], told.shape)
        return np.where(self.rests[:, None] & np.isfinite(told), instead, told)

    @cached_property
    def spoke(self) -> Floats:
        """Share of the ticks at which each accelerator said anything ([n])."""
        many = max(self.believed.shape[1], 1)
        return np.asarray(np.isfinite(self.believed).sum(axis=1) / many, np.float64)

    @cached_property
    def busy(self) -> Floats:
        """Share of the window in which each is known to have worked ([n]); silence is no work."""
        return np.nan_to_num(row_mean(self.believed)) * self.spoke


def work(view: View) -> Work:
    """Return what accelerators did; needs utilisation, and the matrix units and power if read."""
    return view.once(("work", view[UTILIZATION].seconds), lambda: _work(view))


def _work(view: View) -> Work:
    stock, window = inventory(view), view[UTILIZATION]
    at = moments(window)
    told = Ticks(at, sampled(window, stock, at))
    tensor, peak = _mean(view, TENSOR_ACTIVE, stock)
    power, _ = _mean(view, POWER, stock)
    said = row_mean(told.values)
    with np.errstate(invalid="ignore"):
        working = (said >= BUSY) & (tensor >= IDLE) & np.isfinite(power)
    with np.errstate(invalid="ignore", divide="ignore"):  # a model of which all draw nothing
        drawn = power / _usual(power, working, stock)
        faint = np.where(np.isfinite(drawn), drawn < FAINT, tensor < STILL)
        rests = (said >= BUSY) & (tensor < IDLE) & faint
        bursts = rests & (peak >= BURST)
    never = np.ones(len(stock), np.bool_)
    ever = stock.places_in(window.table, UTILIZATION)
    never[ever[ever >= 0]] = False
    uncounted = never & (np.isfinite(power) | np.isfinite(tensor))
    return Work(stock, told, rests, bursts, tensor, power, uncounted)


def _usual(power: Floats, working: Bools, stock: Inventory) -> Floats:
    """Return what those that work draw, by model ([n]); NaN where none of that model does."""
    found = np.full(len(power), np.nan)
    for code in np.unique(stock.model.code[working]):
        same = stock.model.code == code
        found[same] = np.median(power[working & same])
    return found


def _mean(view: View, metric: Metric, stock: Inventory) -> tuple[Floats, Floats]:
    """Return mean and peak of each accelerator over the window ([n], [n]); NaN: not read now."""
    window = view[metric]
    mean, peak = np.full(len(stock), np.nan), np.full(len(stock), np.nan)
    mine = np.flatnonzero((stock.places(window) >= 0) & speaks(window))
    if len(mine):
        place = stock.places(window)[mine]
        values = possible(window, window.values if len(mine) == len(window) else
                          window.values[mine])  # fmt: skip
        mean[place] = row_mean(values)
        peak[place] = np.fmax.reduce(values, axis=1)
    return mean, peak
