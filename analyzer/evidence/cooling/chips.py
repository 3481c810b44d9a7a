"""Chips on cold plates: how far each is above its coolant for what it draws.

R_th = (case - supply) / power (detection reference, E2). Chips of one model on one branch share the
coolant and the flow; one that departs from them and from its own past has lost contact.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.loops import COLD, Cooling, cooled
from analyzer.evidence.cooling.trails import laid, present
from analyzer.evidence.robust import group_quantiles
from fabrichealth.catalogue.accelerators import POWER, TEMPERATURE
from fabrichealth.metric import Metric
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median, row_quantile

LEAST_LOAD = 0.3
"""Of its usual high power; below it a chip's own idle heat decides."""

LEAST_KELVIN = 2.0
"""A chip so little above its coolant is idle, or not on a cold plate."""

PEERS = 4
"""Fewer chips than this are no norm."""


@dataclass(frozen=True)
class Chips:
    """Accelerators with a temperature, a power and a place whose supply is read."""

    cooling: Cooling
    names: list[str]
    place: NDArray[np.intp]
    case: Floats
    """°C, [chip, bin + 1]."""
    power: Floats
    """Watts, [chip, bin + 1]."""
    cold: Floats
    """Supply of its place, else of its loop, °C, [chip, bin + 1]."""

    @cached_property
    def thermal(self) -> Floats:
        """Logarithm of the thermal resistance, K/W ([chip, bin + 1])."""
        above = self.case - self.cold
        high = row_quantile(self.power, 0.9)[:, None]
        with np.errstate(all="ignore"):
            judged = (self.power >= LEAST_LOAD * high) & (self.power > 0) & (above >= LEAST_KELVIN)
            return np.asarray(np.log(np.where(judged, above / self.power, np.nan)), np.float64)

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """Equal for chips of one model at one place ([chip])."""
        devices = self.cooling.view.topology.devices
        models: dict[tuple[int, str], int] = {}
        keys = []
        for name, place in zip(self.names, self.place.tolist(), strict=True):
            row = devices.get(name)
            keys.append(models.setdefault((place, row.model if row else ""), len(models)))
        return np.array(keys, np.int64)

    def against_peers(self, values: Floats) -> Floats:
        """Return each value less the median of the chip's peers ([chip])."""
        return values - group_quantiles(values, self.group, (0.5,), PEERS)[:, 0]

    def trail_against_peers(self, values: Floats, row: int) -> Floats:
        """Return one chip's values less the median of its peers, column by column ([k])."""
        mates = values[self.group == self.group[row]]
        return np.asarray(values[row] - row_median(mates.T), np.float64)


def chips(cooling: Cooling) -> Chips:
    """Return the accelerators whose coolant is known."""
    case, power = _trail(cooling, TEMPERATURE), _trail(cooling, POWER)
    topology, whole = cooling.view.topology, cooling.whole
    place_of: dict[str, int] = {}
    for rack, mine in cooled(topology, whole).items():
        branches = [place for place, _ in mine if whole.branched[place]]
        loop = next(iter(place for place, _ in mine), None)
        for name in topology.in_rack.get(rack, ()):
            if len(branches) == 1:
                place_of[name] = branches[0]
            elif loop is not None:
                place_of[name] = loop
    names = [name for name in case if name in power and name in place_of]
    wide = len(cooling.starts)
    place = np.array([place_of[name] for name in names], np.intp)
    own, main = cooling.picked(COLD, place), cooling.picked(COLD, whole.main[place])
    return Chips(
        cooling,
        names,
        place,
        np.array([case[name] for name in names]).reshape(-1, wide),
        np.array([power[name] for name in names]).reshape(-1, wide),
        np.where(np.isfinite(own), own, main),
    )


def _trail(cooling: Cooling, metric: Metric) -> dict[str, Floats]:
    """Return the trail of each accelerator ([bin + 1])."""
    window, past = cooling.view[metric], cooling.view.past(metric)
    bins = laid(past.values, past, cooling.axis)
    found = {past.labels(row)[0]: np.append(bins[row], np.nan) for row in range(len(past))}
    for row, level in enumerate(present(window, cooling.hold)):
        blank = np.full(len(cooling.starts), np.nan)
        found.setdefault(window.labels(row)[0], blank)[-1] = level
    return found


def own_rise(found: Chips) -> Floats:
    """Return the rise of each chip's resistance against its own past ([chip, bin + 1])."""
    thermal = found.thermal
    base = row_median(np.where(_older(found), thermal, np.nan))
    return np.asarray(thermal - base[:, None], np.float64)


def _older(found: Chips) -> NDArray[np.bool_]:
    known = np.isfinite(found.thermal)
    known[:, -1] = False
    count = known.sum(axis=1)[:, None]
    half = np.cumsum(known, axis=1) <= np.maximum(count / 2.0, 3.0)
    return np.asarray(known & half & (count >= 3), np.bool_)
