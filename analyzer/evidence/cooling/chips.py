"""Chips on cold plates: how far each is above its coolant for what it draws.

R_th = (case - supply) / power (detection reference, E2). Chips of one model on one branch share the
coolant and the flow; one that departs from them and from its own past has lost contact.
"""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.loops import COLD, Cooling
from analyzer.evidence.cooling.plates import Plates, plates
from analyzer.evidence.cooling.trails import laid, present
from analyzer.evidence.robust import group_quantiles
from fabrichealth.catalogue.accelerators import POWER, TEMPERATURE
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Past
from fabrichealth.model.quantiles import row_median, row_quantile

LEAST_LOAD = 0.3
"""Of its usual high power; below it a chip's own idle heat decides."""

LEAST_KELVIN = 2.0
"""A chip so little above its coolant is idle, or not on a cold plate."""

PEERS = 4
"""Fewer chips than this are no norm."""

LEAST_BINS = 3
"""Of the past, that are a norm of its own."""


@dataclass(frozen=True, eq=False)
class Usual:
    """What chips did over the bins of the past."""

    high: Floats
    """Their usual high power, watts ([chip]); NaN without a past."""
    thermal: Floats
    """Logarithm of the thermal resistance, K/W ([chip, bin])."""
    base: Floats
    """Their own usual one, by the older half of what is known ([chip])."""


@dataclass(frozen=True, eq=False)
class Chips:
    """Accelerators with a temperature, a power and a place whose supply is read; [chip] each."""

    cooling: Cooling
    plates: Plates
    usual: Usual
    case: Floats
    """°C, now; NaN where it is not read."""
    power: Floats
    """Watts, now."""
    cold: Floats
    """Supply of its place, else of its loop, °C, now."""

    @property
    def names(self) -> list[str]:
        """The accelerators."""
        return self.plates.names

    @cached_property
    def thermal(self) -> Floats:
        """Logarithm of the thermal resistance now, K/W ([chip])."""
        high = np.where(np.isfinite(self.usual.high), self.usual.high, self.power)
        return _thermal(self.case, self.power, self.cold, high)

    @property
    def rise(self) -> Floats:
        """Rise of each chip's resistance now against its own past ([chip])."""
        return np.asarray(self.thermal - self.usual.base, np.float64)

    def against_peers(self, values: Floats) -> Floats:
        """Return each value less the median of the chip's peers ([chip])."""
        return values - group_quantiles(values, self.plates.group, (0.5,), PEERS)[:, 0]

    def trails(self, row: int) -> tuple[Floats, Floats]:
        """Return how one chip stood against its peers, column by column ([bin + 1], twice).

        By the rise against its own past, and by the resistance itself.
        """
        mates = np.flatnonzero(self.plates.group == self.plates.group[row])
        every = np.concatenate([self.usual.thermal[mates], self.thermal[mates][:, None]], axis=1)
        me = int(np.searchsorted(mates, row))
        rises = every - self.usual.base[mates][:, None]
        rise, thermal = (one[me] - row_median(one.T) for one in (rises, every))
        return np.asarray(rise, np.float64), np.asarray(thermal, np.float64)


def chips(cooling: Cooling) -> Chips:
    """Return the accelerators whose coolant is known."""
    whole, view = cooling.whole, cooling.view
    found = plates(view[TEMPERATURE].table, view.topology, whole)
    cold = cooling.picked(COLD, None)
    mine = np.where(np.isfinite(cold), cold, cold[whole.main])
    return Chips(
        cooling,
        found,
        _usual(cooling, found, mine[:, :-1]),
        _now(cooling, TEMPERATURE, found.case),
        _now(cooling, POWER, found.power),
        mine[found.place, -1],
    )


# Worked out once for each past, which stays until a bin closes.
_usuals: WeakKeyDictionary[Past, tuple[Past, Past, Plates, Usual]] = WeakKeyDictionary()


def _usual(cooling: Cooling, found: Plates, cold: Floats) -> Usual:
    """Return what the chips did over the past; `cold` is each place's supply, [place, bin]."""
    view, axis = cooling.view, cooling.axis
    past, drawn = view.past(TEMPERATURE), view.past(POWER)
    kept = _usuals.get(past)
    if kept is not None and kept[0] is drawn and kept[1] is axis and kept[2] is found:
        return kept[3]
    case, power = _bins(past, found.case, axis), _bins(drawn, found.power, axis)
    high = row_quantile(power, 0.9)
    thermal = _thermal(case, power, cold[found.place], high[:, None])
    usual = Usual(high, thermal, row_median(np.where(_older(thermal), thermal, np.nan)))
    _usuals[past] = (drawn, axis, found, usual)
    return usual


def _bins(past: Past, series: Ids, axis: Past) -> Floats:
    """Return the past of some series on the axis of another ([s, bin]); NaN where it has none."""
    at = np.minimum(np.searchsorted(past.series, series), max(len(past) - 1, 0))
    if not len(past):
        return np.full((len(series), len(axis.starts)), np.nan)
    told = past.series[at] == series
    return laid(np.where(told[:, None], past.values[at], np.nan), past, axis)


def _now(cooling: Cooling, metric: Metric, series: Ids) -> Floats:
    """Return what some series say now ([s]); NaN where they are not read."""
    window = cooling.view[metric]
    found = np.full(len(series), np.nan)
    if len(window):
        at = np.minimum(np.searchsorted(window.series, series), len(window) - 1)
        told = np.flatnonzero(window.series[at] == series)
        told = told[np.argsort(at[told])]
        found[told] = present(window.select(at[told]), cooling.hold)
    return found


def _thermal(case: Floats, power: Floats, cold: Floats, high: Floats) -> Floats:
    """Return the logarithm of the thermal resistance; NaN where a chip is idle."""
    with np.errstate(all="ignore"):
        above = case - cold
        judged = (power >= LEAST_LOAD * high) & (power > 0) & (above >= LEAST_KELVIN)
        return np.asarray(np.log(np.where(judged, above / power, np.nan)), np.float64)


def _older(thermal: Floats) -> NDArray[np.bool_]:
    """Return the older half of what is known of each chip ([chip, bin])."""
    known = np.isfinite(thermal)
    count = known.sum(axis=1)[:, None]
    half = np.cumsum(known, axis=1) <= np.maximum(count / 2.0, LEAST_BINS)
    return np.asarray(known & half & (count >= LEAST_BINS), np.bool_)
