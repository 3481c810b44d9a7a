"""What a switch or a plane that fails would cost each job.

A switch at which a job's accelerators or hosts end takes its share of their links: the job runs
on at the pace of whoever loses most. One further up, such as a spine, takes what no longer flows
between the job's halves; switches cabled alike cost alike, so one of each kind is worked out. A
plane is a set of switches that are joined with each other and with no other switch: a rail, or one
of several parallel fabrics.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.domain.bisection import Network, between, network, passing
from analyzer.evidence.domain.wiring import NETWORKS, NOWHERE, Carried, Places, Wiring, summed
from fabrichealth.model import Floats

ROUNDS = 3
"""Of telling switches apart: hosts, leaves and spines, each by what lies below."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one failure would cost one job."""

    job: str
    network: str
    what: str
    """switch or plane."""
    name: str
    """Of the switch; of a plane its first switch."""
    switches: int
    lost: float
    """Share of its bandwidth that the job's worst member, or the job's halves, lose."""
    cut_off: int
    """Accelerators that lose this network altogether."""
    alike: int
    """How many failures would cost it as much, this one included."""


def costs(
    wired: Wiring, domain: str, now: Carried, jobs: Mapping[str, Iterable[str]]
) -> Iterator[Cost]:
    """Yield for each job and network the dearest switch, and the dearest plane of several.

    A job's accelerators that the topology does not know are left out; a job without any is not
    told of.
    """
    for number in range(len(NETWORKS)):
        if not ((wired.network == number) & now.heard).any():
            continue
        net = network(wired, domain, number, now)
        plane, alike = _planes(wired, number), _alike(net)
        for job, held in sorted(jobs.items()):
            members = np.array(
                sorted({wired.numbers[name] for name in held if name in wired.numbers}), np.intp
            )
            yield from _of_job(wired, net, number, now, plane, alike, job, members)


class Legs(NamedTuple):
    """Each link from a job to a switch: its box, the switch (in the wiring), its Gb/s.

    A box is an accelerator in the network that joins accelerators, else its host; `boxes` are
    devices, `held` how many of the job's accelerators are in each.
    """

    box: Places
    switch: Places
    gbps: Floats
    boxes: Places
    held: Places


def _of_job(
    wired: Wiring,
    net: Network,
    number: int,
    now: Carried,
    plane: Places,
    alike: Places,
    job: str,
    members: Places,
) -> Iterator[Cost]:
    legs = _legs(wired, number, now, members)
    if not len(legs.box):
        return
    lost: dict[tuple[str, int], tuple[float, int]] = {}
    for what, group in (("switch", legs.switch), ("plane", plane[legs.switch])):
        if what == "plane" and len(np.unique(group)) < 2:
            continue
        worst, cut_off = _direct(legs, group)
        lost.update({(what, one): (worst[one], cut_off[one]) for one in worst})
    least = max(cost for (what, _), (cost, _) in lost.items() if what == "switch")
    above = _further_up(net, legs, net.units.of[legs.boxes], alike, least)
    device = {int(node): place for place, node in enumerate(net.node.tolist())}
    lost.update({("switch", device[node]): (cost, 0) for node, cost in above.items()})
    for what in ("switch", "plane"):
        yield from _dearest(wired, plane, job, NETWORKS[number], what, lost)


def _dearest(
    wired: Wiring,
    plane: Places,
    job: str,
    name: str,
    what: str,
    lost: Mapping[tuple[str, int], tuple[float, int]],
) -> Iterator[Cost]:
    mine = {one: cost for (sort, one), cost in lost.items() if sort == what and cost[0] > 0}
    if not mine:
        return
    dearest = max(mine.values())
    first = min(one for one, cost in mine.items() if cost == dearest)
    alike = sum(cost[0] >= dearest[0] - 1e-9 for cost in mine.values())
    held = 1 if what == "switch" else int((plane == first).sum())
    if what == "plane" and held == 1:
        return  # what it would cost is told of its one switch
    place = first if what == "switch" else int(np.flatnonzero(plane == first)[0])
    yield Cost(job, name, what, wired.devices[place], held, dearest[0], dearest[1], alike)


def _legs(wired: Wiring, number: int, now: Carried, members: Places) -> Legs:
    inside = np.full(len(wired.devices), NOWHERE, np.intp)
    owner = members if NETWORKS[number] == "scale_up" else wired.box[members]
    boxes, held = np.unique(owner, return_counts=True)
    inside[boxes] = np.arange(len(boxes))
    ends = wired.device
    if NETWORKS[number] == "scale_out":
        ends = np.where(wired.member[ends], wired.box[ends], ends)
    near = inside[ends]
    rows, side = np.nonzero(
        (near >= 0)
        & wired.passes[ends[:, ::-1]]
        & ((wired.network == number) & now.heard & (now.gbps > 0))[:, None]
    )
    return Legs(near[rows, side], ends[rows, 1 - side], now.gbps[rows], boxes, held)


