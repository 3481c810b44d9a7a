"""What of a domain still works as one machine: its effective size after degradations.

A collective runs at the pace of its narrowest member. So an accelerator counts while in each of its
networks it reaches those it was built to reach over links that carry something, and keeps the share
of what it was built with that the site calls enough (`policy.capacity_floor`). No network stands in
for the other: a domain whose memory network is cut in two is two machines, though InfiniBand joins
them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.domain.wiring import NETWORKS, Bools, Carried, Places, Wiring, summed
from fabrichealth.model import Floats


@dataclass(frozen=True, eq=False)
class Machine:
    """A domain's accelerators by what they still can; names are in the topology's order."""

    size: int
    """How many it should have, those without a name included."""
    effective: int
    """How many work as one machine."""
    cut_off: tuple[str, ...]
    """Those that reach the others no more."""
    thin: tuple[str, ...]
    """Those that reach them over less than the floor."""
    unheard: tuple[str, ...]
    """Those of whose links in a network that is read nothing is heard: neither well nor ill."""


def machine(wired: Wiring, domain: str, now: Carried, floor: float, size: int) -> Machine | None:
    """Return what still works as one; None where no link of an accelerator was heard of.

    `floor` is a share of what was built, `size` the accelerators that the domain should have.
    """
    every = wired.units(domain).accelerators
    places = every, wired.box[every]  # by network
    kept = _attached(wired, now.gbps, now.heard, places)
    ought = _attached(wired, wired.gbps, now.heard, places)
    has = _attached(wired, wired.gbps, np.ones_like(now.heard), places) > 0
    read = np.asarray((ought > 0).any(axis=1), bool)
    has &= read[:, None]  # a network that nobody reads tells nothing
    if not has.any():
        return None
    heard = np.asarray((has & (ought > 0)).any(axis=0) & (~has | (ought > 0)).all(axis=0), bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(ought > 0, kept / ought, np.inf).min(axis=0)
    alive = ~now.heard | (now.gbps > 0)
    joined = heard & _largest(_parts(wired, every, alive), np.zeros(len(every), np.intp), heard)
    for number, name in enumerate(NETWORKS):
        own, hosts = wired.network == number, name == "scale_out"
        built = _parts(wired, every, own, within_hosts=hosts)
        left = _parts(wired, every, own & alive, within_hosts=hosts)
        joined &= ~has[number] | _largest(left, built, joined)
    works = joined & (share >= floor - 1e-9)

    def names(chosen: Bools) -> tuple[str, ...]:
        return tuple(wired.devices[number] for number in every[chosen].tolist())

    return Machine(
        max(size, len(every)),
        int(works.sum()),
        names(heard & ~joined),
        names(joined & ~works),
        names(~heard),
    )


def _attached(wired: Wiring, gbps: Floats, which: Bools, places: tuple[Places, Places]) -> Floats:
    """Return what those links at each place come to, by network ([network, place]).

    Scale-out links of NICs count for the host that holds them, and so do an accelerator's own.
    """
    found = []
    for number, mine in enumerate(places):
        rows = np.flatnonzero((wired.network == number) & which)
        ends = wired.device[rows]
        if NETWORKS[number] == "scale_out":
            ends = np.where(wired.member[ends], wired.box[ends], ends)
        found.append(summed(ends.ravel(), np.repeat(gbps[rows], 2), len(wired.devices)).take(mine))
    return np.stack(found)


def _largest(left: Places, built: Places, counts: Bools) -> Bools:
    """Return which accelerators lie in the largest piece of the part they were built in ([a]).

    Pieces are as large as the accelerators in them that count. Islands by design (NVLink within
    each host) are parts of their own, so that nobody is cut off from another.
    """
    size = np.bincount(left, counts)
    order = np.argsort(size[left], kind="stable")
    largest = np.zeros(int(built.max()) + 1, np.intp)
    largest[built[order]] = left[order]  # the last that is written is of the largest piece
    return np.asarray(left == largest[built], bool)


def _parts(wired: Wiring, every: Places, which: Bools, *, within_hosts: bool = True) -> Places:
    """Return the part of the graph of some links that each accelerator lies in ([a]).

    A link of which nothing is heard cuts nobody off: only one that is known to be dead does.
    """
    ends = wired.device[which]
    if within_hosts:  # a host joins what it holds
        inside = np.flatnonzero(wired.box != np.arange(len(wired.devices)))
        inside = inside[wired.member[inside]]
        ends = np.concatenate([ends, np.stack([inside, wired.box[inside]], axis=1)])
    shape = (len(wired.devices),) * 2
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
    return np.asarray(connected_components(graph, directed=False)[1][every], np.intp)
