"""The metric of fragmentation on the public openb cluster, and what placing by it gives there.

    python -m benchmarks.openb [FOLDER] [--seeds 1]

FOLDER holds the public lists of nodes and pods (`openb_node_list_gpu_node.csv.gz`,
`openb_pod_list_default.csv.gz`; default: beside the checkout). First the metric on the empty
cluster. Then pods drawn from the list come in random order until they ask for 130 % of all
accelerators, and are placed by FGD (least growth of the expected fragmentation), by best fit, or
anywhere; one that fits nowhere is turned away. Beside our means stand those that the authors of FGD
publish. Which model of accelerator a pod wants is not looked at.
"""

import argparse
import csv
import gzip
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analyzer.evidence.domain import fgd
from analyzer.evidence.domain.fragmentation import Counts
from fabrichealth.model import Floats

FOLDER = Path(__file__).parents[2] / "shared" / "datasets" / "openb-gpu-fragmentation"
NODES, PODS = "openb_node_list_gpu_node.csv.gz", "openb_pod_list_default.csv.gz"

EMPTY = 13.894
"""Per cent on the empty cluster, as the definition gives it."""

PUBLISHED = {"anywhere": (30.2, 87.5), "best fit": (21.6, 93.1), "FGD": (17.9, 95.4)}
"""Fragmentation at 50 % load, and what is allocated at 130 %, per cent: means of the authors."""

MOST = 8
"""Accelerators of a node."""