def _direct(legs: Legs, group: Places) -> tuple[dict[int, float], dict[int, int]]:
    """Return by group of links the largest share a box loses, and accelerators cut off by it."""
    total = summed(legs.box, legs.gbps, len(legs.boxes))
    most = int(group.max()) + 1
    keys, place = np.unique(legs.box * most + group, return_inverse=True)
    share = summed(place, legs.gbps, len(keys)) / total[keys // most]
    worst: dict[int, float] = defaultdict(float)
    cut_off: dict[int, int] = defaultdict(int)
    for key, one in zip((keys % most).tolist(), share.tolist(), strict=True):
        worst[key] = max(worst[key], one)
    for key in keys[share > 1 - 1e-9].tolist():
        cut_off[key % most] += int(legs.held[key // most])
    return worst, cut_off


def _further_up(
    net: Network, legs: Legs, units: Places, alike: Places, least: float
) -> dict[int, float]:
    """Return by node what switches cost at which the job itself does not end.

    That is by what still flows between the job's halves over its own links; `units` is the unit of
    each box. What cannot cost as much as `least` is left out: without a node no more is lost than
    passes it where all flows.
    """
    many = len(net.units.names)
    held = np.bincount(units[units >= 0], minlength=many)
    used = np.flatnonzero(held)
    if len(used) < 2:
        return {}
    side = np.full(many, NOWHERE, np.int8)
    side[used] = np.cumsum(held[used]) > held.sum() / 2
    if side[used].min() == side[used].max():
        side[used[-1]], side[used[0]] = 1, 0
    gbps = _own(net, legs, units)
    whole, passed = passing(net, side, gbps)
    if whole <= 0:
        return {}
    passed[net.node[np.unique(legs.switch)]] = 0.0
    found: dict[int, float] = {}
    known: dict[int, float] = {}
    for node in np.flatnonzero(passed / whole >= max(least, 1e-9)).tolist():
        kind = int(alike[node])
        if kind not in known:
            rest = np.where((net.ends == node).any(axis=1), 0.0, gbps)
            known[kind] = max(0.0, 1.0 - between(net, side, rest) / whole)
        found[node] = known[kind]
    return found


def _own(net: Network, legs: Legs, units: Places) -> Floats:
    """Return the edges' Gb/s with those from units as far as the job's own links go ([e])."""
    many = len(net.units.names)
    gbps = np.where(net.ends[:, 0] < many, 0.0, net.gbps)
    keys = net.ends[:, 0] * net.nodes + net.ends[:, 1]  # ascending, a unit always first
    mine = units[legs.box] >= 0
    wanted = units[legs.box][mine] * net.nodes + net.node[legs.switch][mine]
    np.add.at(gbps, np.searchsorted(keys, wanted), legs.gbps[mine])
    return gbps


def _alike(net: Network) -> Places:
    """Return a number for each node that passes on, the same for those cabled alike ([nodes]).

    Alike are switches with as much to the same units and to switches that are alike: so the
    spines of parallel planes are of one kind (two rounds of colour refinement). `NOWHERE` for
    those without a cable.
    """
    cables: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for (one, other), gbps in zip(net.ends.tolist(), net.gbps.tolist(), strict=True):
        cables[one].append((other, gbps))
        cables[other].append((one, gbps))
    kind = np.full(net.nodes, NOWHERE, np.intp)
    units = len(net.units.names)
    kind[:units] = np.arange(units)
    switches = sorted(node for node in cables if node >= units)
    for _ in range(ROUNDS):
        numbers: dict[tuple[object, ...], int] = {}
        former = kind.tolist()
        for node in switches:
            seen = sorted((former[far], gbps) for far, gbps in cables[node])
            look = (former[node], *seen)
            kind[node] = units + numbers.setdefault(look, len(numbers))
    return kind


def _planes(wired: Wiring, number: int) -> Places:
    """Return for each device the first switch of its plane ([d]); itself where it is no switch."""
    ends = wired.device[wired.network == number]
    ends = ends[wired.passes[ends].all(axis=1)]
    count = len(wired.devices)
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    _, first = np.unique(part, return_index=True)
    return np.asarray(first[part], np.intp)
