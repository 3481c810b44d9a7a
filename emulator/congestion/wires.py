"""Wires: the queues of an Ethernet fabric by number, and the ways through it.

A queue is what a port sends: one for each end of each cable. Ways go from a NIC up to a spine and
down again, within a leaf without it; each flow takes one of the spines, as a hash would.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from emulator.congestion.filling import Places
from emulator.plan import Plan


@dataclass(frozen=True)
class Flow:
    """What one NIC sends to another."""

    source: str
    """A host's port."""
    to: str
    """The same."""
    share: float
    """Of the line rate, that it would like to send."""
    heeds: bool = True
    """Whether it lasts for long enough to slow down for marks."""
    turn: int = 0
    """Which of the spines it takes, counted round."""


@dataclass(frozen=True)
class Detour:
    """What routes do that were changed: `hashed` leaves use one spine, `bounced` pairs go round.

    A bounced way is the devices from the first leaf to the last: down into a leaf and up again.
    """

    hashed: tuple[tuple[str, int], ...] = ()
    bounced: tuple[tuple[str, ...], ...] = ()

    def spine(self, leaf: str) -> int | None:
        """Return the spine to which a leaf sends all, if it does."""
        return dict(self.hashed).get(leaf)

    def bounce(self, first: str, last: str) -> tuple[str, ...] | None:
        """Return the way from leaf to leaf, if it is another than up and down."""
        return next((way for way in self.bounced if (way[0], way[-1]) == (first, last)), None)


class Wires:
    """The ports of all Ethernet cables of a plan, and what faces what."""

    def __init__(self, plan: Plan) -> None:
        cables = plan.ethernet_cables
        self.ports = [end for cable in cables for end in (cable.a, cable.b)]
        """Each sends one queue: `ports[q]`; its far end is `ports[q ^ 1]`."""
        self.number = {port: place for place, port in enumerate(self.ports)}
        self.device = [port.partition("/")[0] for port in self.ports]
        self.spines = plan.spine_names
        self.nics = [port for port in self.ports if port.partition("/")[0] in set(plan.hosts)]
        """Ports of hosts."""
        self._between = {
            (self.device[place], self.device[place ^ 1]): place for place in range(len(self.ports))
        }

    def leaf(self, nic: str) -> str:
        """Return the switch that a NIC is cabled to."""
        return self.device[self.number[nic] ^ 1]

    def way(self, flow: Flow, lit: Mapping[int, bool], detour: Detour) -> list[int] | None:
        """Return the queues of a flow in order; None if every way has a cable that is down."""
        first, last = self.leaf(flow.source), self.leaf(flow.to)
        ends = self.number[flow.source], self.number[flow.to] ^ 1
        ways: list[tuple[int, ...]] = [ends] if first == last else []
        if first != last:
            bounced = detour.bounce(first, last)
            for devices in [bounced] if bounced else [(first, one, last) for one in self.spines]:
                hops = pairwise(devices)
                ways.append((ends[0], *(self._between[hop] for hop in hops), ends[1]))
        open_ways = [way for way in ways if all(lit[queue] for queue in way)]
        if not open_ways:
            return None
        spine = detour.spine(first)
        return list(open_ways[(flow.turn if spine is None else spine) % len(open_ways)])


def padded(ways: Sequence[Sequence[int]]) -> Places:
    """Return ways of any length as rows, -1 after their ends."""
    path = np.full((len(ways), max(map(len, ways), default=1)), -1, np.intp)
    for row, way in enumerate(ways):
        path[row, : len(way)] = way
    return path
