"""Meters: what one feed says of its power in several ways, and which of them is odd.

Up to four ways: the power read; the sum of V x I x power factor over the phases; the rise of the
energy counter; and what the rack's own meter leaves for it once the other feeds are taken off.
Two that agree against a third say which is wrong; two alone say only that one is.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import fresh, unbroken
from analyzer.evidence.power.feeds import PHASES, heard_lately, lately
from fabrichealth.catalogue.power import (
    FEED_CURRENT,
    FEED_ENERGY,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
    RACK_POWER,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View, Window

READ, PRODUCT, ENERGY, RACK = range(4)
WORDS = ("the power read", "V x I x power factor", "the energy counter", "the rack's own meter")


MOST = 1e9
"""Watts beyond which a product says nothing but that a reading is wrong."""

COVERED = 0.8
"""Share of the span that must have been read: what was in a gap the energy counter knows alone."""

GAP = 2.5
"""Polls so many periods apart and more: nobody but the energy counter knows what flowed between."""

STEPS = 20
"""A counter that rose in fewer polls is too coarse to tell power by."""


@dataclass(frozen=True, eq=False)
class Metered:
    """Mean power of each feed over a span, by each way ([f, way]); NaN where it is not known."""

    names: tuple[str, ...]
    racks: tuple[str, ...]
    watts: Floats
    apparent: Floats
    """Sum of V x I of each feed ([f]): more than this cannot flow, whatever the power factor."""
    read: Window
    row_of: dict[str, int]
    """Row of `read` of each feed."""
    swing: Floats
    """Watts by which the mean may be off since power moved between polls ([f])."""
    share_of_rack: Floats
    """Share of its rack's power that a feed carries, times the root of how many there are ([f])."""

    def allowed(self, apart: float) -> Floats:
        """Return by what share the power read may differ from each other way ([f, way]).

        `apart` is that of two meters. An energy counter also knows what flowed between polls; what
        a rack's meter leaves for a feed has the errors of all the rack's meters in it.
        """
        found = np.full(self.watts.shape, apart)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            more = self.swing / self.watts[:, ENERGY]
        found[:, ENERGY] += np.where(np.isfinite(more), np.abs(more), 0.0)
        found[:, RACK] /= np.where(self.share_of_rack > 0, self.share_of_rack, 1.0)
        return found


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # one wild reading is none
def metered(view: View, seconds: float) -> Metered:
    """Return the power of every feed whose power is read, by each way."""
    read = view[FEED_POWER]
    known = np.flatnonzero(fresh(read)) if len(read) else np.empty(0, np.intp)
    rows = {read.labels(int(row))[1]: int(row) for row in known}
    names = tuple(rows)
    racks = tuple(read.labels(rows[name])[0] for name in names)
    watts = np.full((len(names), len(WORDS)), np.nan)
    if not names:
        none = np.empty(0)
        return Metered(names, racks, watts, none, read, rows, none, none)
    mine = [rows[name] for name in names]
    polls = (read.until - read.times[mine] < seconds).sum(axis=1)
    covered = polls * read.period[mine] >= COVERED * np.minimum(seconds, read.seconds)
    watts[:, READ] = np.where(covered, lately(read, read.values, seconds)[mine], np.nan)
    apparent = _apparent(view, names, seconds)
    factor = _by_name(view, FEED_POWER_FACTOR, names, seconds)
    watts[:, PRODUCT] = apparent * np.abs(factor)
    watts[:, ENERGY] = _energy(view, names, seconds)
    watts[:, RACK], whole = _left(view, names, racks, watts[:, READ], seconds)
    feeds = np.array([racks.count(rack) for rack in racks])
    share = watts[:, RACK] / whole * np.sqrt(feeds)
    return Metered(names, racks, watts, apparent, read, rows, _swing(read, mine, seconds), share)


def _swing(read: Window, rows: list[int], seconds: float) -> Floats:
    """Return how far the mean of polls may be from that of all moments ([row], watts).

    Between two polls power was anything between them, if it went straight; gaps do not count.
    """
    times = read.times[rows]
    inside = np.where(read.until - times < seconds, read.values[rows], np.nan)
    steps, spent = np.abs(np.diff(inside, axis=1)), np.diff(times, axis=1)
    known = np.isfinite(steps) & (spent < GAP * read.period[rows][:, None])
    span = np.where(known, spent, 0.0).sum(axis=1)
    return np.asarray(np.where(known, steps * spent, 0.0).sum(axis=1) / span, np.float64)


