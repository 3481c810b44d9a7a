"""A simulated week of 1,024 accelerators: where the hours went, as told and as they were made.

`python -m benchmarks.domain_hours [--accelerators 1024 --days 7 --seed 1]`: jobs that always wait
for a share of the time, ill links that slow one of them, a hot rack that throttles, a rack at its
power limit, hosts that die, accelerators that say nothing, a drained host, and hours in which a job
waits that does not fit. The world writes readings, incidents and events, and keeps its own book of
what took each hour; the table is held against that book. Simulated: it shows that hours are counted
once and go to the right row, not how often such things happen.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.accelerators import ALLOCATED, THROTTLED, UTILIZATION
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.catalogue.power import RACK_POWER
from fabrichealth.cli._domain_rows import Known, domain_rows
from fabrichealth.cli._domain_tables import tables
from fabrichealth.events import Event
from fabrichealth.kinds import KINDS, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident, Labels, Place
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

END = 1_800_000_000.0
STEP = 600.0
"""Seconds between readings; each is the mean of its ten minutes."""
HOST, RACK = 8, 64
DAY = 86_400.0

Floats = NDArray[np.float64]
Chance = np.random.Generator


class Week:
    """A world that keeps a book: `book[row][n, k]` is the share of each bin that went there."""

    def __init__(self, accelerators: int, days: float, seed: int) -> None:
        self.bins = round(days * DAY / STEP)
        self.names = [f"host-{n // HOST:03d}-{n % HOST}" for n in range(accelerators)]
        self.chance = np.random.default_rng(seed)
        shape = (accelerators, self.bins)
        self.incidents: list[Incident] = []
        self.events: list[Event] = []
        self.busy: Floats = np.full(shape, np.nan)
        self.held = np.zeros(shape, bool)
        self.heat: Floats = np.zeros(shape)
        self.short: Floats = np.zeros(shape)
        self.open = np.ones((accelerators // HOST, self.bins), bool)
        self.book: dict[str, Floats] = {}
        self.jobs: list[NDArray[np.intp]] = []
        self._run()

    def at(self, bin_: float) -> float:
        """Return the time at which a bin begins."""
        return END - (self.bins - bin_) * STEP

    def _run(self) -> None:
        chance, (number, bins) = self.chance, self.busy.shape
        usual = np.zeros((number, bins))  # what it would do if nothing were ill
        for first in range(0, number * 7 // 8, number // 8):
            mine = np.arange(first, first + number // 8)
            self.jobs.append(mine)
            self.held[mine] = True
            waits = chance.uniform(0.05, 0.35)
            usual[mine] = 1 - waits + chance.normal(0, 0.01, (len(mine), bins))
        usual = np.clip(usual, 0.0, 1.0)
        book = {row: np.zeros_like(usual) for row in
                ("links", "cooling", "power", "faults", "maintenance", "unknown")}  # fmt: skip
        left = usual.copy()
        for job, mine in enumerate(self.jobs[:4]):
            for _ in range(2):
                start, long = int(chance.integers(0, bins - 40)), int(chance.integers(6, 36))
                took = chance.uniform(0.2, 0.7)
                book["links"][mine, start : start + long] = left[mine, start : start + long] * took
                culprit = f"{self.names[mine[0]]}/nvlink/0--sw/{mine[0]}"
                self._incident("link.subhealthy", Place("link", culprit), start, long,
                               [Place("job", f"j{job}")])  # fmt: skip
        left -= book["links"]
        for rack in range(2):
            mine = np.arange((8 + rack) * RACK, (9 + rack) * RACK)
            start, long = int(chance.integers(0, bins - 80)), int(chance.integers(30, 72))
            cells = np.ix_(mine, np.arange(start, start + long))
            name, which = (("cooling", self.heat), ("power", self.short))[rack]
            which[cells] = chance.uniform(0.1, 0.3, (len(mine), long))
            book[name][cells] = which[cells] * left[cells]
        left -= book["cooling"] + book["power"]
        for host in chance.choice(number // HOST, 4, replace=False).tolist():
            start, long = int(chance.integers(0, bins - 40)), int(chance.integers(6, 36))
            cells = np.ix_(
                np.arange(host * HOST, (host + 1) * HOST), np.arange(start, start + long)
            )
            for row in (left, *book.values()):
                row[cells] = 0.0
            book["faults"][cells] = 1.0
            self._incident("device.down", Place("device", f"host-{host:03d}"), start, long, [])
        silent = chance.choice(number, number // 128, replace=False)
        for row in (left, *book.values()):
            row[silent] = 0.0
        book["unknown"][silent] = 1.0
        drained = number // HOST - 1
        mine = np.arange(drained * HOST, (drained + 1) * HOST)
        self.open[drained] = False
        for row in (left, *book.values()):
            row[mine] = 0.0
        book["maintenance"][mine] = 1.0
        slow = book["cooling"] + book["power"]  # a duty cycle counts slow work as work
        self.busy = np.where((book["faults"] + book["unknown"]) > 0, np.nan, left + slow)
        rest = 1.0 - left - sum(book.values())
        book["useful"] = left
        book["waiting"] = np.where(self.held, rest, 0.0)
        wanted = np.zeros(bins, bool)
        start = int(chance.integers(0, bins - 200))
        wanted[start : start + 150] = True
        self._incident("domain.fragmented", Place("domain", "pod"), start, 150, [])
        book["fragmentation"] = np.where(~self.held & wanted, rest, 0.0)
        book["free"] = np.where(~self.held & ~wanted, rest, 0.0)
        self.book = book
        for job, mine in enumerate(self.jobs):
            held = {"accelerators": [self.names[n] for n in mine]}
            self.events.append(Event(self.at(0), "job_start", {"job": f"j{job}"}, more=held))

    def _incident(
        self, kind: str, culprit: Place, start: float, long: float, victims: list[Place]
    ) -> None:
        row = KINDS[kind]
        opened, closed = self.at(start), self.at(start + long)
        confirmed = opened + 60.0 if row.severity >= Severity.TICKET else None
        more: dict[str, Any] = {"confirmed_at": confirmed, "closed_at": closed, "domain": "pod"}
        name = f"i{len(self.incidents) + 1}"
        self.incidents.append(
            Incident(name, row, row.severity, opened, culprit, "simulated", "none", victims=victims,
                     **more)
        )  # fmt: skip

    def topology(self) -> Topology:
        """Return what the domain is made of; links are named where they fall ill."""
        number = len(self.names)
        racks = [Rack(name=f"r{n:02d}", domain="pod") for n in range(number // RACK)]
        devices = [
            Device(name=f"host-{n:03d}", role="host", rack=f"r{n * HOST // RACK:02d}", domain="pod")
            for n in range(number // HOST)
        ]
        devices += [
            Device(name=name, role="accelerator", host=name.rpartition("-")[0])
            for name in self.names
        ]
        devices.append(Device(name="sw", role="switch"))
        links = [
            Link(a=f"{name}/nvlink/0", b=f"sw/{n}", technology="nvlink", speed_gbps=400)
            for n, name in enumerate(self.names)
        ]
        return Topology(devices, links, [Domain(name="pod", accelerators=number)], racks)

    def fill(self, store: EmbeddedStore) -> None:
        """Write the readings."""
        keys: list[tuple[Metric, Labels]] = [(UTILIZATION, (name,)) for name in self.names]
        keys += [(ALLOCATED, (name,)) for name in self.names]
        keys += [(THROTTLED, (name, "hw_thermal")) for name in self.names]
        keys += [(THROTTLED, (name, "power")) for name in self.names]
        keys += [(SCHEDULABLE, (f"host-{n:03d}",)) for n in range(len(self.open))]
        racks = len(self.names) // RACK
        keys += [(RACK_POWER, (f"r{n:02d}",)) for n in range(racks)]
        series = store.table.intern_all(keys)
        clock = store.table.clock("prom", "week")
        draw = 20e3 + 30e3 * np.nan_to_num(self.busy).reshape(racks, RACK, -1).mean(axis=1)
        quiet = np.isnan(self.busy)
        columns = np.concatenate(
            [self.busy, np.where(quiet, np.nan, self.held), np.where(quiet, np.nan, self.heat),
             np.where(quiet, np.nan, self.short), self.open.astype(float), draw]
        )  # fmt: skip
        batches = []
        for bin_ in range(self.bins):
            said = columns[:, bin_]
            read = np.isfinite(said)
            batches.append(Batch(clock, self.at(bin_) + STEP / 2, series[read], said[read]))
        store.append(batches)


def main() -> None:
    """Make a week, account for it, and hold the table against the world's own book."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--accelerators", type=int, default=1024)
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    week = Week(asked.accelerators, asked.days, asked.seed)
    topology = week.topology()
    with tempfile.TemporaryDirectory(prefix="fabrichealth-week-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store")
        week.fill(store)
        known = Known(store, topology, week.incidents, week.events, 0.75, END)
        began = time.perf_counter()
        rows = domain_rows(known, "pod", asked.days * DAY)
        took = time.perf_counter() - began
        store.close()
    print(tables("pod", rows))
    hours = STEP / 3600.0
    total = sum(one.sum() for one in week.book.values()) * hours
    print(
        f"\nsimulated, seed {asked.seed}; worked out in {took:.2f} s; told beside the world's book:"
    )
    for row in (one for one in rows if one["section"] == "hours"):
        truth = float(week.book[row["row"]].sum()) * hours if row["row"] in week.book else 0.0
        off = (row["hours"] - truth) / total
        print(f"  {row['row']:14} {row['hours']:12,.1f} h  {truth:12,.1f} h  {off:+8.3%} of all")


if __name__ == "__main__":
    main()
