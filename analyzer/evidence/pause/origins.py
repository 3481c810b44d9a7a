"""Origins: where the pauses of a fabric begin, and how much of them each origin explains.

Paused time flows along the edges of the graph, each queue's to what it waits for in proportion,
until it comes to something that waits for nothing: an absorbing Markov chain. What arrives there
is what that origin explains; what goes round in circles arrives nowhere (`circles`).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.pause.waiting import Places, Waits
from fabrichealth.model import Floats

DEEPEST = 32
"""Hops after which what still flows goes round in circles: no fabric is so deep."""

SETTLED = 1e-6

MOST = 64
"""Origins of one tree: each is judged by what it stops itself, and a crowd of lesser ones beside a
storm must not hide it."""


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """Queues that hang together by their pauses, and where these begin."""

    queues: Places
    """Every paused queue of it."""
    origins: Places
    """The likeliest origins, the best first; numbers as in `Waits`."""
    shares: Floats
    """Share of the tree's paused time that each explains."""
    seconds: float
    """Paused time of all its queues."""
    circling: float
    """Share of it that arrives nowhere."""


def absorbed(graph: Waits, paused: Floats) -> tuple[Floats, Floats]:
    """Return the paused time that arrives at each vertex, and what of each queue's arrives.

    `paused` is each queue's own paused time ([n], seconds); the first result is [2 n], the
    second [n], a share. Linear in edges times depth.
    """
    size = graph.vertices
    flow = _flow(graph)
    ends = np.ones(size, bool)
    ends[graph.waiting] = False
    arrived = np.zeros(size)
    left = np.zeros(size)
    left[: graph.n] = paused
    total = float(left.sum())
    forward = flow.T.tocsr()
    for _ in range(DEEPEST):
        arrived += np.where(ends, left, 0.0)
        left = np.where(ends, 0.0, left)
        if left.sum() <= SETTLED * total:
            break
        left = np.asarray(forward @ left, np.float64)
    home = ends.astype(np.float64)
    for _ in range(DEEPEST - 1):  # as many hops as above
        further = np.where(ends, 1.0, flow @ home)
        if np.abs(further - home).max(initial=0.0) <= SETTLED:
            break
        home = further
    return arrived, home[: graph.n]


def trees(graph: Waits, paused: Floats) -> list[Tree]:
    """Return the trees of pauses, the one with the most paused time first."""
    if not len(graph.waiting):
        return []
    arrived, home = absorbed(graph, paused)
    size = graph.vertices
    joined = csr_array(
        (np.ones(len(graph.waiting)), (graph.waiting, graph.blocking)), shape=(size, size)
    )
    _, label = connected_components(joined, directed=True, connection="weak")
    involved = np.unique(np.concatenate([graph.waiting, graph.blocking]))
    involved = involved[np.argsort(label[involved], kind="stable")]
    starts = np.flatnonzero(np.diff(label[involved], prepend=-1))
    found = []
    for members in np.split(involved, starts[1:]):
        queues = members[members < graph.n]
        seconds = float(paused[queues].sum())
        best = members[np.argsort(-arrived[members], kind="stable")][:MOST]
        best = best[arrived[best] > 0]
        circling = float((paused[queues] * (1.0 - home[queues])).sum())
        whole = seconds or 1.0
        found.append(Tree(queues, best, arrived[best] / whole, seconds, circling / whole))
    return sorted(found, key=lambda tree: -tree.seconds)


def victims(graph: Waits, origin: int) -> tuple[Places, Places]:
    """Return the queues that wait for an origin, directly or through others, and their depths.

    Nearest first; [v] and [v], the depth from 1.
    """
    order = np.argsort(graph.blocking, kind="stable")
    blocking, waiting = graph.blocking[order], graph.waiting[order]
    depth = np.zeros(graph.vertices, np.intp)
    seen = np.zeros(graph.vertices, bool)
    seen[origin] = True
    front = np.array([origin], np.intp)
    for step in range(1, DEEPEST + 1):
        first, last = np.searchsorted(blocking, front), np.searchsorted(blocking, front, "right")
        many = last - first
        place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        front = np.unique(waiting[np.repeat(first, many) + place])
        front = front[~seen[front]]
        if not len(front):
            break
        seen[front], depth[front] = True, step
    found = np.flatnonzero(depth)
    found = found[np.argsort(depth[found], kind="stable")]
    return found, depth[found]


def _flow(graph: Waits) -> csr_array:
    """Return the share of each vertex' paused time that goes to each other, [2 n, 2 n]."""
    size = graph.vertices
    weight = graph.share * graph.capacity
    out = np.bincount(graph.waiting, weight, size)
    share = weight / out[graph.waiting]
    return csr_array((share, (graph.waiting, graph.blocking)), shape=(size, size))
