"""Interconnect: how busy the links of a domain are, and how much room its narrowest cut has left.

A link has two directions and is as busy as the busier one. What one end says it sends, the other
says it receives: of two that speak the larger counts, for a counter that lags shows less. The mean
over a domain hides hot links, so quantiles over links are told, and the hot ones are counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analyzer.evidence.domain.bisection import Bisection
from analyzer.evidence.domain.wiring import Bools, Carried, Places, Wiring
from analyzer.evidence.pause.crossings import Crossings
from analyzer.evidence.pause.shares import heard
from fabrichealth.counters import increases
from fabrichealth.model import Floats, Window
from fabrichealth.model.quantiles import row_quantile

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

HOT, HOT_QUANTILE, HOT_MEAN = 0.9, 0.95, 0.5
"""A link is hot whose load is above 90 % at the 95 % quantile of its polls (reference, D3), and
above half over all of them: polls of uneven length make peaks that no link carried."""


PORTION = 1 << 14
"""Rows that are worked on at a time: so many fit into a processor's cache."""


@dataclass(frozen=True, eq=False)
class Loads:
    """Load of each link over the window, as a share of what it carries now ([l]); NaN unknown.

    Column 0 of `mean` and `high` is the direction from a link's first end to its second, column 1
    the way back. `mean` is over the window, `high` the 95 % quantile of its polls.
    """

    mean: Floats
    high: Floats

    @cached_property
    def busier(self) -> Floats:
        """Mean load of the busier direction of each link ([l])."""
        return np.fmax(self.mean[:, 0], self.mean[:, 1])

    @cached_property
    def hot(self) -> Bools:
        """Whether a link is hot by its own load ([l])."""
        with np.errstate(invalid="ignore"):
            return np.asarray(((self.high > HOT) & (self.mean > HOT_MEAN)).any(axis=1), bool)


def loads(wired: Wiring, ports: Crossings, now: Carried, *windows: tuple[Window, bool]) -> Loads:
    """Return how busy links are by windows of byte counters; beside each whether it counts sent.

    Loads need a rate in bit/s: links whose speed nobody writes have none, nor have dead ones.
    """
    ends = wired.ports(ports)
    mean, high = (np.full((len(ends), 2), np.nan) for _ in range(2))
    counted = np.array(wired.counted)[wired.network] if len(ends) else np.empty(0, bool)
    rate = np.where(counted | (now.gbps <= 0), np.nan, now.gbps)
    for window, sent in windows:
        if not len(window):
            continue
        place = ports.places(window.table, window.metric, window.series)
        row_of = np.full(len(ports), -1, np.intp)
        rows = np.flatnonzero(heard(window, window.values.shape[1]))
        row_of[place[rows]] = rows
        at = np.where(ends >= 0, row_of[ends], -1)
        link, end = np.nonzero(at >= 0)
        chosen = at[link, end]
        average, upper = _rates(window, chosen)
        direction = end if sent else 1 - end
        for found, bits in ((mean, average), (high, upper)):
            load = np.full((len(ends), 2), np.nan)
            load[link, direction] = bits / rate[link] / 1e9
            np.fmax(found, load, out=found)
    return Loads(mean, high)


def _rates(window: Window, rows: Places) -> tuple[Floats, Floats]:
    """Return bit/s of some rows over the window: mean, and 95 % quantile of polls.

    Rows with every poll of their clock and no reset are most, and need no care; the others get it.
    """
    mean, high = (np.full(len(rows), np.nan) for _ in range(2))
    step = np.diff(window.at, axis=1)  # seconds between the polls of each clock
    spent = window.at[:, -1] - window.at[:, 0]
    for start in range(0, len(rows), PORTION):
        part = slice(start, start + PORTION)
        values, clock = window.values[rows[part]], window.clock[rows[part]]
        grown = np.diff(values, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = (grown >= 0).all(axis=1) & (spent[clock] > 0)
            rate = grown / step[clock]
            mean[part] = np.where(plain, (values[:, -1] - values[:, 0]) / spent[clock], np.nan)
        high[part] = np.where(plain, _upper(rate), np.nan)
        rest = np.flatnonzero(~plain)
        if len(rest):
            careful = _with_gaps(window, rows[part][rest])
            mean[start + rest], high[start + rest] = careful
    return mean * 8.0, high * 8.0


def _upper(rate: Floats) -> Floats:
    """Return the 95 % quantile of rows without a gap, as `row_quantile` does."""
    place = HOT_QUANTILE * (rate.shape[1] - 1)
    low = int(place)
    near = np.partition(rate, [low, min(low + 1, rate.shape[1] - 1)], axis=1)
    below, above = near[:, low], near[:, min(low + 1, rate.shape[1] - 1)]
    return np.asarray(below + (above - below) * (place - low), np.float64)


def _with_gaps(window: Window, rows: Places) -> tuple[Floats, Floats]:
    """Return bytes per second of rows with gaps or resets: mean of what is known, and quantile."""
    times = np.where(np.isfinite(window.values[rows]), window.at[window.clock[rows]], np.nan)
    grown = increases(window.values[rows], times)
    per_poll = grown.rate()[:, 1:]
    known = np.isfinite(per_poll)
    spent = np.where(known, grown.seconds[:, 1:], 0.0).sum(axis=1)
    amount = np.where(known, grown.amount[:, 1:], 0.0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        average = np.where(spent > 0, amount / spent, np.nan)
    return average, row_quantile(per_poll, HOT_QUANTILE)


def quantiles(loads: Loads, links: Places | Bools) -> Mapping[float, float]:
    """Return quantiles of the load over some links; empty where none of them has a load."""
    busy = loads.busier[links]
    busy = busy[np.isfinite(busy)]
    if not len(busy):
        return {}
    levels = np.quantile(np.minimum(busy, 1.0), QUANTILES)
    return dict(zip(QUANTILES, levels.tolist(), strict=True))


def headroom(cut: Bisection, loads: Loads, now: Carried) -> float | None:
    """Return the share of a cut that is free in its fuller direction; None where loads lack.

    Links of the cut that carry nothing have no room; of those that carry something all must have
    a load, for what is not read may be full.
    """
    alive = now.gbps[cut.cut] > 0
    rows, forward = cut.cut[alive], cut.forward[alive]
    if not len(rows):
        return None
    mean, gbps = loads.mean[rows], now.gbps[rows]
    there = np.where(forward, mean[:, 0], mean[:, 1])
    back = np.where(forward, mean[:, 1], mean[:, 0])
    used = float(np.max([(one * gbps).sum() for one in (there, back)]))  # NaN if either is
    return max(0.0, 1.0 - used / float(gbps.sum())) if np.isfinite(used) else None
