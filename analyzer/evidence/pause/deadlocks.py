"""Deadlocks of this pass: circles among the vertices of its graph, now and some polls ago."""

from collections.abc import Iterable
from enum import Enum, auto

import numpy as np

from analyzer.evidence.pause.circles import Circle, circles, closed
from analyzer.evidence.pause.containment import CLOSER
from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.gathering import POLLS
from analyzer.evidence.pause.reasons import Reasons
from analyzer.evidence.pause.standing import LEAST_POLLS, STUCK, Standing, standing
from analyzer.evidence.pause.waiting import PAUSED, Allowed, Bools, Places, waits
from fabrichealth.model import Floats, Port


def stands(found: Reasons, polls: int = LEAST_POLLS, before: int = 0) -> Standing:
    """Return how the vertices stand by so many polls, or stood some before, of the shortest.

    How a queue moves that was stopped within its newest poll, one longer than others are, is not
    known yet: it may stand since, and by one poll is taken to.
    """
    pauses, chosen, pace = found.pauses, found.chosen, found.queues.pace
    shortest = float(np.fmin.reduce(pace, initial=np.inf))
    with np.errstate(invalid="ignore"):
        seldom = pace > CLOSER * shortest
    back = np.full(len(chosen), before)
    back[seldom] = (before * shortest / pace[seldom]).astype(np.intp)
    paused = _earlier(found.queues.paused, back)
    exact = pauses.stopped.exact[chosen]
    sent = _earlier(pauses.sent[chosen], back)
    stand = standing(
        paused, exact, sent, _earlier(pauses.carried[chosen // PRIORITIES], back), polls
    )
    last = np.nan_to_num(paused[:, -2:])
    begun = seldom & exact & (last[:, 1] > PAUSED) & (last[:, 1] > last[:, 0])
    still = stand.still | begun if polls == 1 else stand.still
    return Standing(still, np.where(begun, np.nan, stand.rate))


def _earlier(share: Floats, back: Places) -> Floats:
    """Return the shares of [n, k] polls as they were so many polls back each ([n]); NaN unknown."""
    column = np.arange(share.shape[1])[None, :] - back[:, None]
    taken = np.take_along_axis(share, np.maximum(column, 0), axis=1)
    return np.asarray(np.where(column < 0, np.nan, taken), np.float64)


def deadlocks(found: Reasons, since: Floats) -> list[Circle]:
    """Return the deadlocks; `since` says when each vertex was first paused (unix s, [n])."""
    shut = closed(found.queues, found.graph, stands(found), found.pauses.behind(found.chosen))
    return _rings(found, [shut], since)


def circling(found: Reasons) -> set[Port]:
    """Return the ports of every queue that may be, or was lately, part of a deadlock.

    One poll is no proof of a circle, but reason enough to accuse nobody in it yet. What it held
    goes on being held for a while after it is broken, and a circle that one poll does not show (a
    counter that stands, a reset) is no circle less.
    """
    each = [closed(found.queues, found.graph, stands(found, 1, before)) for before in range(POLLS)]
    rings = _rings(found, each, np.zeros(len(found.chosen)))
    return {found.port(one) for ring in rings for one in ring.members.tolist()}


class Word(Enum):
    """What is read of a circle that was told."""

    NONE = auto()
    """Nothing: its switches are silent."""
    STANDS = auto()
    """What is read of it is still stopped, and some switch of it is silent."""
    LETS_GO = auto()
    """It is read, or some queue of it moves."""


def word(found: Reasons, members: Iterable[tuple[Port, int]]) -> Word:
    """Return what is read now of the queues (port, priority) of a circle that was told before.

    While a switch is not read there may be a way out of any circle through it, so that none is
    found; but one that was found is none the less.
    """
    pauses, ports = found.pauses, found.pauses.crossings
    places = [(ports.find(port), priority) for port, priority in members]
    queues = np.array([one * PRIORITIES + rank for one, rank in places if one is not None], np.intp)
    last = pauses.stopped.share[queues, -LEAST_POLLS:]
    if not np.isfinite(last).any():
        return Word.NONE
    silent = pauses.silent[ports.device[queues // PRIORITIES]].any()
    return Word.STANDS if silent and not (last < STUCK).any() else Word.LETS_GO


def _rings(found: Reasons, shut: list[Bools], since: Floats) -> list[Circle]:
    """Return the circles among each of some sets of queues; the same set is looked at once."""
    differing = [one for one in {one.tobytes(): one for one in shut}.values() if one.any()]
    if not differing:
        return []
    free = waits(found.queues, Allowed(valley_free=False))
    period = found.pauses.period if found.pauses.period > 0 else 1.0
    return [ring for one in differing for ring in circles(one, found.graph, free, since, period)]
