"""A fabric that is polled and judged as time goes by, without collectors in between."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.incidents.lifecycle import Policy
from analyzer.judge import Judge, Outcome, detectors
from analyzer.ledger import Ledger
from fabrichealth.catalogue.ports import UP
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident, Labels, Port
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

START = 1_800_000_000.0

Reading = tuple[Metric, Labels, float]
Law = Callable[[str, float], list[Reading]]
"""What a target says so many seconds after the start; nothing when it is silent."""


def clos(hosts: int, leaves: int = 2, per_rack: int = 8) -> Topology:
    """Return hosts with a port `ethN` to port `H` of each leaf N; racks hold hosts, leaves none."""
    devices = [Device(name=f"leaf-{n}", role="switch", tier=1) for n in range(leaves)]
    devices += [
        Device(name=f"host-{n}", role="host", rack=f"r{n // per_rack}", domain="pod-a")
        for n in range(hosts)
    ]
    links = [
        Link(a=f"host-{n}/eth{leaf}", b=f"leaf-{leaf}/{n}", technology="ib",
             speed_gbps=400, lanes=4)
        for n in range(hosts) for leaf in range(leaves)
    ]  # fmt: skip
    racks = [Rack(name=f"r{n}") for n in range(-(-hosts // per_rack))]
    return Topology(devices, links, [Domain(name="pod-a", accelerators=hosts)], racks)


@dataclass
class Life:
    """Polls targets, each with its own period and phase (seconds), and judges every so often."""

    store: Store
    topology: Topology
    law: Law
    periods: Mapping[str, float]
    phases: Mapping[str, float] = field(default_factory=dict)
    every: float = 10.0
    detectors: Mapping[str, AnyDetector] = field(default_factory=detectors)
    policy: Policy = field(default_factory=Policy)
    ledger: Ledger = field(default_factory=Ledger)
    outcomes: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.judge = self.new_judge()
        self._polls = dict.fromkeys(self.periods, 0)
        self.elapsed = 0.0

    def new_judge(self) -> Judge:
        """Return the judging process as it is after a start."""
        return Judge(self.store, self.topology, self.detectors, self.ledger, self.policy)

    def until(self, elapsed: float, events: Sequence[Event] = ()) -> "Life":
        """Live on until so many seconds after the start."""
        self.judge.tell(events)
        while self.elapsed < elapsed:
            self.elapsed = min(self.elapsed + self.every, elapsed)
            self.store.append(list(self._due()))
            self.outcomes.append(self.judge.judge(START + self.elapsed))
        return self

    def _due(self) -> Iterator[Batch]:
        for name, period in self.periods.items():
            while (at := self._polls[name] * period + self.phases.get(name, 0.0)) <= self.elapsed:
                self._polls[name] += 1
                if said := self.law(name, at):
                    table = self.store.table
                    series = table.intern_all([(metric, labels) for metric, labels, _ in said])
                    values = np.array([value for *_, value in said])
                    yield Batch(table.clock("test", name), START + at, series, values)

    @property
    def closed(self) -> list[Incident]:
        """Incidents that closed so far."""
        return [one for outcome in self.outcomes for one in outcome.closed]

    @property
    def open(self) -> list[Incident]:
        """Incidents open now."""
        return self.ledger.incidents

    @property
    def paged(self) -> dict[str, set[str]]:
        """Every kind that was ever said of each incident while it was confirmed."""
        said: dict[str, set[str]] = {}
        for outcome in self.outcomes:
            for one in (*outcome.changed, *outcome.closed):
                if one.confirmed_at is not None:
                    said.setdefault(one.incident, set()).add(f"{one.kind} {one.culprit}")
        return said


def ports_up(topology: Topology, device: str, down: Callable[[Port], bool]) -> list[Reading]:
    """Return what a device says of its ports."""
    return [
        (UP, tuple(end), 0.0 if down(end) else 1.0)
        for link in topology.links_of.get(device, ())
        for end in link.ends
        if end.device == device
    ]
