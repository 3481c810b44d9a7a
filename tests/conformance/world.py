"""A small pod that is well, as columns, and ways in which its readings may be odd.

Which series exist follows from the catalogue (what a metric is about) and the topology; what
they say when all is well stands in `healthy`. A recipe of `sick` changes a few of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.viewing import Viewing
from fabrichealth.events import Event
from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.model import Batch, Finding, Floats, Labels, View
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Device, Domain, Feed, Link, Loop, Rack, Topology
from tests.conformance.healthy import EXTRA, HEALTHY

START = 1_800_000_000.0
HOSTS, LEAVES = 6, 2


def pod() -> Topology:
    """Return six hosts with two accelerators each, a port to each of two leaves, and an NVLink."""
    devices = [Device(name=f"leaf-{n}", role="switch", rack="r2", tier=1) for n in range(LEAVES)]
    links = []
    for n in range(HOSTS):
        name = f"host-{n}"
        devices.append(Device(name=name, role="host", rack="r1", domain="pod-a"))
        devices += [
            Device(name=f"{name}-{k}", role="accelerator", host=name, rack="r1", domain="pod-a")
            for k in range(2)
        ]
        links += [
            Link(a=f"{name}/eth{leaf}", b=f"leaf-{leaf}/{n}", technology="ib", speed_gbps=400,
                 lanes=4, medium="optical", fec="rs544", generation="ndr")
            for leaf in range(LEAVES)
        ]  # fmt: skip
        links.append(
            Link(a=f"{name}-0/nvlink/0", b=f"{name}-1/nvlink/0", technology="nvlink",
                 speed_gbps=400, lanes=4, medium="backplane")
        )  # fmt: skip
    return Topology(
        devices,
        links,
        [Domain(name="pod-a", accelerators=2 * HOSTS)],
        [Rack(name="r1", domain="pod-a", loop="cdu-1", power_limit_watts=130_000), Rack(name="r2")],
        [Loop(name="cdu-1", device="cdu-1", fluid="pg25", racks=("r1",))],
        [
            Feed(name=f"r1-{side}", rack="r1", breaker_amperes=63, redundant_with=f"r1-{other}")
            for side, other in ("AB", "BA")
        ],
    )


@dataclass
class World:
    """Readings of some metrics: `values[metric, labels]` is [k], read at about `at[k]`.

    `after` tells for each poll how long ago the trouble began (negative: not yet).
    """

    topology: Topology
    at: Floats
    onset: float
    values: dict[tuple[Metric, Labels], Floats] = field(default_factory=dict)
    shift: dict[str, float] = field(default_factory=dict)
    """Seconds by which the clock of a device is off."""
    events: Sequence[Event] = ()

    @property
    def after(self) -> Floats:
        return self.at - self.onset

    @property
    def period(self) -> float:
        return float(self.at[1] - self.at[0])

    def change(self, metric: Metric, labels: Labels, law: Callable[[Floats], Floats]) -> None:
        """From the onset on let a series say what a law gives for the seconds since then."""
        series = self.values[metric, labels]
        ill = self.after >= 0
        series[ill] = law(self.after[ill])

    def batches(self, store: Store) -> list[Batch]:
        """Return the readings as batches of their devices, each with its own phase."""
        targets: dict[str, list[tuple[Metric, Labels]]] = {}
        for metric, labels in self.values:
            name = labels[1] if metric.subject is Subject.TARGET else labels[0]
            targets.setdefault(name, []).append((metric, labels))
        found = []
        for number, (name, keys) in enumerate(targets.items()):
            clock = store.table.clock("test", name)
            series = store.table.intern_all(keys)
            columns = np.stack([self.values[key] for key in keys])
            phase = self.shift.get(name, 0.0) + (number % 5) * 0.1 * min(self.period, 5.0)
            for k, at in enumerate(self.at):
                known = np.isfinite(columns[:, k])
                if known.any():
                    found.append(Batch(clock, float(at) + phase, series[known], columns[known, k]))
        return found

    def look(
        self,
        detector: AnyDetector,
        store: Store,
        batches: list[Batch] | None = None,
        before: tuple[Finding, ...] = (),
    ) -> View:
        """Return what a detector sees just after the last poll."""
        store.append(self.batches(store) if batches is None else batches)
        viewing = Viewing(store, {"detector": detector})
        viewing.advance(float(self.at[-1]) + min(self.period, 5.0) * 0.5)
        return viewing.view(detector, self.topology, list(self.events), before)


def world(
    metrics: tuple[Metric, ...],
    period: float,
    lasts: float = 90.0,
    onset: float = 0.6,
    also: Mapping[Metric, float] | None = None,
    events: Sequence[Event] = (),
) -> World:
    """Return a world that is well; trouble would begin after the share `onset` of its length.

    It lasts for so many seconds after that at least, and for six polls.
    """
    length = max(lasts, 6 * period) / min(1 - onset, 0.4)
    at = START + np.arange(0.0, length, period)
    made = World(pod(), at, START + onset * length, events=events)
    known = {**HEALTHY, **(also or {})}
    for metric in metrics:
        for labels in series_of(metric, made.topology):
            law = known.get(metric, 0.0 if metric.kind is Kind.COUNTER else 1.0)
            value = law(at, START) if callable(law) else law
            made.values[metric, labels] = np.broadcast_to(value, at.shape).astype(np.float64)
    return made


def series_of(metric: Metric, topology: Topology) -> list[Labels]:
    """Return the labels of every series of a metric in a pod."""
    devices = topology.devices.values()
    ports: list[Labels] = [tuple(end) for link in topology.links.values() for end in link.ends]
    accelerators: list[Labels] = [(d.name,) for d in devices if d.role == "accelerator"]
    machines: list[Labels] = [(d.name,) for d in devices if d.role != "accelerator"]
    branches: list[Labels] = [("cdu-1", branch) for branch in ("", "b1", "b2", "b3")]
    feeds: list[Labels] = [(feed.rack, feed.name) for feed in topology.feeds.values()]
    heads: dict[Subject, list[Labels]] = {
        Subject.PORT: ports,
        Subject.PRIORITY: [(*port, "3") for port in ports],
        Subject.LANE: [(*port, lane) for port in ports for lane in "1234"],
        Subject.DEVICE: accelerators if metric.name.startswith("accelerator") else machines,
        Subject.LOOP: [("cdu-1",)],
        Subject.BRANCH: branches,
        Subject.POINT: [(*branch, point) for branch in branches for point in ("supply", "return")],
        Subject.RACK: [("r1",)],
        Subject.FEED: feeds,
        Subject.PHASE: [(*feed, phase) for feed in feeds for phase in "123"],
        Subject.SUPPLY: [("r1", unit) for unit in "1234"],
        Subject.TARGET: [("test", *name) for name in machines],
        Subject.LINK: [(name,) for name in topology.links],
        Subject.DOMAIN: [("pod-a",)],
        Subject.INCIDENT: [("pod-a-1",)],
    }
    tails = list(product(*(EXTRA.get(name, ("",)) for name in metric.extra)))
    return [(*head, *tail) for head in heads.get(metric.subject, [()]) for tail in tails]
