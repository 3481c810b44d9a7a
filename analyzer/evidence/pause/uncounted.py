"""Uncounted queues: neither end says for how much of the time they are stopped.

Where only the sender counts (InfiniBand), nothing is known of the queues of a switch that is not
read. One that something waits for, and whose way goes on to a queue that is known to be stopped,
passes on what is known at both sides and is no beginning of its own: it is taken to be stopped
while both are. What is not so explained stays told of the switch, or something behind it.
"""

from dataclasses import replace

import numpy as np

from analyzer.evidence.pause.crossings import PRIORITIES, Crossings
from analyzer.evidence.pause.shares import Shares
from analyzer.evidence.pause.waiting import PAUSED, Allowed, Bools, Places, Queues, meeting
from fabrichealth.model import Floats

FEW = 2
"""Uncounted queues one behind the other: up from one silent switch and down from another."""


def uncounted(ports: Crossings, stopped: Shares) -> Places:
    """Return the uncounted queues between switches that stopped queues lead to, and on to others.

    `stopped` is of all queues ([q]), with both ends' word.
    """
    unknown = np.flatnonzero(~np.isfinite(stopped.share).any(axis=1))
    if not len(unknown):
        return unknown
    port, priority = np.divmod(np.arange(len(stopped.share)), PRIORITIES)
    paused = np.nan_to_num(stopped.share).mean(axis=1) > PAUSED
    far = ports.far_device[port]
    devices = int(ports.device.max(initial=-1)) + 1
    led_to = _marked(far, priority, paused & (far >= 0), devices)
    leads_on = _marked(ports.device[port], priority, paused, devices)
    between = (ports.far >= 0) & ~ports.ends & ~ports.ends[ports.far]
    some = unknown[between[port[unknown]]]
    found = some
    for _ in range(FEW):  # through another that may pass on
        near, other, each = ports.device[port[some]], far[some], priority[some]
        found = some[led_to[near, each] & leads_on[other, each]]
        led_to[far[found], priority[found]] = True
        leads_on[ports.device[port[found]], priority[found]] = True
    return found


def _marked(device: Places, priority: Places, which: Bools, devices: int) -> Bools:
    """Return the devices and priorities that some queues belong to ([d, 8])."""
    found = np.zeros((devices, PRIORITIES), np.bool_)
    found[device[which], priority[which]] = True
    return found


def passed_on(queues: Queues, allowed: Allowed) -> Queues:
    """Return queues of which those that nobody counts are stopped while both their sides are."""
    unknown = ~np.isfinite(queues.paused).any(axis=1)
    some = np.flatnonzero(unknown & (queues.far >= 0) & ~queues.ends)
    if not len(some):
        return queues
    paused = queues.paused.copy()
    for _ in range(FEW):
        paused[some] = _between(queues, allowed, np.nan_to_num(paused), some)
    return replace(queues, paused=paused)


def _between(queues: Queues, allowed: Allowed, paused: Floats, some: Places) -> Floats:
    """Return for how much some queues may be stopped: by what follows, and what waits ([u, k])."""
    stopped = np.flatnonzero(paused.mean(axis=1) > PAUSED)
    most = int(queues.priority.max(initial=0)) + 1
    own = queues.device[some] * most + queues.priority[some]
    beyond = queues.device[queues.far[some]] * most + queues.priority[some]
    leaving = queues.device[stopped] * most + queues.priority[stopped]
    coming = queues.far_device[stopped] * most + queues.priority[stopped]
    one, other = meeting(beyond, leaving)
    turn = allowed.turns(queues, some[one], stopped[other])
    after = _most(paused, one[turn], stopped[other[turn]], len(some))
    one, other = meeting(own, coming)
    turn = allowed.turns(queues, stopped[other], some[one])
    before = _most(paused, one[turn], stopped[other[turn]], len(some))
    both = np.minimum(after, before)
    both[both.mean(axis=1) <= PAUSED] = np.nan
    return both


def _most(paused: Floats, one: Places, other: Places, size: int) -> Floats:
    """Return for each of some queues the most that one of its others is stopped ([u, k])."""
    found = np.zeros((size, paused.shape[1]))
    np.maximum.at(found, one, paused[other])
    return found
