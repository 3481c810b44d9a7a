"""One judging pass over a domain of 8,192 accelerators that are read each second.

`python -m benchmarks.domain_judging [--hosts 1024 --passes 8]`: eight accelerators a host say four
things each second; ten minutes are held. A third of the domain idles and one clock is low, so both
detectors have something to say. Each pass has one second of new readings, and reads its windows
from the store. DuckDB then answers, on one thread and from a table of the same readings of
utilisation and clocks in memory, what hidden idleness and stragglers rest on: mean, idle share and
quantiles at each second, who idles at nine tenths of them, and median and spread of the clocks. The
ratio is its time over the detectors', both of the processor.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

from analyzer.judge import Judge, Outcome, detectors
from analyzer.ledger import Ledger
from fabrichealth.catalogue.accelerators import CLOCK, POWER, TENSOR_ACTIVE, UTILIZATION
from fabrichealth.events import Event
from fabrichealth.model import Batch, Floats
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Domain, Rack, Topology

START = 1_800_000_000.0
CARDS, HELD, JOBS = 8, 660, 8
USUAL = {UTILIZATION: 0.9, TENSOR_ACTIVE: 0.5, POWER: 600.0, CLOCK: 1.83e9}
NOISE = {UTILIZATION: 0.02, TENSOR_ACTIVE: 0.02, POWER: 20.0, CLOCK: 9e6}
JUDGES = ("domain_hidden_idle", "domain_straggler")
SQL = (
    "select tick, avg(load), avg((load < 0.05)::int), "
    "quantile_cont(load, [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) from t group by tick",
    "select card from t group by card having avg((load < 0.05)::int) >= 0.9",
    "select tick, median(clock), mad(clock) from t where tick % 15 = 0 group by tick",
)


class Fleet:
    """Hosts that are read each second."""

    def __init__(self, hosts: int, store: EmbeddedStore) -> None:
        self.names = [f"host-{n:04d}" for n in range(hosts)]
        self._store = store
        self._chance = np.random.default_rng(1)
        self._series = [
            store.table.intern_all((metric, (f"{name}-{c}",)) for metric in USUAL
                                   for c in range(CARDS))
            for name in self.names
        ]  # fmt: skip
        self._clocks = [store.table.clock("bench", name) for name in self.names]

    @property
    def cards(self) -> list[str]:
        """Names of the accelerators, in order."""
        return [f"{name}-{c}" for name in self.names for c in range(CARDS)]

    def topology(self) -> Topology:
        """Return hosts of eight, eight to a rack."""
        devices = [
            Device(name=name, role="host", rack=f"r{n // 8:03d}")
            for n, name in enumerate(self.names)
        ]
        devices += [
            Device(name=card, role="accelerator", host=card.rpartition("-")[0], model="X")
            for card in self.cards
        ]
        racks = [Rack(name=f"r{n:03d}", domain="pod") for n in range(-(-len(self.names) // 8))]
        return Topology(devices, (), [Domain(name="pod", accelerators=len(self.cards))], racks)

    def events(self) -> list[Event]:
        """Return the beginnings of eight jobs."""
        cards, size = self.cards, -(-len(self.cards) // JOBS)
        return [
            Event(START - 3600.0, "job_start", {"job": f"j{n}"},
                  more={"accelerators": cards[n * size : (n + 1) * size]})
            for n in range(JOBS)
        ]  # fmt: skip

    def second(self, number: int) -> Floats:
        """Read all once; return utilisation and clocks ([2, n])."""
        many = len(self.names) * CARDS
        said = np.stack([
            USUAL[metric] + NOISE[metric] * self._chance.standard_normal(many) for metric in USUAL
        ]).reshape(len(USUAL), len(self.names), CARDS)  # fmt: skip
        said[:2] = np.clip(said[:2], 0.0, 1.0)
        said[:2, : len(self.names) // 3] = 0.0
        said[3, len(self.names) // 2, 3] = 1.3e9
        at = START + number
        self._store.append([
            Batch(clock, at + 1e-4 * host, series, said[:, host].ravel())
            for host, (clock, series) in enumerate(zip(self._clocks, self._series, strict=True))
        ])  # fmt: skip
        return np.asarray(said[[0, 3]].reshape(2, many), np.float64)


def main() -> int:
    """Judge some passes, ask the peer, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=1024)
    parser.add_argument("--passes", type=int, default=8)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = EmbeddedStore.open(Path(folder) / "series")
        took, said, held = judged(store, asked.hosts, asked.passes)
        store.close()
    peer = asked_of_duckdb(held)
    wall = statistics.median(one for one, _ in took[1:])
    work = statistics.median(one for _, one in took[1:])
    print(f"accelerators {asked.hosts * CARDS}, readings held {held.size * 2 / 1e6:.1f} million")
    print(f"first pass {took[0][0]:.2f} s; a pass {wall:.2f} s, of processor {work:.2f} s")
    for finding in said.findings:
        print(f"said: {finding.kind}: {finding.because[:96]}")
    print(f"DuckDB {duckdb.__version__}: {peer:.2f} s of processor; ratio {peer / work:.1f}")
    return 0 if len(said.findings) == 2 else 1


def judged(
    store: EmbeddedStore, hosts: int, passes: int
) -> tuple[list[tuple[float, float]], Outcome, Floats]:
    """Return what each pass took (wall, processor seconds), the last one, and what was read."""
    fleet = Fleet(hosts, store)
    every = [fleet.second(number) for number in range(HELD)]
    chosen = {name: one for name, one in detectors().items() if name in JUDGES}
    judge = Judge(store, fleet.topology(), chosen, Ledger())
    judge.tell(fleet.events())
    took = []
    for number in range(HELD, HELD + passes):
        every.append(fleet.second(number))
        wall, work = time.perf_counter(), time.process_time()
        outcome = judge.judge(START + number + 0.5)
        took.append((time.perf_counter() - wall, time.process_time() - work))
    return took, outcome, np.stack(every[-600:], axis=1)


def asked_of_duckdb(held: Floats) -> float:
    """Return the processor seconds that the peer takes for its answers."""
    _, ticks, cards = held.shape
    with duckdb.connect() as base:
        base.execute("set threads = 1")
        columns = {
            "tick": np.repeat(np.arange(ticks), cards),
            "card": np.tile(np.arange(cards), ticks),
            "load": held[0].ravel(),
            "clock": held[1].ravel(),
        }
        base.register("columns", columns)
        base.execute("create table t as select * from columns")
        began = time.process_time()
        for query in SQL:
            base.execute(query).fetchall()
        return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
