"""Deadlocks of this pass: circles among the vertices of its graph, now and some polls ago."""

import numpy as np

from analyzer.evidence.pause.circles import Circle, circles, closed
from analyzer.evidence.pause.containment import CLOSER
from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.gathering import POLLS
from analyzer.evidence.pause.reasons import Reasons
from analyzer.evidence.pause.standing import LEAST_POLLS, Standing, standing
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


def _rings(found: Reasons, shut: list[Bools], since: Floats) -> list[Circle]:
    """Return the circles among each of some sets of queues; the same set is looked at once."""
    differing = [one for one in {one.tobytes(): one for one in shut}.values() if one.any()]
    if not differing:
        return []
    free = waits(found.queues, Allowed(valley_free=False))
    period = found.pauses.period if found.pauses.period > 0 else 1.0
    return [ring for one in differing for ring in circles(one, found.graph, free, since, period)]