def _by_name(view: View, metric: Metric, names: tuple[str, ...], seconds: float) -> Floats:
    window = view[metric]
    values = heard_lately(window, window.values, seconds)
    told = {window.labels(row)[1]: values[row] for row in range(len(window))}
    return np.array([told.get(name, np.nan) for name in names], np.float64)


def _apparent(view: View, names: tuple[str, ...], seconds: float) -> Floats:
    """Return the sum over phases of V x I ([f]); NaN where a phase lacks either.

    Products are of means: both hardly move together, and meters average as well.
    """
    parts = []
    place = {name: number for number, name in enumerate(names)}
    for metric in (FEED_VOLTAGE, FEED_CURRENT):
        window = view[metric]
        values = np.full((len(names), len(PHASES)), np.nan)
        mean = heard_lately(window, window.values, seconds)
        for row in range(len(window)):
            _, name, phase = window.labels(row)
            if name in place and phase in PHASES:
                values[place[name], PHASES.index(phase)] = mean[row]
        parts.append(values)
    volts, amperes = parts
    same = np.isfinite(volts) == np.isfinite(amperes)
    whole = same.all(axis=1) & np.isfinite(amperes).any(axis=1)
    product = np.clip(volts * amperes, 0.0, MOST)
    return np.where(whole, np.nansum(product, axis=1), np.nan)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # one wild reading is none
def contradicts_since(view: View, name: str, read: Window, row: int, share: float) -> float | None:
    """Return since when, without a break, the power read is off V x I x factor (unix seconds).

    None where the readings are not of one clock, or do not contradict each other at the end.
    """
    factor = _by_name(view, FEED_POWER_FACTOR, (name,), np.inf)[0]
    volts, amperes = (
        {
            window.labels(one)[2]: window.values[one]
            for one in range(len(window))
            if window.labels(one)[1] == name and window.clock[one] == read.clock[row]
        }
        for window in (view[FEED_VOLTAGE], view[FEED_CURRENT])
    )
    one = read.select(np.array([row], np.intp))
    parts = [volts[phase] * amperes[phase] for phase in volts.keys() & amperes.keys()]
    if not parts or any(len(part) != one.values.shape[1] for part in parts):
        return None
    whole = np.sum(parts, axis=0)
    product = whole * (abs(factor) if np.isfinite(factor) else 1.0)
    off = ~(np.abs(one.values / product - 1.0) < share)
    since, _ = unbroken(off, one)
    return float(since[0]) if np.isfinite(since[0]) else None


def _energy(view: View, names: tuple[str, ...], seconds: float) -> Floats:
    """Return the rise of energy counters per second over the span ([f])."""
    window = view[FEED_ENERGY]
    found: dict[str, float] = {}
    for row in np.flatnonzero(fresh(window)).tolist() if len(window) else ():
        inside = np.flatnonzero(
            np.isfinite(window.values[row]) & (window.times[row] > window.until - seconds)
        )
        if len(inside) < 2:
            continue
        steps = np.diff(window.values[row, inside])
        spent = np.diff(window.times[row, inside])
        if (steps < 0).any() or np.count_nonzero(steps) < STEPS:  # set back, or too coarse
            continue
        known = spent < GAP * window.period[row]
        found[window.labels(row)[1]] = float(steps[known].sum() / spent[known].sum())
    return np.array([found.get(name, np.nan) for name in names], np.float64)


def _left(
    view: View, names: tuple[str, ...], racks: tuple[str, ...], read: Floats, seconds: float
) -> tuple[Floats, Floats]:
    """Return what the rack's meter leaves for each feed once its others are taken off, and its all.

    [f] each; only where every feed that the topology knows of the rack is read.
    """
    window = view[RACK_POWER]
    mean = heard_lately(window, window.values, seconds)
    total = {window.labels(row)[0]: float(mean[row]) for row in range(len(window))}
    written: dict[str, set[str]] = {}
    for name, feed in view.topology.feeds.items():
        written.setdefault(feed.rack, set()).add(name)
    known: dict[str, dict[str, float]] = {}
    for name, rack, watts in zip(names, racks, read.tolist(), strict=True):
        known.setdefault(rack, {})[name] = watts
    whole = np.array([total.get(rack, np.nan) for rack in racks], np.float64)
    left = np.array(
        [
            total.get(rack, np.nan) - sum(known[rack].values()) + known[rack][name]
            if written.get(rack) and written[rack] == known[rack].keys() else np.nan
            for name, rack in zip(names, racks, strict=True)
        ],
        np.float64,
    )  # fmt: skip
    return left, whole
