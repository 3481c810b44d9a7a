"""Peers: accelerators that should do the same at the same time.

They are of one job, play the same role in it (a stage of a pipeline does other work than the next)
and are of the same model. Whoever differs from these differs for a reason of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.allocation import Allocation
from analyzer.evidence.domain.inventory import Inventory, Rows
from analyzer.evidence.domain.jobs import Job
from fabrichealth.topology import Topology

FEWEST = 4
"""Fewer peers than this have no usual one among them."""

ABSENT = -1
"""In place of a row of the inventory where a host has no accelerator in this place."""


@dataclass(frozen=True, eq=False)
class Peers:
    """One group of accelerators that work in step."""

    job: Job
    role: str
    """Empty where the job tells of no roles."""
    model: str
    rows: Rows
    """Of the inventory ([m])."""
    hosts: tuple[str, ...]
    """Hosts that hold them, one row of the grid each; a host that is not known is its own name."""
    grid: NDArray[np.intp]
    """Place in `rows` by host and by place in the host ([h, c]); `ABSENT` where there is none."""

    def but(self, some: int) -> str:
        """Return them for a person, so many of them aside."""
        part = f" ({self.role})" if self.role else ""
        return f"{len(self.rows) - some} peers in job {self.job.name}{part}"

    def by_host(self, host: int) -> Rows:
        """Return the rows of the inventory that one host of the grid holds."""
        own = self.grid[host]
        return np.asarray(self.rows[own[own != ABSENT]], np.intp)


def peers(stock: Inventory, held: Allocation) -> Iterator[Peers]:
    """Yield the groups of the jobs that run now, those of fewer than four left out."""
    for job in held.running:
        roles = _roles(job)
        groups: dict[tuple[str, str], list[int]] = {}
        for name in job.accelerators:
            row = stock.row(name)
            if row is None or held.holder(name) is not job:
                continue  # not in the inventory, or another job took it
            groups.setdefault((roles.get(name, ""), stock.model.of(row)), []).append(row)
        for (role, model), rows in sorted(groups.items()):
            if len(rows) >= FEWEST:
                yield _arranged(stock, job, role, model, np.array(sorted(rows), np.intp))


def _roles(job: Job) -> dict[str, str]:
    """Return the role of each accelerator; one that plays several has their names joined."""
    found: dict[str, str] = {}
    for role, those in job.roles.items():
        for name in those:
            found[name] = f"{found[name]}+{role}" if name in found else role
    return found


def _arranged(stock: Inventory, job: Job, role: str, model: str, rows: Rows) -> Peers:
    """Put accelerators side by side by host; names of the inventory are in order within one."""
    on_host: dict[str, list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        on_host.setdefault(stock.host.of(row) or stock.names[row], []).append(place)
    widest = max(map(len, on_host.values()))
    grid = np.full((len(on_host), widest), ABSENT, np.intp)
    for line, places in zip(grid, on_host.values(), strict=True):
        line[: len(places)] = places
    return Peers(job, role, model, rows, tuple(on_host), grid)


def hosts_of(job: Job, topology: Topology) -> tuple[str, ...]:
    """Return the written hosts that a job runs on, in the order of its accelerators."""
    found: dict[str, None] = {}
    for name in job.accelerators:
        row = topology.devices.get(name)
        if row is not None and row.host:
            found[row.host] = None
    return tuple(found)
