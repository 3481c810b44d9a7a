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

from analyzer.evidence.pause.standing import Standing
from analyzer.evidence.pause.waiting import Bools, Places, Queues, Waits, doubted
from fabrichealth.model import Floats

MOST = 4
"""Circles of one priority that hang together: of more the first to clear say enough."""


@dataclass(frozen=True, eq=False, slots=True)
class Circle:
    """One deadlock."""

    members: Places
    """Its queues in the order in which each waits for the next."""
    trigger: int
    """The member where it began, as well as can be told."""
    by_time: bool
    """Whether the trigger was paused clearly before what it waits for; else it is the one that
    all circles around it pass, of these the one that most queues outside feed. What waits for the
    trigger may be paused as soon as it."""


def closed(queues: Queues, graph: Waits, stand: Standing, late: Bools | None = None) -> Bools:
    """Return which standing queues wait, on every way, for others that stand ([n]).

    From the others a way leads to something that may let go: a host, whatever is not read (a
    device, or a port of it to a host, if more waits there), or a queue that moves, though not so
    much that nothing that waits for it could stand still. A switch that stops others for no reason
    that the rule of tiers knows is none of these. `graph` is who waits for whom by what is known of
    routes; `late` ([n]) says where the far end has not told yet what it waits for itself: that may
    be a way out.
    """
    waiting = np.bincount(graph.blocking, minlength=graph.vertices)
    holding = np.ones(graph.vertices, bool)
    holding[: graph.n] = stand.still | stand.holding(waiting[: graph.n])
    out = np.zeros(graph.vertices, bool)
    out[: graph.n] = (~stand.still & holding[: graph.n]) | doubted(queues)
    out[graph.n :] = queues.ends | queues.unseen | (queues.far < 0)
    if late is not None:
        out[: graph.n] |= late
    edges = holding[graph.blocking]
    one, other = graph.waiting[edges], graph.blocking[edges]
    while True:
        onward = one[out[other] & ~out[one]]
        if not len(onward):
            return np.asarray(stand.still & ~out[: graph.n], np.bool_)
        out[onward] = True


def circles(shut: Bools, graph: Waits, free: Waits, since: Floats, poll: float) -> list[Circle]:
    """Return the deadlocks among queues that stand and from which no way leads out (`closed`).

    A packet that was sent up again after it came down closes circles that no rule of tiers
    allows, so they are looked for in `free`, who waits for whom without that rule. `since` says
    when each queue was first paused (unix seconds, [n]), and two polls apart (`poll` seconds
    each) is an order.
    """
    n = free.n
    inside = np.flatnonzero((free.blocking < n) & shut[free.waiting])
    inside = inside[shut[free.blocking[inside]]]
    edges = (free.waiting[inside], free.blocking[inside])
    matrix = csr_array((np.ones(len(edges[0])), edges), shape=(n, n))
    _, label = connected_components(matrix, directed=True, connection="strong")
    found = []
    for name in np.flatnonzero(np.bincount(label[shut], minlength=1) > 1):
        members = np.flatnonzero((label == name) & shut)
        within = (label[edges[0]] == name) & (label[edges[1]] == name)
        found += _interlocked(members, edges[0][within], edges[1][within], graph, since, poll)
    return found


def _interlocked(
    members: Places, waiting: Places, blocking: Places, graph: Waits, since: Floats, poll: float
) -> list[Circle]:
    """Return the circles of one strong component, until what they begin with opens all of it.

    Where time does not tell which queue was first it is one that all circles pass, if there is any.
    """
    found: list[Circle] = []
    while len(found) < MOST and len(members):
        ring = _ring(members, waiting, blocking)
        feeding = np.isin(graph.blocking, ring) & ~np.isin(graph.waiting, ring)
        fed = np.bincount(graph.blocking[feeding], minlength=graph.n)[ring]
        early = since[ring] <= since[ring].min() + 2 * poll
        heads = early & ~np.roll(early, -1)  # what it waits for was paused later
        by_time = int(heads.sum()) == 1
        if by_time:
            trigger = int(ring[np.argmax(heads)])
        else:
            shuts = [len(_circular(waiting, blocking, one)) > 0 for one in ring.tolist()]
            trigger = int(ring[np.lexsort((-fed, np.array(shuts)))[0]])
        found.append(Circle(ring, trigger, by_time))
        members = _circular(waiting, blocking, trigger)
        left = np.isin(waiting, members) & np.isin(blocking, members)
        waiting, blocking = waiting[left], blocking[left]
    return found


def _circular(waiting: Places, blocking: Places, without: int) -> Places:
    """Return the queues that some circle of edges passes, one queue left out."""
    left = (waiting != without) & (blocking != without)
    queues, place = np.unique([waiting[left], blocking[left]], return_inverse=True)
    edges = place.reshape(2, -1)
    n = len(queues)
    matrix = csr_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(n, n))
    _, label = connected_components(matrix, directed=True, connection="strong")
    return np.asarray(queues[np.bincount(label, minlength=1)[label] > 1], np.intp)


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
