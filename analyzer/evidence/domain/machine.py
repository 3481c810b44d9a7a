"""What of a domain still works as one machine: its effective size after degradations.

A collective runs at the pace of its narrowest member. So an accelerator counts while in each of its
networks it reaches those it was built to reach over links that carry something, and keeps the share
of what it was built with that the site calls enough (`policy.capacity_floor`). No network stands in
for the other: a domain whose memory network is cut in two is two machines, though InfiniBand joins
them.
"""

from dataclasses import dataclass
from functools import cached_property

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


class Pieces:
    """What links carry to each device, and the pieces they join devices to: of all domains at once.

    Worked out as it is asked for. Arrays are [network, device], and [device] for parts of a graph.
    """

    def __init__(self, wired: Wiring, now: Carried) -> None:
        self.wired = wired
        self.now = now

    def machine(self, domain: str, floor: float, size: int) -> Machine | None:
        """Return what still works as one; None where no link of an accelerator was heard of.

        `floor` is a share of what was built, `size` the accelerators that the domain should have.
        """
        wired, every = self.wired, self.wired.units(domain).accelerators
        kept, ought, built = (self._at(one, every) for one in self._attached)
        has = built > 0
        read = np.asarray((ought > 0).any(axis=1), bool)
        has &= read[:, None]  # a network that nobody reads tells nothing
        if not has.any():
            return None
        here = ought > 0
        heard = np.asarray((has & here).any(axis=0) & (~has | here).all(axis=0), bool)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(ought > 0, kept / ought, np.inf).min(axis=0)
        joined = heard & _largest(self._reached[every], np.zeros(len(every), np.intp), heard)
        for number, (whole, left) in enumerate(self._parts):
            joined &= ~has[number] | _largest(left[every], whole[every], joined)
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

    def _at(self, attached: Floats, every: Places) -> Floats:
        """Return what accelerators have: the scale-out network is that of their hosts."""
        places = (every, self.wired.box[every])  # by network
        return np.stack([of.take(mine) for of, mine in zip(attached, places, strict=True)])

    @cached_property
    def _attached(self) -> tuple[Floats, Floats, Floats]:
        """What is carried now over links that are heard, what these were built for, and all."""
        wired, heard = self.wired, self.now.heard
        return (
            _attached(wired, self.now.gbps, heard),
            _attached(wired, wired.gbps, heard),
            _attached(wired, wired.gbps, np.ones_like(heard)),
        )

    @cached_property
    def _alive(self) -> Bools:
        """Which links cut nobody off: of those that are not heard nothing says so."""
        return np.asarray(~self.now.heard | (self.now.gbps > 0), bool)

    @cached_property
    def _reached(self) -> Places:
        """Part in which a device lies over links of all networks."""
        return _parts(self.wired, self._alive)

    @cached_property
    def _parts(self) -> list[tuple[Places, Places]]:
        """Part in which a device lies in each network: as it was built, and as it is."""
        wired, found = self.wired, []
        for number, name in enumerate(NETWORKS):
            own, hosts = wired.network == number, name == "scale_out"
            built = _parts(wired, own, within_hosts=hosts)
            left = _parts(wired, own & self._alive, within_hosts=hosts)
            found.append((built, left))
        return found


def _attached(wired: Wiring, gbps: Floats, which: Bools) -> Floats:
    """Return what those links at each device come to, by network.

    Scale-out links of NICs count for the host that holds them, and so do an accelerator's own.
    """
    found = []
    for number, name in enumerate(NETWORKS):
        rows = np.flatnonzero((wired.network == number) & which)
        ends = wired.device[rows]
        if name == "scale_out":
            ends = np.where(wired.member[ends], wired.box[ends], ends)
        found.append(summed(ends.ravel(), np.repeat(gbps[rows], 2), len(wired.devices)))
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


def _parts(wired: Wiring, which: Bools, *, within_hosts: bool = True) -> Places:
    """Return the part of the graph of some links that each device lies in ([d]).

    A link of which nothing is heard cuts nobody off: only one that is known to be dead does.
    """
    ends = wired.device[which]
    if within_hosts:  # a host joins what it holds
        inside = np.flatnonzero(wired.box != np.arange(len(wired.devices)))
        inside = inside[wired.member[inside]]
        ends = np.concatenate([ends, np.stack([inside, wired.box[inside]], axis=1)])
    shape = (len(wired.devices),) * 2
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
    return np.asarray(connected_components(graph, directed=False)[1], np.intp)
