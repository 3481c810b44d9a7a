"""Circles: queues that wait for each other and can never go on (deadlock).

A circle of waiting queues is no deadlock while anything in it still moves, or while one of its
members waits for something outside that will let go: a host that is slow, or a queue that
drains. So only queues that stand still are looked at, without those from which a way leads out.
(DCFIT and the literature on cyclic buffer dependency; Tarjan's components.)
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.pause.waiting import Allowed, Bools, Places, Queues, Waits, waits
from fabrichealth.model import Floats

STUCK = 0.95
"""Paused for so much of every poll."""

STILL = 0.01
"""And carrying less than so much of the line rate."""

LEAST_POLLS = 2
"""In so many polls, one after the other."""


@dataclass(frozen=True, eq=False, slots=True)
class Circle:
    """One deadlock."""

    members: Places
    """Its queues in the order in which each waits for the next."""
    trigger: int
    """The member where it began, as well as can be told."""
    by_time: bool
    """Whether the trigger was paused clearly before what it waits for; else it is the one that
    most queues outside the circle feed. What waits for the trigger may be paused as soon as it."""


def stuck(paused: Floats, carried: Floats) -> Bools:
    """Return which queues stood still in each of the last polls ([n] from [n, k] and [n, k]).

    `carried` is the share of line rate; what is not known of it does not speak against.
    """
    if paused.shape[1] < LEAST_POLLS:
        return np.zeros(len(paused), bool)
    held = (paused[:, -LEAST_POLLS:] >= STUCK).all(axis=1)
    moves = (carried[:, -LEAST_POLLS:] > STILL).any(axis=1)
    return np.asarray(held & ~moves, np.bool_)


def circles(queues: Queues, graph: Waits, still: Bools, since: Floats, poll: float) -> list[Circle]:
    """Return the deadlocks among queues that stand still.

    `graph` is who waits for whom by what is known of routes; `since` says when each queue was
    first paused (unix seconds, [n]), and two polls apart (`poll` seconds each) is an order.
    A packet that was sent up again after it came down closes circles that no rule of tiers
    allows, so queues from which no way leads out are looked at again without that rule.
    """
    closed = still & ~_leads_out(queues, graph, still)
    if not closed.any():
        return []
    free = waits(queues, Allowed(valley_free=False))
    n = free.n
    inside = np.flatnonzero((free.blocking < n) & closed[free.waiting])
    inside = inside[closed[free.blocking[inside]]]
    edges = (free.waiting[inside], free.blocking[inside])
    matrix = csr_array((np.ones(len(edges[0])), edges), shape=(n, n))
    _, label = connected_components(matrix, directed=True, connection="strong")
    found = []
    for name in np.flatnonzero(np.bincount(label[closed], minlength=1) > 1):
        members = np.flatnonzero((label == name) & closed)
        within = (label[edges[0]] == name) & (label[edges[1]] == name)
        ring = _ring(members, edges[0][within], edges[1][within])
        feeding = np.isin(graph.blocking, ring) & ~np.isin(graph.waiting, ring)
        fed = np.bincount(graph.blocking[feeding], minlength=n)[ring]
        early = since[ring] <= since[ring].min() + 2 * poll
        heads = early & ~np.roll(early, -1)  # what it waits for was paused later
        by_time = int(heads.sum()) == 1
        trigger = ring[np.argmax(heads)] if by_time else ring[np.argmax(fed)]
        found.append(Circle(ring, int(trigger), by_time))
    return found


def _leads_out(queues: Queues, graph: Waits, still: Bools) -> Bools:
    """Return which queues wait, at the end, for something that may let go ([n]).

    A host, whatever is not read, or a queue that moves. A switch that stops others for no
    reason that the rule of tiers knows is none of these.
    """
    out = np.zeros(graph.vertices, bool)
    out[: graph.n] = ~still
    out[graph.n :] = queues.ends | queues.unseen | (queues.far < 0)
    while True:
        onward = graph.waiting[out[graph.blocking] & ~out[graph.waiting]]
        if not len(onward):
            return out[: graph.n]
        out[onward] = True


def _ring(members: Places, waiting: Places, blocking: Places) -> Places:
    """Return a shortest circle through the members, each waiting for the next."""
    after: dict[int, list[int]] = {}
    for one, other in zip(waiting.tolist(), blocking.tolist(), strict=True):
        after.setdefault(one, []).append(other)
    best: list[int] = []
    for start in members.tolist():
        came, front = {start: start}, [start]
        ring: list[int] = []
        while front and not ring:
            further = []
            for one in front:
                for other in after.get(one, ()):
                    if other == start:
                        ring = [one]
                        while ring[-1] != start:
                            ring.append(came[ring[-1]])
                        break
                    if other not in came:
                        came[other] = one
                        further.append(other)
                if ring:
                    break
            front = further
        if ring and (not best or len(ring) < len(best)):
            best = ring[::-1]
    return np.array(best or members.tolist(), np.intp)
