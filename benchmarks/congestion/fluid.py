"""A leaf-spine fabric as a fluid: rates settle within a poll, pauses are shares of time.

Every queue is first in, first out. A device whose egress gets more than it can send stops, for a
share of the time, each queue that feeds it; that stops all else in those queues too (head-of-line
blocking), which is what spreads a storm. Where marks work, senders slow down to the narrowest
point before pauses are needed, but for a remainder (DCQCN); a queue that never drains marks
nothing, so that a dead receiver is not helped by it.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LINE = 400e9 / 8
"""Bytes a second of every cable."""

REMAINDER = 0.002
"""Share of time for which marks that work still need pauses."""

ROUNDS = 200
LAST = 30
RELAX = 1.02
"""By so much a stop that is not needed any more is loosened in each round."""


@dataclass
class Fluid:
    """Hosts below leaves below spines; queues are numbered, `path[f]` are those of a flow."""

    leaves: int
    hosts: int
    """Of each leaf."""
    spines: int
    chance: np.random.Generator
    names: list[tuple[str, str]] = field(default_factory=list)
    """(device, device at the far end) of each queue."""

    def __post_init__(self) -> None:
        pairs = [
            (f"leaf-{n}", f"spine-{m}") for n in range(self.leaves) for m in range(self.spines)
        ]
        pairs += [
            (f"host-{n}-{m}", f"leaf-{n}") for n in range(self.leaves) for m in range(self.hosts)
        ]
        self.names = [*pairs, *(pair[::-1] for pair in pairs)]
        self.number = {name: place for place, name in enumerate(self.names)}
        self.capacity = np.full(len(self.names), LINE)
        self.path: Places = np.empty((0, 4), np.intp)
        self.demand: Floats = np.empty(0)

    @property
    def host_names(self) -> list[str]:
        """Every host."""
        return [f"host-{n}-{m}" for n in range(self.leaves) for m in range(self.hosts)]

    def flow(self, source: str, to: str, rate: float) -> int:
        """Add a flow of so many bytes a second, over a spine by chance; return its number."""
        below, above = (f"leaf-{name.split('-')[1]}" for name in (source, to))
        hops = [(source, below)]
        if below != above:
            spine = f"spine-{self.chance.integers(self.spines)}"
            hops += [(below, spine), (spine, above)]
        hops.append((above, to))
        places = [self.number[hop] for hop in hops] + [-1] * (4 - len(hops))
        self.path = np.concatenate([self.path, [places]]).astype(np.intp)
        self.demand = np.append(self.demand, rate)
        return len(self.demand) - 1


@dataclass(frozen=True)
class Settled:
    """What a fabric comes to: [q] each."""

    stopped: Floats
    """Share of time for which the far end stops the queue."""
    sent: Floats
    """Bytes a second."""
    full: NDArray[np.bool_]
    marked: Floats
    """Packets marked a second."""


def settle(fabric: Fluid, demand: Floats, forced: Floats, marks: NDArray[np.bool_]) -> Settled:
    """Let rates and pauses settle; `forced` are stops that receivers insist on ([q], a share).

    `marks` says which queues' marking works ([q]).
    """
    path, capacity = fabric.path, fabric.capacity
    stopped, demand = forced.copy(), demand.copy()
    dead = forced > 0.95
    marked, tight = np.zeros(len(capacity)), np.zeros(len(capacity), np.bool_)
    for turn in range(ROUNDS):
        scale, sent = _forward(path, demand, capacity * (1.0 - stopped))
        if turn < ROUNDS // 2:
            narrow = np.where(marks & ~dead & (scale < 1.0), scale, 1.0)
            slowed = np.where(path >= 0, narrow[path], 1.0).min(axis=1)
            marked = np.where(narrow < 1.0, sent / 4096 * 0.02, marked)
            demand = demand * np.where(slowed < 1.0, slowed * (1 - REMAINDER), 1.0)
        if turn >= ROUNDS - LAST:  # it swings about what it settles to
            tight |= scale < 0.999
        need = np.ones(len(capacity))
        for hop in range(1, 4):
            mine = path[:, hop] >= 0
            np.minimum.at(need, path[mine, hop - 1], scale[path[mine, hop]])
        going = np.where(need < 1.0, (1.0 - stopped) * need, (1.0 - stopped) * RELAX)
        stopped = np.maximum(forced, 1.0 - np.minimum(going, 1.0))
    sent = _forward(path, demand, capacity * (1.0 - stopped))[1]
    return Settled(stopped, sent, tight | (marked > 0), marked)


def _forward(path: Places, demand: Floats, able: Floats) -> tuple[Floats, Floats]:
    """Return how much of what comes each queue can send, and what it sends."""
    rate = demand.copy()
    scale, sent = np.ones(len(able)), np.zeros(len(able))
    for hop in range(4):
        mine = path[:, hop] >= 0
        queue = path[mine, hop]
        comes = np.bincount(queue, rate[mine], len(able))
        part = np.where(comes > able, able / np.maximum(comes, 1.0), 1.0)
        used = comes > 0
        scale[used] = np.minimum(scale[used], part[used])
        sent += comes * part
        rate[mine] *= part[queue]
    return scale, sent
