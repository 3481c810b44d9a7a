"""Fabrics that differ: leaf and spine or rails, of sizes, speeds and buffers by chance.

Buffers follow what is published of switches: a pool that grows with the rate, shared by a dynamic
threshold, and marking thresholds below what a queue may then hold (detection by configuration is
put to the test by cases that break this order).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.congestion.fluid import Fluid
from fabrichealth.topology import Device, Link, Topology

GIGABITS = (100, 200, 400, 800)
POOL_PER_GIGABIT = 160e3
"""Bytes of shared buffer for each Gbit/s of a port: 64 MB at 400G."""

ALPHAS = (1 / 8, 1 / 4, 1 / 2, 1.0)
BUSY = 8
"""Queues full at once for which thresholds are laid out."""

UPLINK_LOAD = 0.4
"""Share of an uplink that light traffic fills at most, were it spread evenly."""

SWITCH_PORTS = (32, 64, 128)
"""Of the whole switch, of which a case cables some; a watchdog's times depend on it."""


@dataclass
class Buffers:
    """How a fabric's switches share memory and mark, in bytes."""

    pool: float
    alpha: float
    least: float
    """K_min."""
    most: float
    """K_max."""

    def fair(self, queues: float) -> float:
        """Return what each of so many full queues may hold before it pauses."""
        return self.alpha * self.pool / (1.0 + self.alpha * queues)


@dataclass
class Fabric:
    """A fluid with its shape."""

    shape: str
    fluid: Fluid
    hosts: list[str]
    switches: list[str]
    spines: list[str]
    gigabits: int
    buffers: Buffers
    priority: str
    """That carries RoCE."""
    ports: int
    """Of each switch."""
    chance: np.random.Generator

    def leaves_of(self, host: str) -> list[str]:
        """Return the switches that a host is cabled to."""
        return [far for near, far in self.fluid.names if near == host]

    def faced(self, switch: str) -> list[str]:
        """Return the hosts of a switch."""
        return [far for near, far in self.fluid.names if near == switch and far in self._hosts]

    @property
    def leaves(self) -> list[str]:
        """Switches with hosts."""
        return [one for one in self.switches if one not in self.spines]

    @property
    def _hosts(self) -> frozenset[str]:
        return frozenset(self.hosts)

    def send(self, source: str, to: str, share: float, spine: str | None = None) -> int:
        """Add a flow of a share of the line rate, over a spine by chance; return its number.

        Where there are rails both ends use the same one, but for one flow in five.
        """
        here, there = self.leaves_of(source), self.leaves_of(to)
        rail = int(self.chance.integers(len(here)))
        across = len(here) > 1 and self.chance.random() < 0.2
        other = int(self.chance.integers(len(there))) if across else rail
        return self.between((source, here[rail]), (there[min(other, len(there) - 1)], to),
                            share, spine)  # fmt: skip

    def between(
        self,
        first: tuple[str, str],
        last: tuple[str, str],
        share: float,
        spine: str | None = None,
    ) -> int:
        """Add a flow from the host and leaf `first` to the leaf and host `last`."""
        if first[1] == last[0]:
            way = [*first, last[1]]
        else:
            way = [*first, spine or str(self.chance.choice(self.spines)), *last]
        return self.fluid.flow(way, share * self.fluid.line)

    def topology(self) -> Topology:
        """Return the fabric as it is written; ports are named by what they face."""
        devices = [Device(name=name, role="host") for name in self.hosts]
        devices += [Device(name=name, role="switch") for name in self.switches]
        cables = self.fluid.names[: len(self.fluid.names) // 2]
        return Topology(devices, [
            Link(a=f"{one}/{other}", b=f"{other}/{one}", technology="roce",
                 speed_gbps=self.gigabits, lanes=4)
            for one, other in cables
        ])  # fmt: skip


def leaf_spine(chance: np.random.Generator, spines: int | None = None) -> Fabric:
    """Return three to five leaves of four to seven hosts each, below two to four spines."""
    leaves = [f"leaf-{n}" for n in range(int(chance.integers(3, 6)))]
    above = [f"spine-{n}" for n in range(spines or int(chance.integers(2, 5)))]
    hosts = int(chance.integers(4, 8))
    below = [(f"host-{leaf[5:]}-{n}", leaf) for leaf in leaves for n in range(hosts)]
    return _made("leaf-spine", below, leaves, above, chance)


def rails(chance: np.random.Generator, spines: int | None = None) -> Fabric:
    """Return six to ten hosts with a NIC on each of three or four rails, and spines between."""
    leaves = [f"rail-{n}" for n in range(int(chance.integers(3, 5)))]
    above = [f"spine-{n}" for n in range(spines or int(chance.integers(2, 4)))]
    hosts = [f"host-{n}" for n in range(int(chance.integers(6, 11)))]
    return _made(
        "rails", [(host, leaf) for host in hosts for leaf in leaves], leaves, above, chance
    )


def either(chance: np.random.Generator, spines: int | None = None) -> Fabric:
    """Return one or the other, with light traffic between all hosts."""
    made = (leaf_spine if chance.random() < 0.6 else rails)(chance, spines)
    busy(made)
    return made


def busy(made: Fabric) -> None:
    """Let every host send to a few others, so little that no cable is half full in the mean."""
    many = len(made.hosts)
    turns = {1, many // 3, many // 2 + 1}
    below = len(made.faced(made.leaves[0]))
    most = min(0.15, UPLINK_LOAD * len(made.spines) / (below * len(turns)))
    for turn in turns:
        for place, host in enumerate(made.hosts):
            share = float(made.chance.uniform(0.5, 1.0)) * most
            made.send(host, made.hosts[(place + turn) % many], share)


def _made(
    shape: str,
    below: Iterable[tuple[str, str]],
    leaves: list[str],
    spines: list[str],
    chance: np.random.Generator,
) -> Fabric:
    gigabits = int(chance.choice(GIGABITS))
    lower = list(below)
    cables = [*((leaf, spine) for leaf in leaves for spine in spines), *lower]
    buffers = Buffers(POOL_PER_GIGABIT * gigabits, float(chance.choice(ALPHAS)), 0.0, 0.0)
    buffers.most = float(chance.uniform(0.4, 0.9)) * buffers.fair(BUSY)
    buffers.least = buffers.most / 4
    return Fabric(
        shape,
        Fluid(cables, gigabits * 1e9 / 8),
        list(dict.fromkeys(host for host, _ in lower)),
        [*leaves, *spines],
        spines,
        gigabits,
        buffers,
        str(chance.integers(1, 7)),
        int(chance.choice(SWITCH_PORTS)),
        chance,
    )
