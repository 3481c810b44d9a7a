"""Waiting: the graph of queues that wait for other queues.

A vertex is the egress queue of one lossless priority at one port. A queue that its peer pauses
waits for whatever fills the peer's buffer: the peer's own egress queues that are paused or
congested themselves and that its packets may be going to; or, where the peer is a host, the
host. (Provenance by port and priority as in Hawkeye, SIGCOMM 2025, from counters instead of
from flow telemetry on programmable switches.)

A route is known from `routing`, else from tiers: in a Clos nothing that came down goes up again
("valley-free"), and nothing leaves by the port that it came in by. How much goes which of several
ways no counter of a port tells; it is taken to spread by capacity.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.pause.containment import CLOSER, by_time, contained, unlike
from fabrichealth.model import Floats

Places = NDArray[np.intp]
Bools = NDArray[np.bool_]

PAUSED = 0.01
"""A queue is worth following from this share of time on (below 0.1 % is normal, C2)."""

LEAST_OVERLAP = 0.05
"""Of the time for which one waits, another must be paused for so much to be its reason."""


@dataclass(frozen=True, eq=False, slots=True)
class Queues:
    """Egress queues, [n] each; `far` is the queue of the same priority at the cable's far end."""

    device: Places
    port: Places
    priority: Places
    far: Places
    """-1 where nothing faces the port, or what does is not read."""
    far_device: Places
    """What the cable leads to, read or not; -1 where nothing is known to face the port."""
    ends: Bools
    """Whether the far end forwards nothing: a host, a NIC, an accelerator."""
    unseen: Bools
    """Whether nothing is read of the device at the far end."""
    upward: Bools
    """Whether the port leads away from the hosts."""
    paused: Floats
    """Share of each stretch of time for which the far end stopped the queue, [n, k]."""
    congested: Floats
    """How full the queue is without being paused, 0 to 1: deep, or at line rate."""
    dark: Places
    """What the cable leads to, one number for silent devices that are cabled to each other."""
    speed: Floats
    """Of each queue's port, bit/s; NaN unknown."""
    exact: Bools
    """Whether its paused share is counted as time; else frames bound it from above."""
    pace: Floats
    """Seconds between the polls of its paused share; NaN unknown."""
    read: Floats
    """When the newest of these was read, unix seconds; NaN unknown."""
    hidden: Bools
    """Whether the far end is read but has another egress it may wait for that nobody tells of."""


@dataclass(frozen=True, eq=False, slots=True)
class Waits:
    """Edges: queue `waiting[e]` waits for `blocking[e]`, for a share of its paused time.

    A number from `n` on stands for what faces queue `number - n`: the port of a host that takes
    nothing, or a device that stops others for no reason that can be seen (one number for all the
    queues of a priority that it stops).
    """

    n: int
    waiting: Places
    blocking: Places
    share: Floats
    capacity: Floats
    """What the way to `blocking` can carry, relative to the fastest ([e]): where next hops are not
    known how often, packets are taken to spread by it."""

    @property
    def vertices(self) -> int:
        """Numbers that can occur."""
        return 2 * self.n


def waits(queues: Queues, allowed: "Allowed", floor: float = PAUSED) -> Waits:
    """Return who waits for whom among queues paused for more than `floor` of the time."""
    n = len(queues.device)
    level = _level(queues.paused)
    stopped = np.flatnonzero(level > floor)
    waiting, blocking = _beyond(queues, stopped, level, allowed, floor)
    overlap = contained(queues.paused, waiting, blocking)
    apart = unlike(queues.pace, waiting, blocking)
    if len(apart):
        pairs = waiting[apart], blocking[apart]
        overlap[apart] = by_time(queues.paused, queues.pace, queues.read, *pairs)
    full = queues.congested[blocking]
    share = np.where(level[blocking] > floor, np.maximum(overlap, full), full)
    keep = share > LEAST_OVERLAP
    waiting, blocking, share = waiting[keep], blocking[keep], share[keep]
    dead_end = np.setdiff1d(stopped, waiting)
    front, rest = _unexplained(queues, waiting, share)
    fastest = float(np.fmax.reduce(queues.speed, initial=1.0))
    capacity = np.nan_to_num(queues.speed[blocking] / fastest, nan=1.0)
    ends = np.concatenate([dead_end, front])
    return Waits(
        n,
        np.concatenate([waiting, ends]),
        np.concatenate([blocking, n + _faced(queues, level, ends)]),
        np.concatenate([share, np.ones(len(dead_end)), rest]),
        np.concatenate([capacity, np.ones(len(ends))]),
    )


