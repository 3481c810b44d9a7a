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

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.domain.bisection import Network, between, network
from analyzer.evidence.domain.wiring import NETWORKS, NOWHERE, Carried, Places, Wiring, summed
from fabrichealth.model import Floats


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
        plane = _planes(wired, number)
        for job, held in sorted(jobs.items()):
            members = np.array(
                sorted({wired.numbers[name] for name in held if name in wired.numbers}), np.intp
            )
            yield from _of_job(wired, net, number, now, plane, job, members)


def _of_job(
    wired: Wiring,
    net: Network,
    number: int,
    now: Carried,
    plane: Places,
    job: str,
    members: Places,
) -> Iterator[Cost]:
    box, accelerators, switch, gbps = _legs(wired, number, now, members)
    if not len(box):
        return
    total = summed(box, gbps, int(box.max()) + 1)
    held = np.bincount(accelerators)
    lost: dict[tuple[str, int], tuple[float, int]] = {}
    for what, group in (("switch", switch), ("plane", plane[switch])):
        if what == "plane" and len(np.unique(group)) < 2:
            continue
        worst, cut_off = _direct(box, group, gbps, total, held)
        lost.update({(what, int(one)): (worst[one], cut_off[one]) for one in np.unique(group)})
    lost.update(_further_up(wired, net, members, set(switch.tolist())))
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


def _legs(
    wired: Wiring, number: int, now: Carried, members: Places
) -> tuple[Places, Places, Places, Floats]:
    """Return box, its job's accelerators, switch and Gb/s of each link from a job to a switch.

    A box is an accelerator in the network that joins accelerators, else its host. Boxes are
    numbered; of the second array entry i is the box of the job's accelerator i.
    """
    inside = np.full(len(wired.devices), NOWHERE, np.intp)
    owner = members if NETWORKS[number] == "scale_up" else wired.box[members]
    boxes, which = np.unique(owner, return_inverse=True)
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
    return near[rows, side], which.astype(np.intp), ends[rows, 1 - side], now.gbps[rows]


def _direct(
    box: Places, group: Places, gbps: Floats, total: Floats, held: Places
) -> tuple[dict[int, float], dict[int, int]]:
    """Return by group of links the largest share a box loses, and accelerators cut off by it."""
    most = int(group.max()) + 1
    keys, place = np.unique(box * most + group, return_inverse=True)
    share = summed(place, gbps, len(keys)) / total[keys // most]
    worst: dict[int, float] = defaultdict(float)
    cut_off: dict[int, int] = defaultdict(int)
    for key, one in zip((keys % most).tolist(), share.tolist(), strict=True):
        worst[key] = max(worst[key], one)
    for key in keys[share > 1 - 1e-9].tolist():
        cut_off[key % most] += int(held[key // most]) if key // most < len(held) else 0
    return worst, cut_off


def _further_up(
    wired: Wiring, net: Network, members: Places, direct: set[int]
) -> dict[tuple[str, int], tuple[float, int]]:
    """Return what switches cost at which the job itself does not end, by what still flows."""
    units = net.units.of[members]
    held = np.bincount(units[units >= 0], minlength=len(net.units.names))
    used = np.flatnonzero(held)
    if len(used) < 2:
        return {}
    side = np.full(len(net.units.names), NOWHERE, np.int8)
    side[used] = np.cumsum(held[used]) > held.sum() / 2
    if side[used].min() == side[used].max():
        side[used[-1]], side[used[0]] = 1, 0
    whole = between(net, side)
    if whole <= 0:
        return {}
    found: dict[tuple[str, int], tuple[float, int]] = {}
    known: dict[bytes, float] = {}
    for switch in np.flatnonzero(wired.passes).tolist():
        node = int(net.node[switch])
        if switch in direct or node < len(net.units.names):
            continue
        rows = np.flatnonzero((net.ends == node).any(axis=1))
        if not len(rows):
            continue
        far = net.ends[rows].sum(axis=1) - node
        order = np.argsort(far)
        cabled = far[order].tobytes() + net.gbps[rows][order].tobytes()
        if cabled not in known:
            known[cabled] = max(0.0, 1.0 - between(net, side, node) / whole)
        found["switch", switch] = (known[cabled], 0)
    return found


def _planes(wired: Wiring, number: int) -> Places:
    """Return for each device the first switch of its plane ([d]); itself where it is no switch."""
    ends = wired.device[wired.network == number]
    ends = ends[wired.passes[ends].all(axis=1)]
    count = len(wired.devices)
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    _, first = np.unique(part, return_index=True)
    return np.asarray(first[part], np.intp)
