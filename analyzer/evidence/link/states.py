"""States of receiving ends: healthy, watch, subhealthy, drain, down, unknown.

Evidence makes a state graver at once: it is proven by its lower bound. A state gets better only
when everything has been back at normal, a factor of ten below the error, for a dwell of two
windows. What is not known is never healthy, and does not heal what was ill.
"""

from collections.abc import MutableMapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools
from analyzer.evidence.link.gathering import Gathered
from analyzer.evidence.link.measures import ENOUGH, RAW
from analyzer.evidence.link.peers import odd
from fabrichealth.model import Floats, Port

STATES = ("healthy", "unknown", "watch", "subhealthy", "drain", "down")
"""From the best to the worst, as the two ends of a link are joined."""

HEALTHY, UNKNOWN, WATCH, SUBHEALTHY, DRAIN, DOWN = range(len(STATES))

WHOLE = 0.9
"""Of the long window: with so much of it and no event a port is back at normal, whatever rate."""

SEVERAL = 3.0
"""Events from which an estimate beyond the warning is worth a watch, though not proven."""

Kept = MutableMapping[str, list[float]]
"""By port what its state was, and since when it has been calm (unix seconds; 0: it is not)."""


@dataclass(frozen=True)
class Standings:
    """State, health (NaN: not enough data) and seconds to a verdict (NaN: none) by port ([r])."""

    state: NDArray[np.int8]
    health: Floats
    wait: Floats


def standings(known: Gathered, kept: Kept, dwell: float) -> Standings:
    """Return the state of every port; `kept` is what the last pass left, and is brought up to date.

    Only ports that are or were ill are in it.
    """
    number = len(known.ends)
    health, wait = np.full(number, np.nan), np.full(number, np.nan)
    ill, drain, watch = (np.zeros(number, bool) for _ in range(3))
    calm = np.ones(number, bool)
    for one in known.readings:
        health, wait = np.fmin(health, one.health), np.fmin(wait, one.seconds_needed)
        ill |= one.ill
        with np.errstate(invalid="ignore"):
            drain |= one.ill & (one.lower > np.maximum(one.bands.drain, one.bands.page))
            watch |= one.known & (one.rate > one.bands.warning) & (one.events >= SEVERAL)
            clean = (one.events == 0) & (one.seconds >= WHOLE * known.look.long) & (one.rate == 0)
            settled = (one.rate <= one.bands.normal) & (one.events >= ENOUGH)
        calm &= ~one.known | one.calm | clean | settled
    raw = next(one for one in known.readings if one.measure is RAW)
    watch |= odd(raw, known.ends, ill)
    state = np.full(number, UNKNOWN, np.int8)
    state[np.isfinite(health)] = HEALTHY
    for flag, level in ((watch, WATCH), (ill, SUBHEALTHY), (drain, DRAIN), (known.down, DOWN)):
        state[flag] = level
    state = _held(known, state, calm, kept, dwell)
    health[ill] = np.fmin(health[ill], 0.5)
    gone = known.down | (state == UNKNOWN)
    health[gone] = np.where(known.down[gone], 0.0, np.nan)
    return Standings(state, health, np.where(state == UNKNOWN, wait, np.nan))


def _held(
    known: Gathered, state: NDArray[np.int8], calm: Bools, kept: Kept, dwell: float
) -> NDArray[np.int8]:
    """Return the states with hysteresis and dwell; a port that is down heals nothing."""
    now = known.view.now
    ill = {str(known.ends.ports[place]): place
           for place in np.flatnonzero((state >= WATCH) & (state < DOWN)).tolist()}  # fmt: skip
    found = state.copy()
    for name in [*kept]:
        before, since = int(kept[name][0]), kept[name][1]
        place = ill.pop(name, None)
        if place is None:
            place = _place(known, name)
        if place is None:
            del kept[name]
            continue
        present = int(state[place])
        if present == DOWN:
            kept[name] = [before, 0.0]
        elif present >= before:
            kept[name] = [present, 0.0]
        elif not calm[place] or present == UNKNOWN:
            kept[name] = [before, 0.0]
            found[place] = before
        elif now - (since or now) >= dwell:
            del kept[name]
            if present >= WATCH:
                kept[name] = [present, 0.0]
        else:
            kept[name] = [before, since or now]
            found[place] = before
    for name, place in ill.items():
        kept[name] = [float(state[place]), 0.0]
    return found


def _place(known: Gathered, name: str) -> int | None:
    return known.ends.find(Port.parse(name))
