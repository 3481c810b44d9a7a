"""How long it takes to say where a job fits, and how fragmented a cluster is; and is it the best?

    python -m benchmarks.placement [--seed 1]

A synthetic cluster of 1,200 nodes of one to eight accelerators, half full of tasks that share
accelerators, is measured with FGD's metric for a mix of a thousand kinds of task; beside it, in the
same run, stands the definition in plain Python, node by node. A site of 8,192 accelerators in
domains of 1,024 is asked where jobs of 1 to 512 fit, in memory and by the whole query that a daemon
answers from its store. For large jobs HiGHS (scipy.optimize.milp) solves the same search for the
fewest racks to its optimum. Goals: fragmentation in under 1 s, a query in under 100 ms.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from analyzer.detector import AnyDetector
from analyzer.evidence.domain import fgd
from analyzer.evidence.domain.placing import placements
from analyzer.evidence.domain.room import Room, rooms
from analyzer.judge import detectors
from analyzer.viewing import Viewing
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import JOBS_PENDING, SCHEDULABLE
from fabrichealth.catalogue.verdicts import INCIDENT_INFO
from fabrichealth.cli._placing import looked, placement_rows
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Labels
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

GOAL_FRAGMENTATION, GOAL_QUERY = 1.0, 0.1

NODES, KINDS = 1200, 1000
DOMAINS, RACKS, HOSTS, EACH = 8, 16, 8, 8
"""Domains, racks of each, hosts of each rack, accelerators of each host."""
SIZES = (1, 2, 3, 4, 8, 16, 24, 64, 128, 256, 512)
NOW = 1_800_000_000.0

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that something took, and what came of it."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def cluster(seed: int) -> tuple[fgd.Nodes, fgd.Tasks]:
    """Return nodes that are half full, and kinds of task that are not equally common."""
    chance = np.random.default_rng(seed)
    has = chance.choice([1, 2, 4, 8], NODES, p=[0.1, 0.2, 0.2, 0.5])
    left = np.where(np.arange(8) < has[:, None], 1.0, 0.0)
    left *= chance.choice([0.0, 0.25, 0.5, 0.8, 1.0], left.shape, p=[0.35, 0.1, 0.1, 0.1, 0.35])
    cpu = has * chance.choice([4.0, 8.0, 12.0], NODES)
    nodes = fgd.Nodes(cpu, cpu * chance.choice([2.0, 6.0], NODES), left)
    wanted = chance.choice([0, 1, 2, 4, 8], KINDS, p=[0.13, 0.62, 0.1, 0.1, 0.05])
    share = np.where(wanted == 1, chance.choice([0.1, 0.25, 0.4, 0.5, 0.8, 1.0], KINDS), 1.0)
    asks = chance.integers(1, 97, KINDS).astype(np.float64)
    common = chance.pareto(1.2, KINDS) + 0.01
    tasks = fgd.Tasks(
        asks, asks * chance.choice([1.0, 4.0], KINDS), wanted, share, common / common.sum()
    )
    return nodes, tasks


def plainly(nodes: fgd.Nodes, tasks: fgd.Tasks) -> float:
    """Return the same ratio as the paper defines it, one node and one kind at a time."""
    kinds = list(
        zip(
            tasks.cpu.tolist(), tasks.memory.tolist(), tasks.accelerators.tolist(),
            tasks.share.tolist(), tasks.popularity.tolist(), strict=True,
        )
    )  # fmt: skip
    lost = 0.0
    for cpu, memory, own in zip(
        nodes.cpu.tolist(), nodes.memory.tolist(), nodes.accelerators.tolist(), strict=True
    ):
        whole = sum(own)
        for asks, holds, wanted, share, common in kinds:
            fits = [one for one in own if one >= share - fgd.EPSILON]
            runs = wanted > 0 and asks <= cpu and holds <= memory and len(fits) >= wanted
            lost += common * (whole - sum(fits) if runs else whole)
    return lost / float(nodes.accelerators.sum())


def site() -> Topology:
    """Return eight domains of 1,024, each accelerator on a link of its own."""
    devices: list[Device] = []
    links: list[Link] = []
    racks: list[Rack] = []
    for d in range(DOMAINS):
        pod = f"pod-{d}"
        devices.append(Device(name=f"{pod}-sw", role="switch", domain=pod))
        for r in range(RACKS):
            racks.append(Rack(name=f"{pod}-r{r:02}", domain=pod))
            for h in range(HOSTS):
                host = f"{pod}-h{r * HOSTS + h:03}"
                devices.append(Device(name=host, role="host", rack=racks[-1].name, domain=pod))
                for n in range(EACH):
                    devices.append(Device(name=f"{host}-{n}", role="accelerator", host=host))
                    links.append(
                        Link(
                            a=f"{host}-{n}/nvlink/0", b=f"{pod}-sw/{host}-{n}", technology="nvlink"
                        )
                    )
    size = RACKS * HOSTS * EACH
    return Topology(
        devices, links, [Domain(name=f"pod-{d}", accelerators=size) for d in range(DOMAINS)], racks
    )


def told(store: EmbeddedStore, topology: Topology, seed: int) -> None:
    """Let a scheduler speak for ten minutes: 45 % of the hosts are free, the others partly."""
    chance = np.random.default_rng(seed)
    hosts = [name for name, one in topology.devices.items() if one.role == "host"]
    values: dict[tuple[Metric, Labels], float] = {}
    for host in hosts:
        held = 0 if chance.random() < 0.45 else int(chance.integers(1, EACH + 1))
        values[SCHEDULABLE, (host,)] = float(chance.random() > 0.02)
        for n, name in enumerate(topology.hosted[host]):
            values[ALLOCATED, (name,)] = float(n < held)
    for size in (2, 8, 64, 256):
        values[JOBS_PENDING, ("", str(size))] = 3.0
    for link in chance.choice(sorted(topology.links), 40, replace=False).tolist():
        values[INCIDENT_INFO, (link, "link.subhealthy", "ticket", "", link, "")] = 1.0
    clock = store.table.clock("scheduler", "slurm")
    series, read = store.table.intern_all(values), np.array(list(values.values()))
    store.append([Batch(clock, NOW - 30.0 * back, series, read) for back in range(19, -1, -1)])


def _query(store: EmbeddedStore, topology: Topology, size: int) -> list[dict[str, Any]]:
    """Return what a daemon answers."""
    return placement_rows(looked(store, topology, [], NOW), size)


def _jobs(topology: Topology) -> list[Event]:
    """Return jobs as events, two accelerators of a host each; where none is held they count not."""
    return [
        Event(NOW - 3600.0, "job_start", {"job": f"j-{host}-{n}"},
              more={"accelerators": [f"{host}-{n}", f"{host}-{n + 1}"]})
        for host, one in topology.devices.items() if one.role == "host"
        for n in range(0, EACH, 2)
    ]  # fmt: skip


def _pass(
    detector: AnyDetector, store: EmbeddedStore, topology: Topology, events: list[Event]
) -> int:
    """Judge once, as after every poll, and count what is said."""
    viewing = Viewing(store, {"detector": detector})
    viewing.advance(NOW)
    view = viewing.view(detector, topology, events, ())
    return len(list(detector.judge(view))) + len(list(detector.verdicts(view, {})))


def fewest_racks(room: Room, job: int) -> int | None:
    """Return the fewest racks that whole trays for a job can lie in, solved to the optimum.

    None where it does not fit.
    """
    if room.units("tray").whole < job:
        return None
    rack = room.rack_of
    whole = np.where(room.fit == room.size, room.size, 0).astype(np.float64)
    held = np.bincount(rack, weights=whole)
    solved = milp(
        np.ones(len(held)),
        constraints=LinearConstraint(held[None, :], lb=job),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(held), np.int64),
    )
    assert solved.fun is not None
    return round(float(solved.fun))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    nodes, tasks = cluster(seed)
    fgd.ratio(nodes, tasks)
    quick, found = timed(lambda: fgd.ratio(nodes, tasks))
    slow, same = timed(lambda: plainly(nodes, tasks))
    assert found is not None
    assert abs(found - same) < 1e-9, (found, same)
    print(
        f"FGD's metric of {NODES} nodes and {KINDS} kinds of task: {100 * found:.2f} % in "
        f"{1e3 * quick:.1f} ms (goal {GOAL_FRAGMENTATION:g} s {_met(quick, GOAL_FRAGMENTATION)}); "
        f"plain Python {slow:.2f} s, the same to 1e-9, {slow / quick:.0f} times as long"
    )
    topology = site()
    with tempfile.TemporaryDirectory() as folder:
        store = EmbeddedStore.open(Path(folder) / "store")
        told(store, topology, seed)
        first, _ = timed(partial(_query, store, topology, 64))
        took = [timed(partial(_query, store, topology, size))[0] for size in SIZES]
        print(
            f"a query of {DOMAINS * RACKS * HOSTS * EACH} accelerators, from the store: median "
            f"{1e3 * median(took):.0f} ms, longest {1e3 * max(took):.0f} ms, first of a process "
            f"{1e3 * first:.0f} ms (goal {1e3 * GOAL_QUERY:g} ms {_met(max(took), GOAL_QUERY)})"
        )
        detector = detectors()["domain_fragmented"]
        events = _jobs(topology)
        passed, said = timed(partial(_pass, detector, store, topology, events))
        print(f"a pass of domain_fragmented over it, {len(events)} jobs: {1e3 * passed:.0f} ms, "
              f"{said} series and findings")  # fmt: skip
        every = list(rooms(looked(store, topology, [], NOW)).values())
        store.close()
    waiting = {2: 3, 8: 3, 64: 3, 256: 3}
    ours, theirs, best, asked = 0.0, 0.0, 0, 0
    for size in (16, 24, 64, 128, 256, 512):
        for room in every:
            seconds, places = timed(partial(placements, [room], size, waiting))
            other, racks = timed(partial(fewest_racks, room, size))
            ours, theirs = ours + seconds, theirs + other
            asked += 1
            best += racks == (len(places[0].racks) if places else None)
    print(
        f"places of jobs of 16 to 512 in one domain: {1e3 * ours / asked:.2f} ms each; HiGHS "
        f"{1e3 * theirs / asked:.2f} ms for the racks alone, {theirs / ours:.1f} times as long; as "
        f"few racks as the optimum in {best} of {asked}"
    )


def _met(seconds: float, goal: float) -> str:
    return "met" if seconds < goal else "MISSED"


if __name__ == "__main__":
    main()
