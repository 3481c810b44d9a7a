"""What of a domain still works as one machine: its effective size after degradations.

A collective runs at the pace of its narrowest member. So an accelerator counts while it reaches
the others over links that carry something, and in each of its networks keeps the share of what it
was built with that the site calls enough (`policy.capacity_floor`).
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
    """Those of whose links nothing is heard: neither well nor ill."""


def machine(wired: Wiring, domain: str, now: Carried, floor: float, size: int) -> Machine | None:
    """Return what still works as one; None where no link of an accelerator was heard of.

    `floor` is a share of what was built, `size` the accelerators that the domain should have.
    """
    every = wired.units(domain).accelerators
    left, built = _attached(wired, now)
    boxes = wired.box[every]
    own = np.stack([left[0][every], left[1][boxes]])
    ought = np.stack([built[0][every], built[1][boxes]])
    heard: Bools = np.asarray((ought > 0).any(axis=0), bool)
    if not heard.any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(ought > 0, own / ought, np.inf).min(axis=0)
    joined = _largest(wired, every, now) & heard
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


def _attached(wired: Wiring, now: Carried) -> tuple[list[Floats], list[Floats]]:
    """Return by network what the links of each device carry, and were built for ([d]).

    Scale-out links of NICs count for the host that holds them, and so do an accelerator's own.
    """
    left, built = [], []
    for number in range(len(NETWORKS)):
        rows = np.flatnonzero((wired.network == number) & now.heard)
        ends = wired.device[rows]
        if NETWORKS[number] == "scale_out":
            ends = np.where(wired.member[ends], wired.box[ends], ends)
        flat = ends.ravel()
        count = len(wired.devices)
        left.append(summed(flat, np.repeat(now.gbps[rows], 2), count))
        built.append(summed(flat, np.repeat(wired.gbps[rows], 2), count))
    return left, built


def _largest(wired: Wiring, every: Places, now: Carried) -> Bools:
    """Return which accelerators lie in the part that joins most of them.

    A link of which nothing is heard cuts nobody off: only one that is known to be dead does.
    """
    carrying = wired.device[~now.heard | (now.gbps > 0)]
    inside = np.flatnonzero(
        wired.box != np.arange(len(wired.devices))
    )  # a host joins what it holds
    inside = inside[wired.member[inside]]
    ends = np.concatenate([carrying, np.stack([inside, wired.box[inside]], axis=1)])
    graph = csr_array(
        (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(wired.devices),) * 2
    )
    _, part = connected_components(graph, directed=False)
    mine = part[every]
    return np.asarray(mine == np.bincount(mine).argmax(), bool)
