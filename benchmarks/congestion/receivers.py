"""Cases in which something stops others: receivers, broken NICs, circles, short headroom."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from benchmarks.congestion.case import (
    Case,
    Chop,
    Queue,
    Read,
    Told,
    Truth,
    calm,
    log_uniform,
    stopping,
)
from benchmarks.congestion.fabrics import Fabric, either, leaf_spine
from benchmarks.congestion.fluid import State

STORM = ("pfc.storm",)
SLOW = ("pfc.slow_receiver",)


def port(device: str, far: str) -> str:
    """Return the name of the port of a device that faces another."""
    return f"{device}/{far}"


def receiver(
    made: Fabric, many: int = 3, least: float = 0.05, most: float = 0.25
) -> tuple[str, str]:
    """Return a host and a leaf of it, after others began to send to it that way.

    `many` of them, each at `least` to `most` of the line rate.
    """
    chance = made.chance
    host = str(chance.choice(made.hosts))
    leaf = str(chance.choice(made.leaves_of(host)))
    others = [one for one in made.hosts if one != host]
    for one in chance.choice(others, many, replace=False):
        mine = made.leaves_of(str(one))
        below = leaf if leaf in mine else mine[0]
        made.between((str(one), below), (leaf, host), float(chance.uniform(least, most)))
    return host, leaf


def read(chance: np.random.Generator, hosts: float = 0.7) -> Read:
    """Return how much of a fabric is read: hosts or not, time of both directions or of one."""
    return Read(hosts=bool(chance.random() < hosts), tx_time=bool(chance.random() < 0.5))


def _chopped(made: Fabric, queue: Queue, chop: Chop) -> Callable[[float, float], State]:
    state = calm(made)
    return lambda start, end: stopping(made, {queue: chop.share(start, end)}, state)


def _steady(made: Fabric, shares: Mapping[Queue, float]) -> Callable[[float, float], State]:
    state = stopping(made, shares, calm(made))
    return lambda start, end: state


def broken_nic(chance: np.random.Generator) -> Case:
    """Return a NIC that stops its leaf all the time."""
    made = either(chance)
    host, leaf = receiver(made)
    return Case(
        made, Truth(dict.fromkeys(STORM, (port(host, leaf),))), _steady(made, {(leaf, host): 1.0}),
        read(chance), period=float(chance.choice([1.0, 1.0, 2.0, 5.0])), after=20.0, duty=1.0,
        faced=(port(leaf, host),),
    )  # fmt: skip


def _choppy(chance: np.random.Generator, low: float, high: float) -> Case:
    made = either(chance)
    host, leaf = receiver(made)
    duty, turn = float(chance.uniform(low, high)), log_uniform(chance, 0.01, 2.0)
    chop = Chop(duty, turn, float(chance.uniform(0.0, turn)))
    return Case(
        made, Truth(dict.fromkeys(STORM, (port(host, leaf),))),
        _chopped(made, (leaf, host), chop), read(chance), duty=duty, turn=turn,
        faced=(port(leaf, host),),
    )  # fmt: skip


def choppy_storm(chance: np.random.Generator) -> Case:
    """Return a NIC that stops its leaf for 60 to 100 % of the time, with breaks."""
    return _choppy(chance, 0.6, 0.99)


def half_storm(chance: np.random.Generator) -> Case:
    """Return a NIC that does so for 50 to 60 % of the time."""
    return _choppy(chance, 0.5, 0.6)


def mild_storm(chance: np.random.Generator) -> Case:
    """Return a host that stops its leaf for 30 to 50 % of the time: slow rather than broken."""
    return _slow(chance, 0.3, 0.48, STORM)


def slow_receiver(chance: np.random.Generator) -> Case:
    """Return a host that takes less than it is sent."""
    return _slow(chance, 0.02, 0.3, ())


def _slow(chance: np.random.Generator, low: float, high: float, besides: tuple[str, ...]) -> Case:
    made = either(chance)
    host, leaf = receiver(made)
    duty, turn = float(chance.uniform(low, high)), log_uniform(chance, 0.01, 2.0)
    chop = Chop(duty, turn, float(chance.uniform(0.0, turn)))
    return Case(
        made, Truth(dict.fromkeys((*SLOW, *besides), (port(host, leaf),))),
        _chopped(made, (leaf, host), chop), read(chance),
        period=float(chance.choice([3.0, 5.0])), before=20.0, after=85.0, duty=duty, turn=turn,
        faced=(port(leaf, host),),
    )  # fmt: skip


def frames_only(chance: np.random.Generator) -> Case:
    """Return a NIC that stops its leaf in a fabric that counts frames and no time: a bound."""
    made = either(chance)
    host, leaf = receiver(made)
    return Case(
        made, Truth(dict.fromkeys(SLOW, (port(host, leaf),)), says="at most"),
        _steady(made, {(leaf, host): 1.0}), Read(tx_time=False, rx_time=False),
        period=5.0, before=20.0, after=85.0, duty=1.0, faced=(port(leaf, host),),
    )  # fmt: skip


def half_silent(chance: np.random.Generator) -> Case:
    """Return a broken NIC under a leaf that is not read, nor half of the other switches."""
    made = leaf_spine(chance)
    host, leaf = receiver(made)
    far = [one for one in made.hosts if one not in made.faced(leaf)]
    for place, one in enumerate(chance.choice(far, 6).tolist()):
        spine = made.spines[place % len(made.spines)]
        made.between((one, made.leaves_of(one)[0]), (leaf, host), 0.08, spine)
    others = [one for one in made.switches if one != leaf]
    many = len(made.switches) // 2 - 1
    silent = set(chance.choice(others, many, replace=False).tolist()) if many > 0 else set()
    if silent >= set(made.spines):
        silent.discard(str(chance.choice(made.spines)))
    dark = frozenset({leaf, *silent})
    behind = tuple(port(near, far) for near, far in made.fluid.names if near in dark)
    return Case(
        made, Truth(dict.fromkeys(STORM, behind), says="unseen"),
        _steady(made, {(leaf, host): 1.0}),
        Read(hosts=False, tx_time=bool(chance.random() < 0.5), silent=dark),
        after=20.0, duty=1.0, faced=(port(leaf, host),),
    )  # fmt: skip


def watchdog_acting(chance: np.random.Generator) -> Case:
    """Return a steady storm that a watchdog drops and restores, over and over."""
    made = either(chance)
    host, leaf = receiver(made)
    return Case(
        made, Truth(dict.fromkeys(STORM, (port(host, leaf),))), _steady(made, {(leaf, host): 1.0}),
        read(chance), after=45.0, duty=1.0, acting=True,
        faced=(port(leaf, host),),
    )  # fmt: skip


def deadlock(chance: np.random.Generator) -> Case:
    """Return queues of four switches, seldom of six, that stop each other for ever."""
    made = either(chance)
    receiver(made)
    most = min(len(made.leaves), len(made.spines), 3)
    many = 2 if chance.random() < 0.75 else most  # pairs of leaf and spine
    leaves = chance.choice(made.leaves, many, replace=False).tolist()
    spines = chance.choice(made.spines, many, replace=False).tolist()
    ring: list[Queue] = []
    for place, (leaf, spine) in enumerate(zip(leaves, spines, strict=True)):
        ring += [(leaf, spine), (spine, leaves[(place + 1) % many])]
    lead = float(chance.choice([0.0, 4.0, 6.0]))
    first = ring[int(chance.integers(len(ring)))]
    whole = stopping(made, dict.fromkeys(ring, 1.0), calm(made))
    alone = stopping(made, {first: 1.0}, calm(made))
    members = tuple(port(*queue) for queue in ring)
    near = {*leaves, *spines}
    there = tuple(port(*queue) for queue in made.fluid.names if near >= set(queue))
    behind = tuple(port(*queue[::-1]) for queue in ring)
    return Case(
        made, Truth({"pfc.deadlock": there}, {"pfc.storm": (*members, *behind)},
                    trigger=port(*first) if lead else ""),
        lambda start, end: whole if start >= 0.0 else alone, read(chance),
        before=10.0 + lead, after=12.0, lead=lead, faced=members,
    )  # fmt: skip


def short_headroom(chance: np.random.Generator) -> Case:
    """Return a slow receiver whose leaf loses packets at one ingress whenever it stops it."""
    made = either(chance)
    host, leaf = receiver(made, many=5, least=0.2, most=0.45)
    fluid = made.fluid
    place = fluid.number[leaf, host]
    way = next(hops for hops in fluid.path[::-1].tolist() if place in hops)
    near, far = fluid.names[[hop for hop in way if hop >= 0][-2]]
    duty = float(chance.uniform(0.35, 0.48))
    state = replace(calm(made), heeded=False)
    chop = Chop(duty, log_uniform(chance, 0.01, 0.5))
    return Case(
        made,
        Truth({"pfc.headroom_short": (port(far, near),)},
              dict.fromkeys((*SLOW, *STORM), (port(host, leaf),))),
        lambda start, end: stopping(made, {(leaf, host): chop.share(start, end)}, state),
        read(chance), Told(dropping=frozenset({(near, far)})),
        period=float(chance.choice([1.0, 5.0])), after=25.0,
    )  # fmt: skip


def resume_frames(chance: np.random.Generator) -> Case:
    """Return frames by the million that let a queue go on: nothing is stopped, nothing is wrong."""
    made = either(chance)
    host, leaf = receiver(made)
    state = calm(made)
    rate = log_uniform(chance, 1e5, 2e6)
    return Case(
        made, Truth(), lambda start, end: state, read(chance), Told(resuming={(leaf, host): rate}),
        period=5.0, before=10.0, after=85.0,
    )  # fmt: skip
