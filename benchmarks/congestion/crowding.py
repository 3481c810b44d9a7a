"""Cases in which more comes than fits: incast, marks that fail, hot and degraded links, bursts."""

from dataclasses import replace

import numpy as np

from benchmarks.congestion.case import Case, Read, Told, Truth, asking, calm
from benchmarks.congestion.fabrics import Fabric, either, leaf_spine
from benchmarks.congestion.fluid import State
from benchmarks.congestion.receivers import port, read

ECN = "pfc.ecn_misconfigured"


def _crowd(made: Fabric, many: int, share: float) -> tuple[str, str, list[int]]:
    """Let many hosts send to one by one leaf; return it, the leaf and the flows."""
    chance = made.chance
    host = str(chance.choice(made.hosts))
    leaf = str(chance.choice(made.leaves_of(host)))
    others = [one for one in made.hosts if one != host]
    flows: list[int] = []
    for one in chance.choice(others, min(many, len(others)), replace=False).tolist():
        mine = made.leaves_of(one)
        below = leaf if leaf in mine else mine[0]
        spine = made.spines[len(flows) % len(made.spines)]
        flows.append(made.between((one, below), (leaf, host), share, spine))
    return host, leaf, flows


def _before_and_after(made: Fabric, ill: State, flows: list[int]) -> State:
    """Keep out of the calm past what only begins with the onset; return the ill state."""
    made.fluid.demand[flows] = 0.0
    return ill


def _incast(chance: np.random.Generator) -> tuple[Fabric, str, str, list[int]]:
    made = either(chance)
    host, leaf, flows = _crowd(made, int(chance.integers(5, 9)), float(chance.uniform(0.3, 0.42)))
    return made, host, leaf, flows


def marks_off(chance: np.random.Generator) -> Case:
    """Return many senders to one host where no switch marks: pauses do the work."""
    made, host, leaf, flows = _incast(chance)
    ill = calm(made)
    ill = _before_and_after(made, replace(ill, marks=np.zeros_like(ill.marks)), flows)
    return Case(
        made, Truth({ECN: (port(leaf, host), leaf)},
                    {ECN: (*made.switches, *_ports_of(made))}),
        lambda start, end: ill, read(chance), period=float(chance.choice([3.0, 5.0])),
        before=20.0, after=130.0,
    )  # fmt: skip


def marks_too_late(chance: np.random.Generator) -> Case:
    """Return a leaf whose K_max lies beyond what a queue may hold, as its configuration says."""
    made = either(chance)
    leaf = str(chance.choice(made.leaves))
    state = calm(made)
    times = float(chance.uniform(1.15, 4.0))
    return Case(
        made, Truth({ECN: (leaf, *(port(leaf, far) for near, far in made.fluid.names
                                   if near == leaf))}),
        lambda start, end: state, replace(read(chance), thresholds=True),
        Told(mark_from={leaf: times}), period=5.0, before=10.0, after=85.0,
    )  # fmt: skip


def deaf_nic(chance: np.random.Generator) -> Case:
    """Return many senders to a host that notifies none of them of marks."""
    made, host, leaf, flows = _incast(chance)
    ill = _before_and_after(made, replace(calm(made), heeded=False), flows)
    return Case(
        made, Truth({ECN: (port(host, leaf), host)}), lambda start, end: ill,
        Read(tx_time=bool(chance.random() < 0.5), thresholds=bool(chance.random() < 0.5)),
        Told(deaf=frozenset({host})), period=float(chance.choice([3.0, 5.0])),
        before=20.0, after=130.0,
    )  # fmt: skip


def marks_work(chance: np.random.Generator) -> Case:
    """Return many senders to one host, slowed down by marks as they should be: no fault."""
    made, _, _, flows = _incast(chance)
    ill = _before_and_after(made, calm(made), flows)
    return Case(
        made, Truth(), lambda start, end: ill,
        replace(read(chance), thresholds=bool(chance.random() < 0.5)),
        period=float(chance.choice([3.0, 5.0])), before=20.0, after=130.0,
    )  # fmt: skip


def lasting_incast(chance: np.random.Generator) -> Case:
    """Return many senders that marks do not slow down enough: one full port, others wait."""
    made, host, leaf, flows = _incast(chance)
    ill = _before_and_after(made, replace(calm(made), heeded=False), flows)
    return Case(
        made, Truth({"pfc.incast": (port(leaf, host),)}), lambda start, end: ill, read(chance),
        period=float(chance.choice([3.0, 5.0])), before=20.0, after=85.0,
    )  # fmt: skip