def column(file: Path, *keys: str) -> Floats:
    """Return columns of a list as numbers ([row, key]); what is empty is 0."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [[float(row[key] or 0) for key in keys] for row in csv.DictReader(lines)]
    return np.array(rows, np.float64)


@dataclass
class Cluster:
    """What is left on every node, and what of it each class of pod would spoil."""

    nodes: fgd.Nodes
    tasks: fgd.Tasks

    def __post_init__(self) -> None:
        self.lost = fgd.expected(self.nodes, self.tasks)
        shape = (len(self.tasks.cpu), len(self.nodes.cpu))
        self.growth, self.choice = np.full(shape, np.inf), np.zeros(shape, np.int64)
        state = np.column_stack([self.nodes.cpu, self.nodes.memory, self.nodes.accelerators])
        _, first, same = np.unique(state, axis=0, return_index=True, return_inverse=True)
        for kind, node in enumerate(first.tolist()):
            self._look(node)
            alike = np.flatnonzero(same.reshape(-1) == kind)
            self.growth[:, alike] = self.growth[:, [node]]
            self.choice[:, alike] = self.choice[:, [node]]

    def fits(self, kind: int) -> Counts:
        """Return the nodes on which a class of pod fits."""
        return np.flatnonzero(np.isfinite(self.growth[kind])).astype(np.int64)

    def put(self, kind: int, node: int) -> None:
        """Place a pod on a node, on the accelerators where it spoils least."""
        taken = self._taken(kind, node, int(self.choice[kind, node]))
        self.nodes.accelerators[node] = np.maximum(self.nodes.accelerators[node] - taken, 0.0)
        self.nodes.cpu[node] -= self.tasks.cpu[kind]
        self.nodes.memory[node] -= self.tasks.memory[kind]
        one = fgd.Nodes(*(part[[node]] for part in self._parts()))
        self.lost[node] = fgd.expected(one, self.tasks)[0]
        self._look(node)

    def _parts(self) -> Iterable[Floats]:
        return self.nodes.cpu, self.nodes.memory, self.nodes.accelerators

    def _taken(self, kind: int, node: int, choice: int) -> Floats:
        """Return what a pod takes of each accelerator; of several whole ones the first."""
        taken = np.zeros(MOST)
        wanted, share = int(self.tasks.accelerators[kind]), float(self.tasks.share[kind])
        if wanted == 1:
            taken[choice] = share
        elif wanted > 1:
            taken[np.flatnonzero(self.nodes.accelerators[node] >= 1 - fgd.EPSILON)[:wanted]] = 1.0
        return taken

    def _look(self, node: int) -> None:
        """Work out anew what each class of pod would spoil on a node."""
        left, tasks = self.nodes.accelerators[node], self.tasks
        enough = left[None, :] >= tasks.share[:, None] - fgd.EPSILON
        fits = enough.sum(axis=1) >= tasks.accelerators
        fits &= (self.nodes.cpu[node] >= tasks.cpu) & (self.nodes.memory[node] >= tasks.memory)
        self.growth[:, node] = np.inf
        tried = [
            (kind, place)
            for kind in np.flatnonzero(fits).tolist()
            for place in (
                np.unique(np.round(left, 6), return_index=True)[1].tolist()
                if tasks.accelerators[kind] == 1
                else [0]
            )
            if tasks.accelerators[kind] != 1 or enough[kind, place]
        ]
        if not tried:
            return
        kinds = np.array([kind for kind, _ in tried])
        after = np.stack([left - self._taken(kind, node, place) for kind, place in tried])
        would = fgd.Nodes(
            self.nodes.cpu[node] - tasks.cpu[kinds],
            self.nodes.memory[node] - tasks.memory[kinds],
            np.maximum(after, 0.0),
        )
        grown = fgd.expected(would, tasks) - self.lost[node]
        for (kind, place), spoilt in zip(tried, grown.tolist(), strict=True):
            if spoilt < self.growth[kind, node]:
                self.growth[kind, node], self.choice[kind, node] = spoilt, place


def replay(has: Floats, tasks: fgd.Tasks, policy: str, seed: int) -> tuple[float, float]:
    """Return per cent: fragmentation when pods for half of all came, and allocated at the end."""
    chance = np.random.default_rng(seed)
    whole = (np.arange(MOST) < has[:, 2:3]).astype(np.float64)
    cluster = Cluster(fgd.Nodes(has[:, 0].copy(), has[:, 1].copy(), whole), tasks)
    total, came, half = whole.sum(), 0.0, float("nan")
    while came < 1.3 * total:
        kind = int(chance.choice(len(tasks.cpu), p=tasks.popularity))
        came += tasks.accelerators[kind] * tasks.share[kind]
        fitting = cluster.fits(kind)
        if len(fitting):
            cluster.put(kind, _chosen(cluster, kind, fitting, policy, chance))
        if np.isnan(half) and came >= 0.5 * total:
            half = 100 * float(cluster.lost.sum() / cluster.nodes.accelerators.sum())
    return half, 100 * float(1 - cluster.nodes.accelerators.sum() / total)


def _chosen(
    cluster: Cluster, kind: int, fitting: Counts, policy: str, chance: np.random.Generator
) -> int:
    if policy == "anywhere":
        return int(chance.choice(fitting))
    left = cluster.nodes
    tight = left.accelerators[fitting].sum(axis=1) / MOST + left.cpu[fitting] / left.cpu.max()
    if policy == "best fit":
        return int(fitting[np.argmin(tight)])
    spoilt = np.round(cluster.growth[kind, fitting], 9)
    return int(fitting[np.lexsort((tight, spoilt))[0]])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    if not (asked.folder / NODES).exists():
        print(f"{asked.folder}: no openb lists there; give their folder")
        return
    has = column(asked.folder / NODES, "cpu_milli", "memory_mib", "gpu")
    wants = column(asked.folder / PODS, "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
    began = time.perf_counter()
    share = np.where(wants[:, 2] == 1, wants[:, 3] / 1000, 1.0)
    tasks = fgd.classes(wants[:, 0], wants[:, 1], wants[:, 2].astype(np.int64), share)
    whole = (np.arange(MOST) < has[:, 2:3]).astype(np.float64)
    found = fgd.ratio(fgd.Nodes(has[:, 0], has[:, 1], whole), tasks)
    took = time.perf_counter() - began
    assert found is not None
    print(
        f"empty cluster of {len(has)} nodes, {len(wants)} pods of {len(tasks.cpu)} classes: "
        f"{100 * found:.3f} % ({EMPTY} % by the definition) in {1e3 * took:.0f} ms\n"
    )
    print("| placed | fragmented at 50 % load | published | allocated at 130 % | published |")
    print("|---|---|---|---|---|")
    for policy, (half, end) in PUBLISHED.items():
        runs = np.array([replay(has, tasks, policy, seed) for seed in range(asked.seeds)])
        ours = runs.mean(axis=0)
        print(f"| {policy} | {ours[0]:.1f} | {half} | {ours[1]:.1f} | {end} |", flush=True)


if __name__ == "__main__":
    main()
