"""Circles that written routes allow: where pauses could wait for each other for ever.

An egress depends on another if some destination's packets leave by the one and then by the other.
Pauses travel against these dependencies, so a circle of them (cyclic buffer dependency) is what a
deadlock needs; a Clos without turns from down to up has none, a reroute around a fault makes one.
That it exists is a risk and no fault (DCFIT and the literature it builds on; detection by state is
`pfc.deadlock`).
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from fabrichealth.model.place import Port
from fabrichealth.topology.inventory import Topology

STARTS = 16
"""Members from which a shortest circle is looked for: one that is there is enough."""


def route_circles(topology: Topology) -> Iterator[tuple[list[Port], list[str]]]:
    """Yield a shortest circle of egress ports of each set that depend on each other.

    With the destinations whose routes close it: those that do so alone, if there are any. Devices
    without a written route for a destination are taken to close nothing.
    """
    after: dict[tuple[Port, Port], set[str]] = defaultdict(set)
    ways: dict[tuple[str, str], list[Port]] = defaultdict(list)
    for route in topology.routing:
        if route.to not in topology.devices:
            continue  # towards a tier: every path ends there
        ways[route.to, route.device] += [Port(route.device, port) for port in route.via]
    for (to, _), ports in ways.items():
        for port in ports:
            far = topology.peer(port)
            if far is not None and far.device != to:
                for onward in ways.get((to, far.device), ()):
                    after[port, onward].add(to)
    every = sorted({port for pair in after for port in pair})
    number = {port: place for place, port in enumerate(every)}
    rows = np.array([number[one] for one, _ in after], np.intp)
    columns = np.array([number[other] for _, other in after], np.intp)
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(every),) * 2)
    _, label = connected_components(graph, directed=True, connection="strong")
    for name in np.flatnonzero(np.bincount(label, minlength=1) > 1).tolist():
        ring = _ring(graph, np.flatnonzero(label == name))
        ports = [every[place] for place in ring]
        each = [after[pair] for pair in zip(ports, [*ports[1:], ports[0]], strict=True)]
        yield ports, sorted(set.intersection(*each) or set.union(*each))


def _ring(graph: csr_array, members: np.ndarray[tuple[int], np.dtype[np.intp]]) -> list[int]:
    """Return a shortest circle through some of the members, each depending on the next."""
    inside = graph[members][:, members]
    best: list[int] = []
    for start in range(min(len(members), STARTS)):
        order, came = breadth_first_order(inside, start, directed=True, return_predecessors=True)
        into = inside[:, [start]].nonzero()[0]
        last = next(place for place in order.tolist() if place in set(into.tolist()))
        ring = [last]
        while ring[-1] != start:
            ring.append(int(came[ring[-1]]))
        if not best or len(ring) < len(best):
            best = ring[::-1]
    return [int(members[place]) for place in best]


def advice(topology: Topology) -> Iterator[str]:
    """Yield a line about each circle that the written routes allow."""
    for ports, towards in route_circles(topology):
        way = " -> ".join(map(str, [*ports, ports[0]]))
        yield (
            f"routes towards {', '.join(towards)} let pauses wait in a circle: {way}; "
            "a deadlock can form there, forbid one of the turns"
        )
