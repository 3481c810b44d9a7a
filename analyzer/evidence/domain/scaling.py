"""Scaling: what bus bandwidth a benchmark reached by number of accelerators, beside the limit.

Bus bandwidth is made so that it does not depend on the number of ranks (nccl-tests,
doc/PERFORMANCE.md): it is what the slowest wire carried. So within one scale-up network it is at
most what the links of an accelerator carry in one direction, and beyond it at most what a host
sends to others, for a ring enters and leaves every host once. In an all-to-all every accelerator
sends to all others at once: of its n-1 parts those leave by the host's ports that are not for its
own scale-up network, and it shares these ports with the others of its host. What else there is
(pairs, roots) has no limit of this kind.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.domain.wiring import Wiring, summed

RINGS = frozenset({"all_reduce", "all_gather", "reduce_scatter", "reduce", "broadcast"})
ALL_TO_ALL = frozenset({"alltoall", "alltoallv"})


@dataclass(frozen=True, slots=True)
class Limit:
    """What the links of a domain could give, in bytes per second; None where none is written."""

    accelerator: float | None
    """One direction of all scale-up links of an accelerator; the median over the domain."""
    host: float | None
    """One direction of all scale-out links of a host; the median over the domain."""
    island: int
    """How many accelerators scale-up links join, in the largest part."""
    each: int = 0
    """Accelerators of a host, the median; 0 where no host is known."""

    def of(self, accelerators: int, operation: str) -> float | None:
        """Return the most that so many accelerators can reach together in an operation."""
        if operation not in RINGS | ALL_TO_ALL:
            return None
        if accelerators <= self.island:
            return self.accelerator
        host = self.host
        if host is not None and operation in ALL_TO_ALL:
            outside = accelerators - max(self.island, self.each)
            shared = self.each * outside
            host = host * (accelerators - 1) / shared if shared > 0 else None
        if host is None or self.accelerator is None:
            return host
        return min(host, self.accelerator)


@dataclass(frozen=True, slots=True)
class Point:
    """The largest size that was measured with one number of accelerators; bytes per second."""

    benchmark: str
    operation: str
    accelerators: int
    size: int
    reached: float
    limit: float | None
    first: float
    """What the smallest number of accelerators of the same benchmark and operation reached."""

    @property
    def of_limit(self) -> float | None:
        """Share of what the links could give."""
        return self.reached / self.limit if self.limit else None


def limit(wired: Wiring, domain: str) -> Limit:
    """Return what the links of a domain were built to give."""
    units = wired.units(domain)
    every = units.accelerators
    count = len(wired.devices)
    speeds = []
    for number, owner in ((0, np.arange(count)), (1, wired.box)):
        rows = np.flatnonzero(wired.network == number)
        ends = wired.device[rows]
        near = np.where(wired.member[ends], owner[ends], ends)
        total = summed(near.ravel(), np.repeat(wired.gbps[rows], 2), count)
        mine = total[np.unique(owner[every])] if len(every) else np.empty(0)
        mine = mine[mine > 0]
        told = not wired.counted[number] and len(mine) > 0
        speeds.append(float(np.median(mine)) * 1e9 / 8.0 if told else None)
    ends = wired.device[wired.network == 0]
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    island = int(np.bincount(part[every]).max()) if len(every) else 0
    _, many = np.unique(wired.box[every], return_counts=True)
    return Limit(speeds[0], speeds[1], island, int(np.median(many)) if len(every) else 0)


def scaling(
    readings: Iterable[tuple[tuple[str, str, str, str], float]], most: Limit | None
) -> list[Point]:
    """Return a curve for each benchmark and operation, by number of accelerators.

    `readings` are (benchmark, operation, bytes, accelerators) and bytes per second. What is no
    number is left out.
    """
    best: dict[tuple[str, str], dict[int, tuple[int, float]]] = defaultdict(dict)
    for (benchmark, operation, size, ranks), value in readings:
        if not (size.isdecimal() and ranks.isdecimal() and int(ranks) > 0):
            continue
        curve = best[benchmark, operation]
        curve[int(ranks)] = max(curve.get(int(ranks), (0, 0.0)), (int(size), value))
    found = []
    for (benchmark, operation), curve in sorted(best.items()):
        first = curve[min(curve)][1]
        for number, (largest, reached) in sorted(curve.items()):
            bound = most.of(number, operation) if most is not None else None
            found.append(Point(benchmark, operation, number, largest, reached, bound, first))
    return found
