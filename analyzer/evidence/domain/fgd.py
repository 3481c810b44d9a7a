"""Fragmentation as the scheduler FGD measures it: what a typical task cannot use of a node.

Of a node, a class of tasks cannot use any accelerator where the node lacks processors, memory or
accelerators for it (or where the class wants none), and else those of which too little is left for
one of its own. Weighed by how common each class is, that is the node's expected fragmentation; over
all nodes and what is left on them it is the cluster's. (Weng et al., Beware of Fragmentation,
USENIX ATC 2023, section 3.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats

Counts = NDArray[np.int64]

EPSILON = 1e-9
"""Shares of an accelerator are sums of decimals."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """What is left on each node: processors and memory in any unit that the tasks share."""

    cpu: Floats
    memory: Floats
    accelerators: Floats
    """What is left of each accelerator, 0..1 ([n, g]); 0 where a node has fewer of them."""


@dataclass(frozen=True, eq=False)
class Tasks:
    """Classes of tasks ([m]), and how common each is (they add up to 1)."""

    cpu: Floats
    memory: Floats
    accelerators: Counts
    """How many a task wants; 0 for none."""
    share: Floats
    """Of each accelerator, 0..1; 1 for whole ones."""
    popularity: Floats


def classes(cpu: Floats, memory: Floats, accelerators: Counts, share: Floats) -> Tasks:
    """Return tasks ([t], one row a task) as classes of equal ones, as common as they are."""
    rows = np.stack([cpu, memory, accelerators.astype(np.float64), share], axis=1)
    distinct, many = np.unique(rows, axis=0, return_counts=True)
    wanted = distinct[:, 2].astype(np.int64)
    return Tasks(distinct[:, 0], distinct[:, 1], wanted, distinct[:, 3], many / len(rows))


def expected(nodes: Nodes, tasks: Tasks) -> Floats:
    """Return the accelerators of each node that a typical task could not use ([n])."""
    left = nodes.accelerators.sum(axis=1)
    usable = np.zeros_like(left)
    for share in np.unique(tasks.share[tasks.accelerators > 0]):
        mine = np.flatnonzero((tasks.share == share) & (tasks.accelerators > 0))
        enough = nodes.accelerators >= min(share, 1.0) - EPSILON
        held = np.where(enough, nodes.accelerators, 0.0).sum(axis=1)
        runs = (
            (enough.sum(axis=1)[:, None] >= tasks.accelerators[mine])
            & (nodes.cpu[:, None] >= tasks.cpu[mine])
            & (nodes.memory[:, None] >= tasks.memory[mine])
        )
        usable += held * (runs @ tasks.popularity[mine])
    return np.asarray(left * tasks.popularity.sum() - usable, np.float64)


def ratio(nodes: Nodes, tasks: Tasks) -> float | None:
    """Return the share of what is left that a typical task cannot use; None if nothing is left."""
    left = float(nodes.accelerators.sum())
    return float(expected(nodes, tasks).sum()) / left if left > 0 else None
