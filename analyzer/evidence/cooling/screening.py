"""Screening: which loops are worth a close look, by what their branches say now.

A fleet has tens of thousands of branches, and hardly one is ill. What is usual of each is worked
out once for every bin that closes; a pass compares the newest readings with it, and only loops
that stand out are looked at bin by bin. It lets through more than detectors speak of, never less.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from analyzer.evidence.cooling.balance import LEAST_LOAD, OFFSET
from analyzer.evidence.cooling.baselines import reference, usual
from analyzer.evidence.cooling.loops import FLOW_TO, WARM, Cooling
from analyzer.evidence.cooling.places import Places
from analyzer.evidence.cooling.resistance import resistance
from analyzer.evidence.durations import Bools
from fabrichealth.model import Floats, Past, Place, View
from fabrichealth.model.quantiles import row_median, row_quantile


@dataclass(frozen=True)
class Usual:
    """What is usual of each place ([place])."""

    resistance: Floats
    exponent: Floats
    share: Floats
    """Logarithm of heat into the coolant over the racks' power."""
    rise: Floats
    high: Floats
    """Watts of the racks under high load."""


# Derived, and worked out again when a bin closes.
_usual: WeakKeyDictionary[Past, dict[int, Usual]] = WeakKeyDictionary()


def _of_all(cooling: Cooling) -> Usual:
    """Return what is usual of all places, from their whole past."""
    kept = _usual.setdefault(cooling.axis, {})
    size = len(cooling.places)
    if size not in kept:
        every = Cooling(cooling.view, cooling.hold)
        found = resistance(every, every.drive)
        rise = every[WARM] - every.cold
        high = row_quantile(every.load, 0.9)
        with np.errstate(all="ignore"):
            judged = (every.load >= LEAST_LOAD * high[:, None]) & (every.heat > 0) & (rise > 0.5)
            share = np.log(np.where(judged, every.heat / every.load, np.nan))
        kept[size] = Usual(
            usual(every, found.log, ()),
            found.exponent,
            usual(every, share, ()),
            row_median(np.where(reference(every, share), rise, np.nan)),
            high,
        )
    return kept[size]


@dataclass(frozen=True)
class Margins:
    """From what on a loop is worth a look: well below what detectors speak of."""

    resistance: float = np.inf
    """Logarithm."""
    balance: float = np.inf
    """Logarithm."""
    liters_per_minute_per_kilowatt: float = 0.0
    flow_ratio: float = 0.0


@dataclass(frozen=True)
class Standing:
    """How far each place stands out now ([place])."""

    places: Places
    harder: Floats
    """Resistance against its usual, less what siblings share (logarithm); inf: too young."""
    off: Floats
    """Heat balance against its usual, less what an offset explains (logarithm)."""
    rate: Floats
    """L/min for each kW."""
    part: Floats
    """Flow over that of the usual sibling."""


def _standing(view: View, hold: float) -> Standing:
    now = Cooling(view, hold, bins=0)
    known, places = _of_all(now), now.places
    flow, drive = now[FLOW_TO][:, 0], now.drive[:, 0]
    rise, load, heat = (now[WARM] - now.cold)[:, 0], now.load[:, 0], now.heat[:, 0]
    thick = (2.0 - known.exponent) * np.log(now.thickness[:, 0])
    with np.errstate(all="ignore"):
        raw = np.log(drive) - known.exponent * np.log(flow) - thick
        harder = raw - known.resistance
        siblings = places.among_siblings(harder[:, None], 4)[:, 0]
        harder -= np.where(places.branched & np.isfinite(siblings), siblings, 0.0)
        young = ~np.isfinite(known.resistance) & np.isfinite(raw)
        slack = OFFSET * np.abs(1.0 / rise - 1.0 / known.rise)
        off = np.abs(np.log(heat / load) - known.share) - 0.8 * slack
        judged = load >= LEAST_LOAD * known.high
        part = flow / places.among_siblings(flow[:, None], 3)[:, 0]
    return Standing(
        places,
        np.where(young, np.inf, np.abs(harder)),
        np.where(judged, off, np.nan),
        flow / np.where(load > 0, load / 1000.0, np.nan),
        np.where(places.branched, part, np.nan),
    )


def standing_out(view: View, hold: float, margins: Margins) -> Bools:
    """Return which loops are worth a close look ([loop])."""
    key = ("cooling standing", hold, view[FLOW_TO.metric].seconds)
    now = view.once(key, lambda: _standing(view, hold))
    with np.errstate(invalid="ignore", over="ignore"):
        stands = (
            (now.harder >= margins.resistance)
            | (now.off >= margins.balance)
            | (now.rate <= margins.liters_per_minute_per_kilowatt)
            | (now.part <= margins.flow_ratio)
        )
    places = now.places
    found = np.zeros(len(places.loops), np.bool_)
    found[places.loop[stands]] = True
    number = {name: n for n, name in enumerate(places.loops)} if view.before else {}
    for old in view.before:
        if isinstance(old.about, Place):
            place = number.get(old.about.id.partition("/")[0])
            if place is not None:
                found[place] = True
    return found
