"""A fabric as a fluid: rates settle within a step, pauses are shares of time.

Every queue is first in, first out. A device whose egress gets more than it can send stops, for a
share of the time, each queue that feeds it; that stops all else in those queues too (head-of-line
blocking), which is what spreads a storm. Where marks work, senders slow down to the narrowest
point before pauses are needed, but for a remainder (DCQCN); a queue that never drains marks
nothing, so that a dead receiver is not helped by it. Buffers of megabytes fill within a
millisecond at these rates, so a step of 200 ms and more sees nothing but what it settles to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]

HOPS = 4
"""Places of a way: out of the host, up from its leaf, down from the spine, out of the last leaf.

A queue has the same place in every way it is part of; a way within one leaf has the outer two.
"""

REMAINDER = 0.002
"""Share of time for which marks that work still need pauses."""

MTU = 4096
"""Bytes of a RoCE packet."""

MARKED = 0.02
"""Share of packets that a queue marks which is held between its thresholds; beyond them, all."""

ROUNDS = 200
LAST = 30
RELAX, RELAX_LATE = 1.02, 1.005
"""By so much a stop that is not needed is loosened in a round, early and in the second half."""

FULL, NEARLY = 0.999, 0.9
"""A queue has more than it can send that sends the first share of what it could in some rounds,
and the second in the mean: stops swing, what waits in a buffer does not."""

DEAD = 0.95
"""A queue stopped for more than this share never drains and marks nothing."""


class Fluid:
    """Queues by number, `names[q]` is (device, device at the far end); `path[f]` a flow's queues.

    A cable is two queues; no two cables join the same devices.
    """

    def __init__(self, cables: Sequence[tuple[str, str]], line: float) -> None:
        self.names = [*cables, *((far, near) for near, far in cables)]
        self.number = {name: place for place, name in enumerate(self.names)}
        self.line = line
        """Bytes a second of every cable as built."""
        self.path: Places = np.empty((0, HOPS), np.intp)
        self.demand: Floats = np.empty(0)
        """Bytes a second that each flow would like."""

    def flow(self, way: Sequence[str], rate: float) -> int:
        """Add a flow of so many bytes a second through these devices; return its number."""
        first, *middle, last = (self.number[hop] for hop in pairwise(way))
        places = [first, *(middle or [-1] * (HOPS - 2)), last]
        self.path = np.concatenate([self.path, [places]]).astype(np.intp)
        self.demand = np.append(self.demand, rate)
        return len(self.demand) - 1


@dataclass(frozen=True)
class State:
    """What is asked of a fabric for a while."""

    demand: Floats
    """Bytes a second of each flow, [f]."""
    forced: Floats
    """Share of time for which what faces a queue stops it, whatever comes ([q])."""
    capacity: Floats
    """Bytes a second that each queue can send, [q]."""
    marks: Bools
    """Whether a queue marks, [q]."""
    heeded: bool = True
    """Whether senders slow down for marks in this time."""

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for states that come to the same."""
        arrays = (self.demand, self.forced, self.capacity, self.marks)
        return (*(array.tobytes() for array in arrays), bytes([self.heeded]))


@dataclass(frozen=True)
class Settled:
    """What a fabric comes to in a state: [q] each."""

    stopped: Floats
    """Share of time for which the far end stops the queue."""
    sent: Floats
    """Bytes a second."""
    full: Bools
    marked: Floats
    """Packets marked a second."""


def settle(fluid: Fluid, states: Sequence[State]) -> list[Settled]:
    """Let rates and pauses settle in each of several states of one fabric, all at once."""
    n = len(fluid.names)
    path = np.where(fluid.path >= 0, fluid.path + (np.arange(len(states)) * n)[:, None, None], -1)
    path = path.reshape(-1, HOPS)
    capacity = np.concatenate([one.capacity for one in states])
    insisted = np.concatenate([one.forced for one in states])
    demand = np.concatenate([one.demand for one in states])
    marks = np.concatenate([one.marks for one in states])
    slows = np.repeat([one.heeded for one in states], n)
    stopped, wanted = insisted.copy(), demand.copy()
    able_to_mark = marks & (insisted <= DEAD)
    marked, brim = np.zeros(len(stopped)), np.zeros(len(stopped), np.bool_)
    all_stopped, all_sent, all_able = np.zeros((3, len(stopped)))
    feeds = _feeds(path)
    for turn in range(ROUNDS):
        able = capacity * (1.0 - stopped)
        scale, sent = _forward(path, wanted, able)
        marking = able_to_mark & (scale < 1.0)
        if turn < ROUNDS // 2:
            narrow = np.where(marking & slows, scale, 1.0)
            slowed = np.where(path >= 0, narrow[path], 1.0).min(axis=1)
            wanted = wanted * np.where(slowed < 1.0, slowed * (1 - REMAINDER), 1.0)
            marked = np.where(marking, sent / MTU * np.where(slows, MARKED, 1.0), marked)
        if turn >= ROUNDS - LAST:  # it may swing about what it settles to
            all_stopped += stopped
            all_sent += sent
            all_able += able
            brim |= (sent > 0) & (sent >= FULL * able)
        need = np.ones(len(capacity))
        for feeding, fed in feeds:
            np.minimum.at(need, feeding, scale[fed])
        relax = RELAX if turn < ROUNDS // 2 else RELAX_LATE
        going = np.where(need < 1.0, (1.0 - stopped) * need, (1.0 - stopped) * relax)
        stopped = np.maximum(insisted, 1.0 - np.minimum(going, 1.0))
    stopped, sent = all_stopped / LAST, all_sent / LAST
    held = (stopped > DEAD) & _asked(path, demand, len(stopped))
    full = (brim & (all_sent >= NEARLY * all_able)) | held | (marked > 0)
    rows = (array.reshape(len(states), n) for array in (stopped, sent, full, marked))
    return [Settled(*each) for each in zip(*rows, strict=True)]


def _feeds(path: Places) -> list[tuple[Places, Places]]:
    """Return pairs of queues of which the first feeds the second, place by place."""
    found, before = [], path[:, 0]
    for hop in range(1, HOPS):
        mine = path[:, hop] >= 0
        found.append((before[mine], path[mine, hop]))
        before = np.where(mine, path[:, hop], before)
    return found


def _asked(path: Places, demand: Floats, n: int) -> Bools:
    """Return which queues any flow would use."""
    used = np.zeros(n, np.bool_)
    queues = path[demand > 0]
    used[queues[queues >= 0]] = True
    return used


def _forward(path: Places, demand: Floats, able: Floats) -> tuple[Floats, Floats]:
    """Return how much of what comes each queue can send, and what it sends."""
    rate = demand.copy()
    scale, sent = np.ones(len(able)), np.zeros(len(able))
    for hop in range(HOPS):
        mine = path[:, hop] >= 0
        queue = path[mine, hop]
        comes = np.bincount(queue, rate[mine], len(able))
        part = np.where(comes > able, able / np.maximum(comes, 1.0), 1.0)
        used = comes > 0
        scale[used] = np.minimum(scale[used], part[used])
        sent += comes * part
        rate[mine] *= part[queue]
    return scale, sent
