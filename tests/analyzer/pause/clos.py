"""A small Clos whose pauses are worked out by hand: who stops whom follows from what is blocked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.evidence.pause.waiting import Queues

Name = tuple[str, str]
"""(device, the device at the far end): the egress queue from one to the other."""


@dataclass
class Clos:
    """Leaves with hosts below and spines above; every leaf has one cable to every spine."""

    leaves: int = 2
    spines: int = 2
    hosts: int = 2
    """Of each leaf."""
    polls: int = 4
    paused: dict[Name, Sequence[float]] = field(default_factory=dict)
    congested: dict[Name, float] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()

    def tier(self, device: str) -> int:
        return "hls".index(device[0])

    @property
    def names(self) -> list[Name]:
        """Every egress queue, in a fixed order."""
        cables = [(f"l{n}", f"s{m}") for n in range(self.leaves) for m in range(self.spines)]
        cables += [(f"h{n}.{m}", f"l{n}") for n in range(self.leaves) for m in range(self.hosts)]
        return sorted([*cables, *(cable[::-1] for cable in cables)])

    def place(self, one: str, other: str) -> int:
        return self.names.index((one, other))

    def stop(self, name: Name, share: float | Sequence[float]) -> None:
        """Let the far end of a queue stop it."""
        each = [share] * self.polls if isinstance(share, float) else share
        self.paused[name] = each

    def storm(self, host: str, share: float = 1.0) -> None:
        """Let a host stop its leaf; everything that goes to it backs up, hop by hop."""
        leaf = "l" + host[1:].partition(".")[0]
        self.stop((leaf, host), share)
        for spine in range(self.spines):
            self.stop((f"s{spine}", leaf), share)
            for other in range(self.leaves):
                if f"l{other}" != leaf:
                    self.stop((f"l{other}", f"s{spine}"), share)
        for one in self.senders(besides=host):
            self.stop(one, share)

    def senders(self, besides: str) -> Iterable[Name]:
        """Return the egresses of all hosts but one."""
        return [name for name in self.names if name[0][0] == "h" and name[0] != besides]

    def queues(self) -> Queues:
        """Return what an analyzer would know of it."""
        names = self.names
        devices = sorted({name[0] for name in names})
        n = len(names)
        seen = [name[1] not in self.silent for name in names]
        return Queues(
            device=np.array([devices.index(one) for one, _ in names]),
            port=np.arange(n),
            priority=np.full(n, 3),
            far=np.array([names.index((other, one)) for one, other in names]),
            far_device=np.array([devices.index(other) for _, other in names]),
            ends=np.array([self.tier(other) == 0 for _, other in names]),
            unseen=~np.array(seen),
            upward=np.array([self.tier(other) > self.tier(one) for one, other in names]),
            paused=np.array([self.paused.get(name, [0.0] * self.polls) for name in names], float),
            congested=np.array([self.congested.get(name, 0.0) for name in names]),
            dark=np.array([devices.index(other) for _, other in names]),
            speed=np.full(len(names), 400e9),
            exact=np.ones(len(names), bool),
            pace=np.ones(len(names)),
            read=np.full(len(names), 1000.0),
            hidden=np.zeros(len(names), bool),
        )

    def told(self, place: int) -> str:
        """Return a vertex as text: a queue, or the device at its far end."""
        names = self.names
        if place < len(names):
            return "->".join(names[place])
        return names[place - len(names)][1]
