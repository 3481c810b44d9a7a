"""What links of a domain carry, its bisection and effective size: one look, as judging takes it.

`python -m benchmarks.interconnect [--sizes 1024 8192]`: accelerators with 18 ports each on planes
of leaf switches, 64 accelerators a leaf, four spines a plane. One end of each link is read every
10 s; a look takes ten minutes of byte counters. Beside it, in the same run, the smallest cut of one
halving by networkx over the same graph (`minimum_cut_value`, preflow-push), and whether both agree;
and what failures cost 16 jobs. A look is due once a minute: the goal is 1 s of 1,024 accelerators
and 6 s of 8,192.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np

from analyzer.evidence.domain.bisection import (
    Bisection,
    Network,
    between,
    bisection,
    network,
)
from analyzer.evidence.domain.failures import costs
from analyzer.evidence.domain.machine import Pieces
from analyzer.evidence.domain.wiring import Carried, wiring
from analyzer.interconnects import REMEMBERED, Interconnects
from analyzer.viewing import Viewing
from fabrichealth.catalogue.ports import RX_BYTES, SPEED, TX_BYTES, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Batch
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Domain, Link, Topology

START = 1_800_000_000.0
PORTS, LEAF, SPINES = 18, 64, 4
GBPS = 400.0
PERIOD, POLLS = 10.0, 61
GOALS = {1024: 1.0, 8192: 6.0}
"""Seconds of a look."""
REPEATS = 3


def pod(accelerators: int) -> Topology:
    """Return a domain of so many accelerators on planes of leaves and spines."""
    racks = accelerators // LEAF
    devices = [
        Device(name=f"a{n:05d}", role="accelerator", rack=f"r{n // LEAF:03d}", domain="pod")
        for n in range(accelerators)
    ]
    links = []
    for plane in range(PORTS):
        leaves = [f"leaf-{rack:03d}-{plane:02d}" for rack in range(racks)]
        spines = [f"spine-{plane:02d}-{n}" for n in range(SPINES)]
        devices += [Device(name=name, role="switch") for name in (*leaves, *spines)]
        links += [
            Link(a=f"a{n:05d}/ub/0/{plane}", b=f"{leaves[n // LEAF]}/d{n % LEAF}", technology="ub",
                 speed_gbps=GBPS)
            for n in range(accelerators)
        ]  # fmt: skip
        links += [
            Link(a=f"{leaf}/u{number}-{n}", b=f"{spine}/d{place}-{n}", technology="ub",
                 speed_gbps=GBPS)
            for place, leaf in enumerate(leaves)
            for number, spine in enumerate(spines)
            for n in range(LEAF // SPINES)
        ]  # fmt: skip
    return Topology(devices, links, [Domain(name="pod", kind="ub", accelerators=accelerators)])


def filled(store: EmbeddedStore, topology: Topology) -> None:
    """Write ten minutes of what one end of each link says; one link in a thousand is down."""
    ports = [link.ends[0] for link in topology.links.values()]
    metrics: tuple[Metric, ...] = (TX_BYTES, RX_BYTES, UP, SPEED)
    series = store.table.intern_all([(metric, port) for metric in metrics for port in ports])
    clock = store.table.clock("bench", "ports")
    chance = np.random.default_rng(1)
    load = chance.beta(2, 5, len(ports)) * GBPS * 1e9 / 8
    up = (chance.random(len(ports)) >= 0.001).astype(np.float64)
    for poll in range(POLLS):
        sent = load * poll * PERIOD
        values = np.concatenate([sent, sent / 2, up, np.full(len(ports), GBPS * 1e9)])
        store.append([Batch(clock, START + poll * PERIOD, series, values)])


def timed(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median seconds that something takes."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def look(accelerators: int) -> None:
    """Print what one look takes, with its parts and the peer's."""
    topology = pod(accelerators)
    wired = wiring(topology)
    with tempfile.TemporaryDirectory(prefix="fabrichealth-interconnect-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store", cache_bytes=2**30)
        filled(store, topology)
        viewing = Viewing(store, {}, REMEMBERED)
        now = START + POLLS * PERIOD
        viewing.advance(now)
        links = Interconnects(viewing, floor=0.75)
        first = timed(lambda: links.verdicts(now, topology, (), ()), 1)
        again = timed(lambda: links.verdicts(now, topology, (), ()))
        said = len(links.said)
        store.close()
    assert said > 10
    goal = GOALS.get(accelerators)
    word = "" if goal is None else f" (goal {goal:g} s {'met' if again < goal else 'MISSED'})"
    print(
        f"{accelerators} accelerators, {len(topology.links)} links: a look {again:.2f} s{word}, "
        f"the first {first:.2f} s, {said} series"
    )
    carried = Carried(wired.gbps.copy(), np.ones(len(wired.links), bool))
    carried.gbps[::1000] = 0.0
    size = timed(lambda: Pieces(wired, carried).machine("pod", 0.75, accelerators))
    net = network(wired, "pod", 0, carried)
    whole = timed(lambda: bisection(wired, network(wired, "pod", 0, carried)))
    jobs = {f"j{n}": [f"a{one:05d}" for one in range(n, accelerators, 16)] for n in range(16)}
    fail = timed(lambda: list(costs(wired, "pod", carried, jobs)), 1)
    print(
        f"  effective size {size:.3f} s, bisection {whole:.3f} s, failures of 16 jobs {fail:.2f} s"
    )
    found = bisection(wired, net)
    assert found is not None
    peer(net, found)


def peer(net: Network, found: Bisection) -> None:
    """Print how long networkx takes for one halving of the same graph, and whether it agrees."""
    side = np.array([name in set(found.other) for name in net.units.names], np.int8)
    ours = timed(lambda: between(net, side, net.gbps))
    graph: nx.Graph[int] = nx.Graph()
    merged = [-1 - int(one) for one in side] + list(range(len(side), net.nodes))
    for (a, b), gbps in zip(net.ends.tolist(), net.gbps.tolist(), strict=True):
        ends = merged[a], merged[b]
        before = graph.get_edge_data(*ends, {"capacity": 0.0})["capacity"]
        graph.add_edge(*ends, capacity=before + gbps)
    values: list[float] = []
    took = timed(lambda: values.append(float(nx.minimum_cut_value(graph, -1, -2))))
    same = "agree" if abs(values[0] - found.gbps) <= 1e-6 * found.gbps else "DIFFER"
    print(
        f"  one halving: {ours * 1e3:.1f} ms; networkx over the same {graph.number_of_nodes()} "
        f"nodes {took * 1e3:.0f} ms, {took / ours:.1f} times; both {same} ({found.gbps:,.0f} Gb/s)"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024, 8192])
    for accelerators in parser.parse_args().sizes:
        look(accelerators)


if __name__ == "__main__":
    main()
