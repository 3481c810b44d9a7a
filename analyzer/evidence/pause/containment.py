"""Containment: for how much of the time that one queue was paused another was paused too.

Polls of a second and more cannot tell which was first, so that no correlation is asked for. Where
one of the two is read more seldom its polls are the steps of time at which both are compared.
"""

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats

Places = NDArray[np.intp]

CLOSER = 1.5
"""One of two queues is read more often than the other from so many times on."""

TINY = 1e-6
"""Of a poll: none."""


def contained(paused: Floats, one: Places, other: Places) -> Floats:
    """Return for how much of `one`'s paused time `other` was paused too ([e], 0 to 1).

    Containment and not a correlation: who waits is paused at most while its reason lasts, and
    polls of a second and more cannot tell which was first. Polls of which the other tells nothing
    are no proof that it was not paused: they are left out.
    """
    a = np.where(np.isfinite(paused[other]), np.nan_to_num(paused[one]), 0.0)
    b = np.nan_to_num(paused[other])
    total = a.sum(axis=1)
    both = np.minimum(a, b).sum(axis=1)
    return np.asarray(np.divide(both, total, out=np.zeros(len(one)), where=total > 0), np.float64)


def unlike(pace: Floats, one: Places, other: Places) -> Places:
    """Return the pairs of which one queue is read more often than the other ([e] of numbers).

    `pace` is the seconds between polls of each queue ([n]); NaN is like any.
    """
    if np.fmax.reduce(pace, initial=0.0) <= CLOSER * np.fmin.reduce(pace, initial=np.inf):
        return np.empty(0, np.intp)  # most fabrics are read at one pace
    with np.errstate(invalid="ignore"):
        most, least = np.maximum(pace[one], pace[other]), np.minimum(pace[one], pace[other])
        return np.flatnonzero(most > CLOSER * least)


def by_time(paused: Floats, pace: Floats, read: Floats, one: Places, other: Places) -> Floats:
    """Return what `contained` says of pairs that are read at different paces ([e]).

    `read` is when each queue's newest poll was (unix seconds, [n]). What is remembered of the fast
    one may be part of a slow poll, into which all that this poll counted may fall; where they have
    no time in common at all, the newest slow poll counts, on and on if it rose.
    """
    seldom = pace[one] >= pace[other]
    slow, fast = np.where(seldom, one, other), np.where(seldom, other, one)
    k = paused.shape[1]
    # edges of the slow one's polls, oldest first, in polls of the fast one since its oldest
    edge = read[slow][:, None] - np.arange(k, -1, -1) * pace[slow][:, None]
    place = np.clip(k - (read[fast][:, None] - edge) / pace[fast][:, None], 0.0, k)
    share = np.nan_to_num(paused[fast])
    grown, known = _summed(share, np.isfinite(paused[fast]), place)
    spent = np.where(np.isfinite(paused[slow]), known, 0.0)
    brief = np.divide(grown, known, out=np.zeros_like(grown), where=known > 0)
    counted = np.nan_to_num(paused[slow])
    whole = (pace[slow] / pace[fast])[:, None]
    long = np.minimum(counted * whole / np.maximum(known, TINY), 1.0)
    total = (np.where(seldom[:, None], long, brief) * spent).sum(axis=1)
    both = (np.minimum(long, brief) * spent).sum(axis=1)
    last = np.where(counted[:, -1] > counted[:, -2], 1.0, counted[:, -1])
    ever = share.sum(axis=1) / np.maximum(np.isfinite(paused[fast]).sum(axis=1), 1)
    apart = total <= 0
    total = np.where(apart, np.where(seldom, last, ever), total)
    both = np.where(apart, np.minimum(last, ever), both)
    return np.asarray(np.divide(both, total, out=np.zeros(len(one)), where=total > 0))


def _summed(share: Floats, known: NDArray[np.bool_], place: Floats) -> tuple[Floats, Floats]:
    """Return the sum of shares, and of polls that are known, between places ([e, k] each)."""
    whole = np.minimum(place.astype(np.intp), share.shape[1] - 1)
    found = []
    for each in (share, known.astype(np.float64)):
        before = np.pad(np.cumsum(each, axis=1), ((0, 0), (1, 0)))
        at = np.take_along_axis(before, whole, axis=1)
        part = np.take_along_axis(each, whole, axis=1) * (place - whole)
        found.append(np.diff(at + part, axis=1))
    return found[0], found[1]
