"""Standing: which queues stand still, and which move too much to keep others standing.

A queue that is stopped all the time sends nothing, so that what its own counter does not say
follows from its port's load, and from the time that is left. What waits for a queue that moves
moves with it: of whatever buffer they share, each that waits gets about its part.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.pause.waiting import Bools, Places
from fabrichealth.model import Floats

STUCK = 0.95
"""Paused for so much of every poll."""

STILL = 0.01
"""And carrying less than so much of the line rate."""

LEAST_POLLS = 2
"""In so many polls, one after the other."""

READ_APART = 0.02
"""Of a poll, that a counter may be read sooner or later than its clock says."""

UNEVEN = 4.0
"""So much less than its part may one of those get that wait for the same queue."""


@dataclass(frozen=True, eq=False, slots=True)
class Standing:
    """Queues over their last polls, [n]."""

    still: Bools
    """Whether it stood still in each of them."""
    rate: Floats
    """Share of line rate that it moved, or had time to move; NaN unknown."""

    def holding(self, waiting: Places) -> Bools:
        """Return which queues may keep standing what waits for them; `waiting` says how many do.

        One that moves gives each of them more than what counts as standing still.
        """
        part = self.rate / np.maximum(waiting, 1)
        with np.errstate(invalid="ignore"):
            return np.asarray(~(part > UNEVEN * STILL), np.bool_)


def standing(
    paused: Floats, exact: Bools, sent: Floats, load: Floats, polls: int = LEAST_POLLS
) -> Standing:
    """Return how queues stand, by the last `polls` in which their pauses are known.

    All but `exact` are [n, k]: the share of time for which a queue was stopped; what it sent by
    its own counter, and what its port sent, as shares of line rate. NaN is unknown, and does not
    speak against standing still. `exact` ([n]) says where pauses are counted as time: bounds of
    them prove nothing.
    """
    known = np.isfinite(paused)
    newest = known & (np.cumsum(known[:, ::-1], axis=1)[:, ::-1] <= polls)
    left = np.maximum(1.0 - paused - READ_APART, 0.0)
    most = np.where(np.isfinite(sent), sent, np.fmin(load, np.where(exact[:, None], left, np.inf)))
    held = (paused >= STUCK) | ~newest
    moves = (most > STILL) & newest
    enough = newest.sum(axis=1) == polls
    rate = np.where(newest, np.where(np.isfinite(sent), sent, 1.0 - paused), 0.0)
    mean = np.where(enough, rate.sum(axis=1) / polls, np.nan)
    return Standing(
        np.asarray(enough & exact & held.all(axis=1) & ~moves.any(axis=1), np.bool_), mean
    )
