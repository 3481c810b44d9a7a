"""Bisection: what one half of a domain can send to the other at once, over what still carries.

The smallest cut between two halves (max-flow min-cut, Ford and Fulkerson 1956) on the live
topology. Which halving is the narrowest cannot be found in good time (minimum bisection is
NP-hard), so a few are tried: neighbouring units in turn, and those that lost most against the
rest. What is said is thus an upper bound, exact for the halves named.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from analyzer.evidence.domain.wiring import Bools, Carried, Places, Units, Wiring, summed
from fabrichealth.model import Floats

TURNS = 8
"""Halvings by neighbouring units that are tried at most."""

ROOM = float(1 << 30)
"""Capacities are integers of 32 bits to the library; so large may all of them together be."""

NARROWER = 1e-3
"""Rounding aside, a cut is narrower than another by so much of it."""


@dataclass(frozen=True, eq=False)
class Network:
    """One network of a domain, with the devices of each unit taken together.

    Nodes are units, then the devices that pass on. Edge e joins `ends[e]` with `gbps[e]` now and
    `built[e]` when all is well; row r of `links` (numbers in the wiring) belongs to `edge[r]`.
    """

    units: Units
    nodes: int
    ends: Places
    gbps: Floats
    built: Floats
    links: Places
    edge: Places
    node: Places
    """Node of each device of the wiring ([d]); `NOWHERE` for what is no part of it."""


@dataclass(frozen=True, eq=False)
class Bisection:
    """The narrowest halving found; Gb/s, or links where speeds are not written."""

    gbps: float
    built: float
    one: tuple[str, ...]
    other: tuple[str, ...]
    """Units of both halves."""
    cut: Places
    """Links of the smallest cut between them, those that carry nothing now included."""
    forward: Bools
    """Whether a link's first end lies on the side of `one`."""

    @property
    def share(self) -> float:
        """What is left of what was built."""
        return self.gbps / self.built