@dataclass(frozen=True, eq=False, slots=True)
class Allowed:
    """Which turns packets may take at a device: from the queue they wait in, to an egress.

    At one that is not read, or where a host is not, no more is believed than what goes up, or
    further down towards hosts: what its other queues wait for would else be made up.
    """

    valley_free: bool = True
    """Whether what came down never goes up again; of devices without written routes."""
    routed: Bools | None = None
    """[n]: egresses that some written route of their device names; None where none is written."""

    def turns(self, queues: Queues, waiting: Places, blocking: Places) -> Bools:
        """Return which turns are possible ([e])."""
        back = queues.far[waiting] == blocking
        down = ~queues.upward[waiting]  # it travels down: the far end must send it further down
        possible = ~back
        if self.valley_free:
            possible &= ~(down & queues.upward[blocking])
        if self.routed is not None:
            possible |= self.routed[blocking] & ~back
        blind = (queues.unseen | doubted(queues))[waiting]
        possible &= ~blind | queues.upward[waiting] | _downward(queues)[blocking]
        return np.asarray(possible, np.bool_)


def _downward(queues: Queues) -> Bools:
    """Return which queues lead towards hosts ([n]): to one, or to what calls the way back up."""
    back = queues.upward[np.maximum(queues.far, 0)] & (queues.far >= 0)
    return np.asarray(queues.ends | back, np.bool_)


def doubted(queues: Queues) -> Bools:
    """Return which queues wait where a hidden egress would explain them as well as a circle ([n]).

    A slow host stops all that comes its way; a circle alone stops one queue. So it does if another
    that comes the same way waits there too, or was not asked as often.
    """
    if not queues.hidden.any():
        return queues.hidden
    with np.errstate(invalid="ignore"):
        seldom = queues.pace > CLOSER * np.fmin.reduce(queues.pace, initial=np.inf)
    waits = (np.nan_to_num(queues.paused[:, -2:]).max(axis=1) > PAUSED) | seldom
    keys = np.stack([queues.far_device, queues.priority, queues.upward])
    _, way = np.unique(keys, axis=1, return_inverse=True)
    return np.asarray(queues.hidden & (np.bincount(way, waits)[way] - waits > 0), np.bool_)


def _unexplained(queues: Queues, waiting: Places, share: Floats) -> tuple[Places, Floats]:
    """Return queues that wait for a switch that is not read, and for how much nobody tells why.

    What its neighbours say of its queues is known; of those that lead to others nothing is.
    """
    most = np.zeros(len(queues.device))
    np.maximum.at(most, waiting, share)
    known = np.unique(waiting)
    front = known[queues.unseen[known] & (1.0 - most[known] > LEAST_OVERLAP)]
    return front, 1.0 - most[front]


def _faced(queues: Queues, level: Floats, ends: Places) -> Places:
    """Return for each of some queues that wait for nothing known the one that stands for all.

    Of those that face the same the most paused, and first those whose pauses are counted as time.
    """
    most = int(queues.priority.max(initial=0)) + 1
    alone = queues.ends[ends] | (queues.far_device[ends] < 0)
    order = np.lexsort((-level[ends], ~queues.exact[ends]))
    key = (queues.dark[ends] * most + queues.priority[ends])[order]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    faced = np.empty(len(ends), np.intp)
    faced[order] = ends[order[first[group]]]
    return np.asarray(np.where(alone, ends, faced), np.intp)


def _level(paused: Floats) -> Floats:
    """Return the mean share of time ([n]); what is not known counts as not paused."""
    known = np.isfinite(paused)
    return np.asarray(
        np.where(known, paused, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1), np.float64
    )


def _beyond(
    queues: Queues, stopped: Places, level: Floats, allowed: Allowed, floor: float
) -> tuple[Places, Places]:
    """Return pairs of a stopped queue and an egress of its peer that may be the reason."""
    onward = stopped[~queues.ends[stopped] & (queues.far[stopped] >= 0)]
    reasons = np.flatnonzero((level > floor) | (queues.congested > LEAST_OVERLAP))
    most = int(queues.priority.max(initial=0)) + 1
    peer = queues.device[queues.far[onward]] * most + queues.priority[onward]
    one, other = meeting(peer, queues.device[reasons] * most + queues.priority[reasons])
    waiting, blocking = onward[one], reasons[other]
    turn = allowed.turns(queues, waiting, blocking)
    return waiting[turn], blocking[turn]


def meeting(one: Places, other: Places) -> tuple[Places, Places]:
    """Return the pairs of places at which `one` and `other` have the same key ([e], [e])."""
    order = np.argsort(other, kind="stable")
    key = other[order]
    first, last = np.searchsorted(key, one), np.searchsorted(key, one, "right")
    many = last - first
    place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(np.arange(len(one)), many), order[np.repeat(first, many) + place]
