"""Settling: what every queue sends, holds, marks and loses while a state of the fabric lasts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emulator.congestion.buffers import NOTIFY_SECONDS, Buffers, settled_share, stops
from emulator.congestion.filling import TINY, Bools, Filled, Floats, Places, fill
from emulator.ethernet import FRAME_BYTES

DEAD = 0.95
"""A queue stopped for more than this share never drains, and holds nobody by its marks."""

LOST = 0.002
"""Share of stops at which all of a short headroom is used: they seldom meet at full rate."""

BY_CHANCE = 2e-5
"""Share of packets that a queue marks at full load though nothing crowds it."""

MOST_LOST = 0.02
"""Share of what comes that is lost there at most."""


@dataclass(frozen=True)
class Asked:
    """A state of the fabric: flows [f] over queues [q] in order, rates in bytes a second."""

    path: Places
    demand: Floats
    heeds: Bools
    """Whether a flow slows down for marks."""
    line: Floats
    """What each queue can send; 0 where the cable is down."""
    forced: Floats
    """Share of time for which what faces a queue stops it, whatever comes."""
    locked: Bools
    """Queues in a deadlock."""
    owner: Sequence[Buffers | None]
    """Of the switch that sends a queue; None for a NIC."""
    far: Sequence[Buffers | None]
    """Of the switch that receives it."""
    switch: Places
    """[q]: number of the device that sends it."""


@dataclass(frozen=True)
class Settled:
    """What it comes to."""

    sent: Floats
    """Bytes a second of each queue."""
    stopped: Floats
    """Share of time for which the far end stops a queue."""
    stops: Floats
    """How many times a second it does."""
    marked: Floats
    """Packets marked a second."""
    held: Floats
    """Bytes in each queue."""
    lost: Floats
    """Bytes a second that the far end of a queue drops, having received them."""
    went: Floats
    """Which share of what it asks for each flow gets, 0 to 1."""
    arrived: Floats
    """Marked packets a second of each flow."""
    notified: Floats
    """Notifications a second for each flow, were its receiver to send them."""
    circle: Bools
    """Queues that have just locked each other."""


def settle(asked: Asked) -> Settled:
    """Return what a state comes to, which no longer changes while it lasts."""
    shut = asked.locked | (asked.line <= 0)
    capacity = np.where(shut, 0.0, asked.line * (1.0 - asked.forced))
    filled, fair = _filled(asked, capacity)
    lossless, _ = _carried(asked.path, filled.rate, np.zeros(len(capacity)))
    free = np.divide(lossless, asked.line, out=np.zeros_like(lossless), where=asked.line > 0)
    stopped = np.where(filled.waiting, np.maximum(1.0 - free, asked.forced), asked.forced)
    stopped = np.where(asked.locked, 1.0, stopped) * (asked.line > 0)
    often = np.array(
        [stops(*one) for one in zip(stopped.tolist(), asked.line.tolist(), strict=True)]
    )
    gone = _gone(asked, filled, often, lossless)
    sent, kept = _carried(asked.path, filled.rate, gone)
    held, share = _held(asked, filled, fair, capacity, sent)
    share_at = np.append(share, 0.0)[asked.path]  # the last is that of no queue, at -1
    arrived = kept / FRAME_BYTES * (1.0 - np.prod(1.0 - share_at, axis=1))
    went = np.divide(kept, asked.demand, out=np.ones_like(kept), where=asked.demand > 0)
    return Settled(
        sent, stopped, often, share * sent / FRAME_BYTES, held, gone * sent, went, arrived,
        np.minimum(arrived, 1.0 / NOTIFY_SECONDS), filled.circle & ~asked.locked,
    )  # fmt: skip


def _filled(asked: Asked, capacity: Floats) -> tuple[Filled, Floats]:
    """Fill, and find what each queue may hold: the more are full, the less, and marks come late."""
    many = np.zeros(len(capacity), np.intp)
    deaf = np.zeros(len(capacity), np.bool_)
    live = asked.demand > 0
    for flow in np.flatnonzero(live).tolist():
        queues = asked.path[flow][asked.path[flow] >= 0]
        many[queues] += 1
        deaf[queues] |= not asked.heeds[flow]
    full = np.ones(len(capacity))
    while True:
        fair = np.array([
            np.inf if one is None else one.fair(n)
            for one, n in zip(asked.owner, full.tolist(), strict=True)
        ])  # fmt: skip
        held = np.array([
            one is None
            or (one.marks and not deaf[q] and asked.forced[q] <= DEAD and not asked.locked[q]
                and one.held_by_marks(int(many[q]), float(capacity[q])) < fair[q])
            for q, one in enumerate(asked.owner)
        ])  # fmt: skip
        filled = fill(asked.path, asked.demand, capacity, held)
        crowd = np.bincount(asked.switch[filled.narrow | filled.waiting | asked.locked],
                            minlength=int(asked.switch.max()) + 1)  # fmt: skip
        fuller = np.maximum(full, crowd[asked.switch])
        if (fuller == full).all():
            return filled, fair
        full = fuller


def _carried(path: Places, rate: Floats, gone: Floats) -> tuple[Floats, Floats]:
    """Return what each queue sends and what of each flow arrives, less what far ends drop."""
    sent, left = np.zeros(len(gone)), rate.copy()
    for hop in range(path.shape[1]):
        mine = path[:, hop] >= 0
        queue = path[mine, hop]
        sent += np.bincount(queue, left[mine], len(gone))
        left[mine] *= 1.0 - gone[queue]
    return sent, left


def _gone(asked: Asked, filled: Filled, often: Floats, sent: Floats) -> Floats:
    """Return the share that the far end of each queue drops for want of headroom."""
    gone = np.zeros(len(sent))
    for queue in np.flatnonzero(filled.waiting & (sent > 0)).tolist():
        far = asked.far[queue]
        if far is not None:
            short = LOST * often[queue] * far.lost(float(asked.line[queue]))
            gone[queue] = min(short / sent[queue], MOST_LOST)
    return gone


def _held(
    asked: Asked, filled: Filled, fair: Floats, capacity: Floats, sent: Floats
) -> tuple[Floats, Floats]:
    """Return how much each queue holds, and which share of its packets it marks."""
    held, share = np.zeros((2, len(sent)))
    crowd = np.zeros(len(sent), np.intp)
    queues = asked.path[asked.demand > 0]
    np.add.at(crowd, queues[queues >= 0], 1)
    for queue, one in enumerate(asked.owner):
        if one is None or not crowd[queue]:
            continue
        able = float(capacity[queue])
        kept = filled.held[queue] and sent[queue] > TINY
        if asked.locked[queue] or filled.narrow[queue] or (filled.waiting[queue] and not kept):
            held[queue] = fair[queue]
            share[queue] = one.marked(held[queue])
        elif filled.waiting[queue] or (able > 0 and sent[queue] >= able * (1.0 - 1e-6)):
            able = min(able, float(sent[queue]))  # its senders hold it
            held[queue] = one.held_by_marks(int(crowd[queue]), able)
            share[queue] = settled_share(int(crowd[queue]), able)
        elif able > 0:  # as of packets that come by chance
            load = sent[queue] / able
            held[queue] = min(FRAME_BYTES * load / (1.0 - load), one.least)
            share[queue] = BY_CHANCE * load if one.marks else 0.0
    return held, share
