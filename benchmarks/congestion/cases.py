"""Faults of a fluid fabric, each with what should be said of it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.congestion.fluid import LINE, Floats, Fluid

POLLS = 150
"""Of one second."""

ONSET = 30


@dataclass
class Case:
    """One history: what is asked of the fabric second by second, and the truth."""

    fabric: Fluid
    kind: str = ""
    """Kind of incident that is right; empty for a trap."""
    culprit: str = ""
    """Its port; of a deadlock any member's."""
    members: tuple[str, ...] = ()
    forced: Callable[[int], dict[tuple[str, str], float]] = lambda second: {}
    """Stops that receivers insist on, by queue, in a second."""
    loads: Callable[[int, Floats], Floats] = lambda second, demand: demand
    marks_off: set[str] = field(default_factory=set)
    """Devices whose marking does not work."""
    drops: set[tuple[str, str]] = field(default_factory=set)
    """Queues whose far end loses what is under way whenever it stops them."""
    also: tuple[str, ...] = ()
    """Kinds that may be told beside it, of the same trouble."""

    @property
    def marks(self) -> NDArray[np.bool_]:
        """Which queues' marking works; hosts mark nothing."""
        works = switches(self.fabric) - self.marks_off
        return np.array([device in works for device, _ in self.fabric.names], np.bool_)


def fabric(chance: np.random.Generator) -> Fluid:
    """Return a fabric whose hosts send to each other at half their rate, over many paths."""
    made = Fluid(4, 6, 4, chance)
    hosts = made.host_names
    for turn in (1, 7, 13):
        for place, host in enumerate(hosts):
            made.flow(host, hosts[(place + turn) % len(hosts)], LINE * chance.uniform(0.1, 0.2))
    return made


def port(device: str, far: str) -> str:
    """Return the port of a device that faces another."""
    return f"{device}/{far}"


def since(stops: dict[tuple[str, str], float]) -> Callable[[int], dict[tuple[str, str], float]]:
    """Return stops that begin at the onset."""
    return lambda second: stops if second >= ONSET else {}


def switches(made: Fluid) -> set[str]:
    """Return every device that forwards."""
    return {one for pair in made.names for one in pair if not one.startswith("host")}


def _victim(made: Fluid, chance: np.random.Generator) -> tuple[str, str]:
    host = str(chance.choice(made.host_names))
    return host, f"leaf-{host.split('-')[1]}"


def broken_nic(chance: np.random.Generator) -> Case:
    """Return a NIC that stops its leaf all the time."""
    made = fabric(chance)
    host, leaf = _victim(made, chance)
    return Case(made, "pfc.storm", port(host, leaf), forced=since({(leaf, host): 0.995}))


def choppy_storm(chance: np.random.Generator) -> Case:
    """Return a NIC that stops its leaf for 60 to 95 % of the time, with breaks."""
    made = fabric(chance)
    host, leaf = _victim(made, chance)
    duty = chance.uniform(0.62, 0.93)
    jitter = chance.uniform(-0.03, 0.03, POLLS)
    return Case(made, "pfc.storm", port(host, leaf),
                forced=lambda second: {(leaf, host): float(duty + jitter[second])}
                if second >= ONSET else {})  # fmt: skip


def slow_receiver(chance: np.random.Generator) -> Case:
    """Return a host that takes less than it is sent."""
    made = fabric(chance)
    host, leaf = _victim(made, chance)
    share = chance.uniform(0.05, 0.4)
    return Case(made, "pfc.slow_receiver", port(host, leaf), forced=since({(leaf, host): share}))


def _senders(
    made: Fluid, host: str, leaf: str, share: float, chance: np.random.Generator
) -> list[int]:
    """Let six hosts of other leaves send to one; return their flows."""
    others = [name for name in made.host_names if not name.startswith(f"host-{leaf[5:]}-")]
    return [
        made.flow(str(one), host, LINE * share) for one in chance.choice(others, 6, replace=False)
    ]


def lasting_incast(chance: np.random.Generator) -> Case:
    """Return many senders to one host, with marks off everywhere: pauses do the work."""
    made = fabric(chance)
    host, leaf = _victim(made, chance)
    new = _senders(made, host, leaf, 0.4, chance)

    def loads(second: int, demand: Floats) -> Floats:
        asked = demand.copy()
        if second < ONSET:
            asked[new] = 0.0
        return asked

    case = Case(made, "pfc.ecn_misconfigured", port(leaf, host), loads=loads)
    case.marks_off = switches(made)
    return case


def deadlock(chance: np.random.Generator) -> Case:
    """Return four queues that stop each other for ever."""
    made = fabric(chance)
    one, other = chance.choice(made.leaves, 2, replace=False)
    first, second_ = chance.choice(made.spines, 2, replace=False)
    a, b, s, t = f"leaf-{one}", f"leaf-{other}", f"spine-{first}", f"spine-{second_}"
    ring = [(a, s), (s, b), (b, t), (t, a)]
    members = tuple(port(*queue) for queue in ring)
    return Case(made, "pfc.deadlock", "", members, forced=since(dict.fromkeys(ring, 1.0)))


def short_headroom(chance: np.random.Generator) -> Case:
    """Return a slow receiver whose leaf loses packets at one ingress whenever it stops it."""
    made = fabric(chance)
    host, leaf = _victim(made, chance)
    _senders(made, host, leaf, 0.15, chance)
    feeding = [int(hops[2]) for hops in made.path if hops[3] == made.number[leaf, host]]
    device, far = made.names[feeding[-1]]
    case = Case(made, "pfc.headroom_short", port(far, device), forced=since({(leaf, host): 0.45}))
    case.drops, case.marks_off = {(device, far)}, switches(made)
    case.also = ("pfc.slow_receiver", "pfc.ecn_misconfigured")
    return case


def bursts(chance: np.random.Generator) -> Case:
    """Return incasts of a few hundred milliseconds: nothing is wrong."""
    made = fabric(chance)
    when = set(chance.choice(np.arange(ONSET, POLLS), 8, replace=False).tolist())
    senders = {(host, f"leaf-{host.split('-')[1]}"): 0.15 for host in made.host_names}
    return Case(made, forced=lambda second: senders if second in when else {})


def all_to_all(chance: np.random.Generator) -> Case:
    """Return phases in which everyone sends to everyone: marks work, pauses hardly show."""
    made = fabric(chance)
    phase = int(chance.integers(8, 20))
    return Case(made, loads=lambda second, demand: demand * (
        2.4 if second >= ONSET and second // phase % 2 else 0.6))  # fmt: skip


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    one.__name__: one
    for one in (broken_nic, choppy_storm, slow_receiver, lasting_incast, deadlock, short_headroom,
                bursts, all_to_all)
}  # fmt: skip
