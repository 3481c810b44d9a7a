"""Complaints about what jumps: light or signal that goes up and down from poll to poll."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.optics.complaints import WORDS, Complaint, common, complaint, judged, told
from analyzer.evidence.optics.fleet import Optics
from analyzer.evidence.optics.quantities import Quantity


@dataclass(frozen=True, slots=True)
class Restlessness:
    """What counts as restless."""

    least: float
    """Unrest in dB, as a standard deviation, in both halves of the polls looked at."""
    times: float
    """And so many times that of the peers."""
    depth: float
    """Or dips of so many dB below its own median, and this many times the peers' unrest,"""
    dips: int
    """so many of them, in both halves; of a module that was complained of one is enough."""


def restless(optics: Optics, quantity: Quantity, line: Restlessness) -> Iterator[Complaint]:
    """Yield lanes that go up and down from poll to poll: something moves, and not only once.

    Looked at are those that moved in the window, and modules that were complained of before.
    """
    mine, lanes = optics[quantity], optics.lanes
    least = min(line.least, line.depth)
    with np.errstate(invalid="ignore"):
        moved = mine.moved >= least
    moved |= optics.complained
    moved &= judged(optics, quantity)
    if not moved.any():
        return
    places, found = optics.unrest(quantity, np.flatnonzero(moved))
    usual = np.nan_to_num(optics.usual_unrest(quantity)[places])
    depth = np.maximum(line.depth, line.times * usual)
    dips, both = found.dips(depth)
    known = optics.complained[places]
    with np.errstate(invalid="ignore"):
        often = found.calm >= np.maximum(line.least, line.times * usual)
        score = np.where(both | known, dips / np.where(known, 1.0, line.dips), 0.0)
        score = np.fmax(np.where(often, found.calm / line.least, 0.0), score)
    beyond = np.zeros(len(lanes), np.bool_)
    beyond[places[score >= 1]] = True
    beyond &= ~common(optics, quantity, beyond)
    for index in np.flatnonzero(beyond[places]).tolist():
        place = int(places[index])
        since = found.first(index, line.least, float(depth[index]))
        if not np.isfinite(since):
            continue
        says = (
            f"{WORDS[quantity.name]} goes up and down by {found.deviation[index]:.1f} dB from poll "
            f"to poll, now {told(quantity, float(mine.level[place]))}"
            if often[index]
            else f"{WORDS[quantity.name]} fell by {depth[index]:.1f} dB and came back "
            f"{dips[index]} times, now {told(quantity, float(mine.level[place]))}"
        )
        expected = float(mine.baseline[place])
        usually = expected if np.isfinite(expected) else float(mine.level[place])
        yield complaint(optics, quantity, place, usually, float(score[index]), since, says)
