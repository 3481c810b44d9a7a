"""Deadlocks of this pass: circles among the vertices of its graph, now and some polls ago."""

import numpy as np

from analyzer.evidence.pause.circles import Circle, circles, closed
from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.gathering import POLLS
from analyzer.evidence.pause.reasons import Reasons
from analyzer.evidence.pause.standing import LEAST_POLLS, Standing, standing
from analyzer.evidence.pause.waiting import Allowed, Bools, waits
from fabrichealth.model import Floats, Port


def stands(found: Reasons, polls: int = LEAST_POLLS, before: int = 0) -> Standing:
    """Return how the vertices stand by so many polls, or stood some polls before."""
    pauses, chosen, until = found.pauses, found.chosen, POLLS - before
    return standing(
        found.queues.paused[:, :until],
        pauses.stopped.exact[chosen],
        pauses.sent[chosen, :until],
        pauses.carried[chosen // PRIORITIES, :until],
        polls,
    )


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
