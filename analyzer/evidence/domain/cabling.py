"""Cabling: the ports by which the hosts of a job reach their rails, and what faces them.

A host has other ports too, for storage and for whoever manages it: rails are those of the speed at
which most of the capacity runs. Which port an accelerator uses nobody says, so a host that the job
has only a part of uses some of them and not others.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from fabrichealth.model import Port
from fabrichealth.topology import Topology

FEWEST_HOSTS = 4
SAME_SWITCH = 0.8
"""A rail is one switch's where it faces this share of the hosts' ports."""


@dataclass(frozen=True, eq=False)
class Cables:
    """Ports of hosts by rail; a host without a port of that name has none (None)."""

    hosts: tuple[str, ...]
    rails: tuple[str, ...]
    """Names of the hosts' ports."""
    own: tuple[tuple[Port | None, ...], ...]
    facing: tuple[tuple[Port | None, ...], ...]

    def switch(self, rail: int) -> str | None:
        """Return the switch that a rail hangs on; None where it is several."""
        far = [line[rail] for line in self.facing]
        count = Counter(port.device for port in far if port is not None)
        name, many = count.most_common(1)[0]
        return name if many >= SAME_SWITCH * count.total() else None


@lru_cache(maxsize=256)
def cables(topology: Topology, hosts: tuple[str, ...]) -> Cables | None:
    """Return the cables of a job's hosts to switches; None where there are too few to compare."""
    own: dict[tuple[str, str], tuple[Port, Port]] = {}
    speeds: dict[tuple[str, str], float | None] = {}
    for host in hosts:
        for link in topology.links_of.get(host, ()):
            near, far = link.ends if link.ends[0].device == host else link.ends[::-1]
            row = topology.devices.get(far.device)
            if row is not None and row.role == "switch":
                own[host, near.port] = near, far
                speeds[host, near.port] = link.speed_gbps
    usual = _usual(speeds.values())
    own = {key: pair for key, pair in own.items() if speeds[key] in {None, usual}}
    rails = tuple(sorted({port for _, port in own}))
    there = tuple(host for host in hosts if any((host, rail) in own for rail in rails))
    if len(there) < FEWEST_HOSTS or not rails:
        return None
    grid = [[own.get((host, rail)) for rail in rails] for host in there]
    own_ports, far_ports = (
        tuple(tuple(pair[end] if pair else None for pair in line) for line in grid)
        for end in (0, 1)
    )
    return Cables(there, rails, own_ports, far_ports)


def _usual(speeds: Iterable[float | None]) -> float | None:
    """Return the speed at which most of the capacity runs; None where none is written."""
    together: dict[float, float] = {}
    for speed in speeds:
        if speed is not None:
            together[speed] = together.get(speed, 0.0) + speed
    return max(together, key=lambda speed: (together[speed], speed), default=None)


def wholly(hosts: Iterable[str], accelerators: Iterable[str], topology: Topology) -> Iterator[str]:
    """Yield the hosts of which a job with these accelerators has all."""
    mine = frozenset(accelerators)
    for host in hosts:
        every = topology.hosted.get(host, ())
        own = (name for name in every if topology.devices[name].role == "accelerator")
        if mine.issuperset(own):
            yield host
