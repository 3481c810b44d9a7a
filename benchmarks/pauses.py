"""One judging pass of pauses over a fabric at 1 s polls, and the pause graph alone.

`python -m benchmarks.pauses [--leaves 100 --polls 70]`: leaves of 50 hosts and 50 spines, so that
100 leaves are 10,000 ports of switches with eight priorities each, of which one carries RoCE; some
hosts storm, some are slow. The passes after the first have one new poll each. `--graph 100000`
works out origins and deadlocks on so many queues that are all paused; beside it the same walk by
networkx over the same edges, and the ratio.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import networkx as nx
import numpy as np

from analyzer.evidence.pause.circles import circles, closed
from analyzer.evidence.pause.origins import absorbed, trees
from analyzer.evidence.pause.standing import standing
from analyzer.evidence.pause.waiting import Allowed, Queues, Waits, waits
from analyzer.judge import Judge, Outcome, detectors
from analyzer.ledger import Ledger
from fabrichealth.catalogue import congestion, ports, watchers
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Ids
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Topology

START = 1_800_000_000.0
HOSTS = SPINES = 50
"""Of each leaf."""
PRIORITIES = 8
ROCE = 3
COUNTERS: tuple[Metric, ...] = (
    congestion.PFC_RX_PAUSE, congestion.PFC_TX_PAUSE, congestion.PFC_RX_FRAMES,
    congestion.PFC_TX_FRAMES, congestion.ECN_MARKED_PACKETS, congestion.QUEUE_TX_BYTES,
)  # fmt: skip


def fabric(leaves: int) -> Topology:
    """Return a leaf-spine fabric with one cable from every leaf to every spine."""
    devices = [Device(name=f"leaf-{n:03d}", role="switch") for n in range(leaves)]
    devices += [Device(name=f"spine-{n:02d}", role="switch") for n in range(SPINES)]
    links = []
    for leaf in range(leaves):
        for host in range(HOSTS):
            name = f"host-{leaf:03d}-{host:02d}"
            devices.append(Device(name=name, role="host"))
            links.append(Link(a=f"leaf-{leaf:03d}/h{host}", b=f"{name}/eth0", technology="roce",
                              speed_gbps=400, lanes=4))  # fmt: skip
        links += [
            Link(a=f"leaf-{leaf:03d}/s{spine}", b=f"spine-{spine:02d}/l{leaf}", technology="roce",
                 speed_gbps=400, lanes=4)
            for spine in range(SPINES)
        ]  # fmt: skip
    return Topology(devices, links)


class Switches:
    """What the leaves say at each poll: counters that grow where a host stops its leaf."""

    def __init__(self, store: EmbeddedStore, topology: Topology) -> None:
        self.series: list[tuple[int, Ids]] = []
        table, self.width = store.table, HOSTS + SPINES
        for device in topology.devices.values():
            if not device.name.startswith("leaf"):
                continue
            names = [end.port for link in topology.links_of[device.name] for end in link.ends
                     if end.device == device.name]  # fmt: skip
            keys: list[tuple[Metric, tuple[str, ...]]] = [
                (metric, (device.name, port, str(priority)))
                for metric in (*COUNTERS, congestion.QUEUE_OCCUPANCY)
                for port in names
                for priority in range(PRIORITIES)
            ]
            keys += [(ports.TX_BYTES, (device.name, port)) for port in names]
            keys += [(ports.SPEED, (device.name, port)) for port in names]
            self.series.append((table.clock("sonic", device.name), table.intern_all(keys)))
        chance = np.random.default_rng(1)
        shape = (len(self.series), self.width)
        self.share = np.where(chance.random(shape) < 0.002, chance.uniform(0.02, 1.0, shape), 0.0)

    def poll(self, number: int) -> list[Batch]:
        """Return the batches of one poll; every leaf has its own phase."""
        found = []
        for place, (clock, series) in enumerate(self.series):
            counters = np.zeros((len(COUNTERS) + 1, self.width, PRIORITIES))
            counters[0, :, ROCE] = counters[1, ::-1, ROCE] = self.share[place] * number
            counters[2, :, ROCE] = counters[3, ::-1, ROCE] = self.share[place] * number * 23_000
            counters[4, :, ROCE], counters[5, :, ROCE] = number * 10.0, number * 2e10
            counters[6, :, ROCE] = self.share[place] * 2e6
            flat = [counters.ravel(), np.full(self.width, number * 2e10)]
            values = np.concatenate([*flat, np.full(self.width, 400e9)])
            found.append(Batch(clock, START + number + (place % 97) * 0.01, series, values))
        return found


def passes(leaves: int, polls: int, more: int) -> None:
    """Print what judging pauses takes, cold and with one new poll."""
    topology = fabric(leaves)
    with tempfile.TemporaryDirectory(prefix="fabrichealth-pauses-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store", cache_bytes=2**30)
        switches = Switches(store, topology)
        for number in range(polls):
            store.append(switches.poll(number))
        chosen = {name: one for name, one in detectors().items() if name.startswith("pfc_")}
        judge = Judge(store, topology, chosen, Ledger())
        took: list[float] = []
        outcome: Outcome | None = None
        for number in range(polls, polls + more + 1):
            began = time.process_time()
            outcome = judge.judge(START + number)
            took.append(time.process_time() - began)
            store.append(switches.poll(number))
        names = len(switches.series) * (HOSTS + SPINES)
        print(f"{names} ports x {PRIORITIES} priorities, {len(store.table)} series at 1 s")
        print(f"cold pass          {took[0]:7.3f} s of CPU")
        middle = statistics.median(took[1:])
        print(f"incremental pass   {middle:7.3f} s of CPU (worst {max(took[1:]):.3f}, n={more})")
        for verdict in outcome.verdicts if outcome else ():
            if verdict.metric is watchers.ANALYSIS_SECONDS:
                print(f"  {verdict.labels[0]:24s} {verdict.value * 1e3:8.1f} ms")
        print(f"findings {len(outcome.findings) if outcome else 0}")
        store.close()


def queues_all_paused(many: int) -> Queues:
    """Return a leaf-spine fabric of so many queues in which every uplink and host waits."""
    leaves = max(many // (2 * (HOSTS + SPINES)), 2)
    up = np.arange(leaves * SPINES)
    down = len(up) + np.arange(leaves * SPINES)
    out = 2 * len(up) + np.arange(leaves * HOSTS)
    host = out[-1] + 1 + np.arange(leaves * HOSTS)
    n = int(host[-1]) + 1
    device, far = np.empty(n, np.intp), np.empty(n, np.intp)
    device[up], device[out] = np.repeat(np.arange(leaves), SPINES), np.repeat(
        np.arange(leaves), HOSTS
    )  # fmt: skip
    device[down] = leaves + np.tile(np.arange(SPINES), leaves)
    device[host] = leaves + SPINES + np.arange(leaves * HOSTS)
    far[up], far[down], far[out], far[host] = down, up, host, out
    chance = np.random.default_rng(1)
    paused = np.zeros((n, 8))
    sick = chance.choice(leaves * HOSTS, max(leaves // 40, 1), replace=False)
    paused[out[sick]] = 1.0
    for leaf in np.unique(sick // HOSTS):
        paused[down[leaf * SPINES : (leaf + 1) * SPINES]] = 1.0
    paused[up], paused[host] = chance.uniform(0.3, 1, (len(up), 8)), 0.5
    place = np.arange(n)
    return Queues(
        device, place, np.full(n, ROCE), far, device[far], np.isin(place, out), np.zeros(n, bool),
        np.isin(place, up) | np.isin(place, host), paused, np.zeros(n), device[far],
        np.full(n, 400e9), np.ones(n, bool), np.ones(n), np.zeros(n),
        np.zeros(n, bool),
    )  # fmt: skip


def graph(many: int) -> None:
    """Print what the graph takes, and what the same walk takes a plain library."""
    queues = queues_all_paused(many)
    began = time.process_time()
    found = waits(queues, Allowed())
    built = time.process_time()
    told = trees(found, queues.paused.sum(axis=1))
    walked = time.process_time()
    unknown = np.full(queues.paused.shape, np.nan)
    stand = standing(queues.paused, np.ones(len(unknown), bool), unknown, unknown)
    free = waits(queues, Allowed(valley_free=False))
    rings = circles(closed(queues, found, stand), found, free, np.zeros(len(unknown)), 1.0)
    ended = time.process_time()
    print(
        f"graph of {len(queues.device)} queues, {len(found.waiting)} edges: {built - began:.2f} s "
        f"to build, {walked - built:.2f} s for {len(told)} trees, {ended - walked:.2f} s for "
        f"{len(rings)} deadlocks"
    )
    plain = _plainly(found, queues.paused.sum(axis=1))
    ours = walked - built
    same = np.allclose(plain[1], absorbed(found, queues.paused.sum(axis=1))[0], rtol=1e-3)
    print(f"the same walk by networkx {plain[0]:.1f} s, ratio {plain[0] / ours:.0f}, same: {same}")


def _plainly(found: Waits, paused: Floats) -> tuple[float, Floats]:
    """Let paused time flow vertex by vertex in topological order; return seconds and arrivals."""
    began = time.process_time()
    whole: nx.DiGraph[int] = nx.DiGraph()
    whole.add_weighted_edges_from(
        zip(found.waiting.tolist(), found.blocking.tolist(), found.share.tolist(), strict=True)
    )
    left = np.concatenate([paused, np.zeros(found.n)])
    for vertex in nx.topological_sort(whole):
        out = whole[vertex]
        total = sum(edge["weight"] for edge in out.values())
        for other, edge in out.items():
            left[other] += left[vertex] * edge["weight"] / total
        if out:
            left[vertex] = 0.0
    return time.process_time() - began, left


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, default=100)
    parser.add_argument("--polls", type=int, default=70)
    parser.add_argument("--more", type=int, default=6, help="incremental passes")
    parser.add_argument("--graph", type=int, default=100_000, help="queues of the graph; 0: none")
    asked = parser.parse_args()
    if asked.leaves:
        passes(asked.leaves, asked.polls, asked.more)
    if asked.graph:
        graph(asked.graph)


if __name__ == "__main__":
    main()