def network(wired: Wiring, domain: str, number: int, now: Carried) -> Network:
    """Return one network of a domain, over the links of which something is heard."""
    units = wired.units(domain)
    passing = np.flatnonzero(wired.passes)
    node = units.of.copy()
    node[passing] = len(units.names) + np.arange(len(passing))
    ends = node[wired.device]
    taken = (wired.network == number) & now.heard & (ends >= 0).all(axis=1)
    links = np.flatnonzero(taken & (ends[:, 0] != ends[:, 1]))
    pair = np.sort(ends[links], axis=1)
    nodes = len(units.names) + len(passing)
    keys, edge = np.unique(pair[:, 0] * nodes + pair[:, 1], return_inverse=True)
    return Network(
        units,
        nodes,
        np.stack([keys // max(nodes, 1), keys % max(nodes, 1)], axis=1),
        summed(edge, now.gbps[links], len(keys)),
        summed(edge, wired.gbps[links], len(keys)),
        links,
        edge,
        node,
    )


def bisection(wired: Wiring, net: Network) -> Bisection | None:
    """Return the narrowest halving; None where there is nothing to halve, or nothing between."""
    best: Bisection | None = None
    for side in _halvings(net):
        built, _ = _flow(net, side, net.built)
        if built <= 0:
            continue
        now, reached = _flow(net, side, net.gbps)
        if best is None or now < best.gbps * (1 - NARROWER):
            names = np.array(net.units.names, object)
            ends = net.node[wired.device[net.links]]
            inside = reached[ends]
            crossing = np.flatnonzero(inside[:, 0] != inside[:, 1])
            best = Bisection(
                now,
                built,
                tuple(names[side == 0]),
                tuple(names[side == 1]),
                net.links[crossing],
                inside[crossing, 0],
            )
    return best


class Cuts:
    """The narrowest halving of each network, looked for again only where its links changed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], tuple[Network, Bisection | None]] = {}

    def cut(self, wired: Wiring, domain: str, number: int, now: Carried) -> Bisection | None:
        """Return what `bisection` gives for one network of a domain."""
        net = network(wired, domain, number, now)
        before, found = self._known.get((domain, number), (None, None))
        if before is None or not _alike(before, net):
            found = bisection(wired, net)
            self._known[domain, number] = net, found
        return found


def _alike(one: Network, other: Network) -> bool:
    """Return whether two networks have the same halving; units are those of one wiring."""
    return (
        one.units is other.units
        and np.array_equal(one.links, other.links)
        and np.array_equal(one.gbps, other.gbps)
    )


def between(net: Network, side: NDArray[np.int8], gbps: Floats) -> float:
    """Return what flows between two sets of units over edges of so many Gb/s ([e]).

    `side` is 0, 1 or `NOWHERE` of each unit; units on neither side pass nothing on.
    """
    _, graph, step = _graph(net, side, gbps)
    return float(maximum_flow(graph, 0, 1).flow_value) / step


def passing(net: Network, side: NDArray[np.int8], gbps: Floats) -> tuple[float, Floats]:
    """Return what flows between two sets of units, and what of it passes each node ([nodes]).

    It is one of the ways in which so much can flow: without a node no more is lost than passes it.
    """
    merged, graph, step = _graph(net, side, gbps)
    found = maximum_flow(graph, 0, 1)
    flow = found.flow.tocoo()
    out = np.bincount(flow.row, np.maximum(flow.data, 0), graph.shape[0]) / step
    return float(found.flow_value) / step, np.where(merged >= 2, out[merged], 0.0)


def _halvings(net: Network) -> Iterator[NDArray[np.int8]]:
    """Yield side 0 or 1 of each unit: halves by accelerators, as evenly as units allow."""
    units = len(net.units.names)
    if units < 2:
        return
    order = np.arange(units)
    turns = np.unique(np.linspace(0, units // 2, TURNS, endpoint=False).astype(np.intp))
    orders = [np.roll(order, -turn) for turn in turns]
    left = _left(net)
    if (left < left.max(initial=0.0)).any():
        orders.append(np.argsort(left, kind="stable"))
    for one in orders:
        held = np.cumsum(net.units.sizes[one])
        half = int(np.argmin(np.abs(held - held[-1] / 2))) + 1
        side = np.ones(units, np.int8)
        side[one[: min(half, units - 1)]] = 0
        yield side


def _left(net: Network) -> Floats:
    """Return about what share of its way to the others each unit keeps ([u]).

    Its own links, each weighed with what its switch keeps of those to other switches.
    """
    units = len(net.units.names)
    up = (net.ends >= units).all(axis=1)  # between switches
    both = net.ends[up].ravel()
    now, built = (summed(both, np.repeat(one[up], 2), net.nodes) for one in (net.gbps, net.built))
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.where(built > 0, now / built, 1.0)
        own = net.ends[:, 0] < units  # pairs are sorted, units come first
        unit, far = net.ends[own].T
        there = summed(unit, net.gbps[own] * kept[far], units)
        ought = summed(unit, net.built[own], units)
        return np.where(ought > 0, there / ought, 1.0)


def _flow(net: Network, side: NDArray[np.int8], gbps: Floats) -> tuple[float, Bools]:
    """Return the flow between two sides, and which nodes lie on the side of 0 of its cut."""
    merged, graph, step = _graph(net, side, gbps)
    found = maximum_flow(graph, 0, 1)
    left = csr_array(graph - found.flow)
    left.eliminate_zeros()
    reach = np.zeros(graph.shape[0], bool)
    reach[breadth_first_order(left, 0, return_predecessors=False)] = True
    return float(found.flow_value) / step, np.where(merged >= 0, reach[merged], False)


def _graph(net: Network, side: NDArray[np.int8], gbps: Floats) -> tuple[Places, csr_array, float]:
    """Return each node's number with both sides merged (0 and 1), the graph, and its scale."""
    units = len(net.units.names)
    merged = np.arange(net.nodes) + 2 - units  # passing devices from 2 on
    merged[:units] = side
    a, b = merged[net.ends[:, 0]], merged[net.ends[:, 1]]
    used = (a >= 0) & (b >= 0) & (a != b) & (gbps > 0)
    a, b, weight = a[used], b[used], gbps[used]
    size = net.nodes - units + 2
    step = _scale(float(weight.sum()))
    amount = np.rint(weight * step).astype(np.int32)
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    return merged, csr_array((np.concatenate([amount, amount]), ends), shape=(size, size)), step


def _scale(total: float) -> float:
    """Return by how much to multiply so that rounding to integers loses little: a power of two."""
    return float(2.0 ** np.floor(np.log2(ROOM / total))) if total > 0 else 1.0
