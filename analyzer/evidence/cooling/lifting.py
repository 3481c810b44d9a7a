"""Lifting: servers that are taken out of an immersion tank, one by one or several at once.

The level falls by what they displaced and stays there, and their heat is gone. Servers displace
less than their vessel holds, so that their share of the heat is more than their share of the level;
a hose that comes off takes level alone. Where others took over their work the heat stays, and it is
their accelerators' silence that tells (`switched_off`).
"""

import numpy as np

from analyzer.evidence.cooling.loops import Cooling
from analyzer.evidence.cooling.switched_off import switched_off

LEAST_SHARE = 0.01
"""Of a vessel; what is less is no server's volume."""

WORTH = 0.05
"""So much of a tank's vessel lost at once, its heat unchanged, is enough alone: people lift one or
two servers that were off, and not so many."""

AHEAD = 3600.0
"""Seconds before the level fell within which servers that are lifted were switched off."""


LENGTH = 1800.0
"""Seconds of a bin of the last day: the one in which it began counts."""

JUST_NOW = 60.0
"""Seconds over which the racks' power is taken: who lifts a server has just switched it off."""


def lifted(cooling: Cooling, place: int, share: float, since: float) -> bool:
    """Return whether a tank lost a share of its vessel, and of heat or machines, by a moment."""
    if not cooling.kind(place).is_its_reservoir or share < LEAST_SHARE:
        return False
    return _heat_left(cooling, place, since, coolant=True) <= 1.0 - share or (
        _machines_gone(cooling, place, since) >= share
    )


def taken(cooling: Cooling, place: int, share: float, since: float) -> bool:
    """Return whether so much of a tank went at once while its racks' power and machines stayed."""
    if not cooling.kind(place).is_its_reservoir or share < WORTH:
        return False
    return _heat_left(cooling, place, since, coolant=False) > 1.0 - share and (
        _machines_gone(cooling, place, since) < share
    )


def _machines_gone(cooling: Cooling, place: int, since: float) -> float:
    rows = cooling.places.rows
    loop = int(cooling.whole.loop[place if rows is None else rows[place]])
    return switched_off(cooling.view, cooling.whole, loop, since, AHEAD)


def _heat_left(cooling: Cooling, place: int, since: float, *, coolant: bool) -> float:
    """Return the least heat of a place since a moment over the most in the hour before it.

    By the racks' power; else, if that may be, by the coolant's own heat, which follows late in a
    large bath. NaN where neither is read.
    """
    now = Cooling(cooling.view, JUST_NOW, cooling.places)
    earlier = (cooling.ends > since - AHEAD - LENGTH) & (cooling.starts < since)
    later = cooling.ends > since
    later[-1], earlier[-1] = True, False
    for heat in (now.load, *([now.heat] if coolant else [])):
        most = np.fmax.reduce(heat[place, earlier], initial=-np.inf)
        if most > 0 and np.isfinite(heat[place, -1]):
            return float(np.fmin.reduce(heat[place, later]) / most)
    return float("nan")