def degraded_link(chance: np.random.Generator) -> Case:
    """Return a cable between leaf and spine at half its rate, or one that loses half to errors."""
    made = either(chance)
    leaf, spine = str(chance.choice(made.leaves)), str(chance.choice(made.spines))
    below = [one for one in made.hosts if leaf in made.leaves_of(one)]
    others = [one for one in made.leaves if one != leaf]
    for place, one in enumerate(chance.choice(below, min(5, len(below)), replace=False).tolist()):
        far = others[place % len(others)]
        to = str(chance.choice([host for host in made.faced(far) if host != one]))
        made.between((one, leaf), (far, to), 0.2, spine)
    ill = replace(calm(made), heeded=bool(chance.random() < 0.5))
    ends = ((leaf, spine), (spine, leaf))
    ill.capacity[[made.fluid.number[end] for end in ends]] *= 0.5
    link = _link(made, leaf, spine)
    kinds: tuple[str, ...] = ("link.degraded_speed",)
    told = Told(speed=dict.fromkeys(ends, 0.5))
    if chance.random() < 0.5:
        told = Told(uncorrectable={ends[0]: float(chance.uniform(50.0, 5000.0))})
        kinds = ("link.subhealthy", "link.will_fail")
    return Case(
        made, Truth(dict.fromkeys(kinds, (link,)), {"pfc.incast": ()}), lambda start, end: ill,
        read(chance), told, period=5.0, before=40.0, after=90.0, also_links=True,
    )  # fmt: skip


def _link(made: Fabric, one: str, other: str) -> str:
    return next(
        name for name, link in made.topology().links.items()
        if {end.device for end in link.ends} == {one, other}
    )  # fmt: skip


def elephants(chance: np.random.Generator) -> Case:
    """Return few large flows of which two or three share one uplink: hot by chance."""
    made = leaf_spine(chance, spines=int(chance.choice([4, 6])))
    leaf, spine = str(chance.choice(made.leaves)), str(chance.choice(made.spines))
    others = [one for one in made.leaves if one != leaf]
    many = int(chance.integers(2, 4))
    for place, one in enumerate(chance.choice(made.faced(leaf), many, replace=False).tolist()):
        far = others[place % len(others)]
        share = float(chance.uniform(0.35, 0.7))
        made.between((one, leaf), (far, made.faced(far)[place]), share, spine)
    for one in made.hosts:
        made.send(one, str(chance.choice([to for to in made.hosts if to != one])), 0.05)
    ill = calm(made)
    links = tuple(_link(made, near, spine) for near in made.leaves)
    return Case(
        made, Truth({"fabric.hot_link": links[made.leaves.index(leaf):][:1]},
                    {"fabric.hot_link": links}),
        lambda start, end: ill, Read(), period=10.0, before=0.0, after=300.0,
    )  # fmt: skip


def polarized(chance: np.random.Generator) -> Case:
    """Return a leaf that uses half of its uplinks, evenly: two tiers hash alike."""
    made = leaf_spine(chance, spines=int(chance.choice([4, 6, 8])))
    leaf = str(chance.choice(made.leaves))
    half = chance.choice(made.spines, len(made.spines) // 2, replace=False).tolist()
    far = [host for host in made.hosts if host not in made.faced(leaf)]
    each = int(chance.integers(20, 40))
    for spine in half:
        for place in range(each):
            to = str(chance.choice(far))
            source = made.faced(leaf)[place % len(made.faced(leaf))]
            share = float(chance.uniform(0.8, 1.2)) * 0.4 / each
            made.between((source, leaf), (made.leaves_of(to)[0], to), share, spine)
    ill = calm(made)
    return Case(
        made, Truth({"fabric.ecmp_polarized": (leaf,)}), lambda start, end: ill, Read(),
        period=30.0, before=0.0, after=1080.0,
    )  # fmt: skip


def bursts(chance: np.random.Generator) -> Case:
    """Return incasts of a few hundred milliseconds, faster than marks can work: no fault."""
    made, _, _, flows = _incast(chance)
    burst = _before_and_after(made, replace(calm(made), heeded=False), flows)
    still = calm(made)
    when = [(float(at), float(at + length)) for at, length in zip(
        chance.uniform(0.0, 45.0, 8), chance.uniform(0.2, 0.6, 8), strict=True)]  # fmt: skip

    def now(start: float, end: float) -> State:
        middle = (start + end) / 2
        return burst if any(low <= middle < high for low, high in when) else still

    return Case(made, Truth(), now, read(chance), before=5.0, after=45.0)


def all_to_all(chance: np.random.Generator) -> Case:
    """Return phases in which everyone sends to everyone; marks slow it down after 200 ms."""
    made = either(chance)
    for one in made.hosts:
        for to in made.hosts:
            if one != to:
                made.send(one, to, 0.02)
    phase = float(chance.uniform(4.0, 12.0))
    state = calm(made)
    every = list(range(len(made.fluid.demand)))
    low, high = asking(state, every, 0.4), asking(state, every, float(chance.uniform(1.6, 2.6)))
    sudden = replace(high, heeded=False)

    def now(start: float, end: float) -> State:
        turn, rest = divmod((start + end) / 2, phase)
        if int(turn) % 2:
            return low
        return sudden if rest < 0.2 else high  # the first step of a phase

    return Case(made, Truth(), now, read(chance), before=5.0, after=45.0)


def _ports_of(made: Fabric) -> tuple[str, ...]:
    return tuple(port(near, far) for near, far in made.fluid.names if near in made.switches)
