"""Filling: what rates the flows of a lossless fabric come to, max-min, and who waits for whom.

All rates rise together until something is full. Where marks hold a queue, only the flows through it
stop to rise. Where pauses do, so does every flow that shares a queue with them before it: queues
are first in, first out, and each ingress is stopped once it sends more than its share. This is how
a storm spreads. It ends at queues that are held by marks, unless nothing moves: what never drains
marks nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]

TINY = 1.0
"""Bytes a second that make no difference."""


@dataclass(frozen=True)
class Filled:
    """What flows [f] and queues [q] come to."""

    rate: Floats
    """Bytes a second of each flow."""
    narrow: Bools
    """Queues that are full by themselves and stop those before them."""
    waiting: Bools
    """Queues that are stopped since something after them is full."""
    held: Bools
    """Queues whose senders heed their marks, so that they stop nobody."""
    waits: Bools
    """[q, q]: the first is stopped since the second is full or stopped."""

    @property
    def circle(self) -> Bools:
        """Queues that wait for themselves: nothing in a circle can go on."""
        reached = self.waits
        if not reached.any():
            return np.zeros(len(reached), np.bool_)
        for _ in range(int(reached.shape[0]).bit_length()):
            reached = reached | (reached.astype(np.uint8) @ reached.astype(np.uint8) > 0)
        return np.diagonal(reached).copy()


def fill(path: Places, demand: Floats, capacity: Floats, held: Bools) -> Filled:
    """Let rates rise until each flow has what it asks for or meets a full queue.

    `path[f, hop]` are queues in order, -1 where a way is shorter; `demand[f]` and `capacity[q]` are
    bytes a second; `held[q]` says where full queues are held by their senders, and pause nobody.
    """
    uses = np.zeros((len(capacity), len(demand)))
    flow, _ = np.nonzero(path >= 0)
    uses[path[path >= 0], flow] = 1.0
    before, after, by = _turns(path)
    rate = np.zeros(len(demand))
    rising = demand > 0
    narrow, waiting = np.zeros((2, len(capacity)), np.bool_)
    while rising.any():
        many = uses @ rising
        room = np.full(len(capacity), np.inf)
        np.divide(np.maximum(capacity - uses @ rate, 0.0), many, out=room, where=many > 0)
        step = min(float(room.min()), float((demand - rate)[rising].min()))
        rate[rising] += step
        full = np.flatnonzero((many > 0) & (room <= step + TINY))
        rising &= demand - rate > TINY
        stopped = np.zeros(len(demand), np.bool_)
        for queue in full.tolist():
            through = (uses[queue] > 0) & rising
            stopped |= through
            if held[queue] or not through.any():
                continue
            narrow[queue] = True
            live = rising[by] & (~held[after] | (after == queue) | (rate[through].max() <= TINY))
            tree = _behind(queue, len(capacity), before[live], after[live])
            waiting |= tree
            stopped |= (uses[tree].any(axis=0)) & rising
        rising &= ~stopped
    limited = demand - rate > TINY
    waits = np.zeros((len(capacity), len(capacity)), np.bool_)
    stops = narrow | (waiting & ~(held & (uses @ rate > TINY)))
    turn = limited[by] & waiting[before] & stops[after]
    waits[before[turn], after[turn]] = True
    return Filled(rate, narrow, waiting, held, waits)


def _turns(path: Places) -> tuple[Places, Places, Places]:
    """Return each turn from a queue into the next, and the flow that takes it."""
    flow, hop = np.nonzero(path[:, 1:] >= 0)
    return path[flow, hop], path[flow, hop + 1], flow


def _behind(queue: int, queues: int, before: Places, after: Places) -> Bools:
    """Return from which queues, however far before it, something would turn into a queue."""
    found = np.zeros(queues, np.bool_)
    edge = np.array([queue])
    while len(edge):
        near = np.unique(before[np.isin(after, edge)])
        edge = near[~found[near]]
        found[edge] = True
    return found
