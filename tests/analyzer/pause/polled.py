"""A fabric polled and judged step by step: what all detectors of pauses make of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from benchmarks.corpus.last_hours import LastHours
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.catalogue.ports import SPEED, TX_BYTES
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident, Labels, Port
from fabrichealth.topology import Device, Link, Route, Topology

START = 1_800_000_000.0
LINE = 400e9
PRIORITY = "3"
Said = dict[tuple[Metric, Labels], float]

RING = (Port("l0", "s0"), Port("s0", "l1"), Port("l1", "s1"), Port("s1", "l0"))
"""Egress queues, each of which waits for the next."""


def clos() -> Topology:
    """Return two leaves with two hosts each, and two spines."""
    devices = [Device(name=name, role="switch") for name in ("l0", "l1", "s0", "s1")]
    links = []
    for leaf in ("l0", "l1"):
        links += [Link(a=f"{leaf}/{spine}", b=f"{spine}/{leaf}") for spine in ("s0", "s1")]
        for host in ("a", "b"):
            devices.append(Device(name=f"{leaf}{host}", role="host"))
            links.append(Link(a=f"{leaf}/{host}", b=f"{leaf}{host}/eth0"))
    return Topology(devices, links)


def routed() -> Topology:
    """Return the fabric with every route written: then no rule of tiers forbids a turn."""
    bare = clos()
    routes = [
        Route(device=leaf, to=f"{far}{host}", via=(host,) if far == leaf else ("s0", "s1"))
        for leaf in ("l0", "l1")
        for far in ("l0", "l1")
        for host in "ab"
    ]
    routes += [
        Route(device=spine, to=f"{leaf}{host}", via=(leaf,))
        for spine in ("s0", "s1")
        for leaf in ("l0", "l1")
        for host in "ab"
    ]
    return Topology(list(bare.devices.values()), list(bare.links.values()), routing=routes)


def never(port: Port, second: float) -> float:
    """Return no pause and no load."""
    return 0.0


@dataclass
class Polled:
    """Ports with counters of time and bytes, read by device."""

    stopped: Callable[[Port, float], float]
    """Share of the time up to a second, from the poll before, for which a port was stopped."""
    load: Callable[[Port, float], float] = never
    """Share of line rate that a port sent in it."""
    reply: Callable[[str, int, Said], Said] = lambda device, second, said: said
    """What a device answers in place of its counters; nothing is a poll that failed."""
    topology: Topology = field(default_factory=clos)
    period: int = 1
    """Seconds between polls."""
    told: list[tuple[int, str, str, str]] = field(default_factory=list)
    """(second, incident, kind, culprit) of everything that was told or told anew."""
    _ill: bool = False
    """Whether anything was ever stopped: what comes before is polled, and needs no judging."""

    def __post_init__(self) -> None:
        self._far: dict[Port, Port] = {}
        for link in self.topology.links.values():
            one, other = link.ends
            self._far[one], self._far[other] = other, one
        self._store, self._ledger = LastHours(inf), Ledger()
        mine = {name: one for name, one in detectors().items() if name.startswith("pfc_")}
        self._judge = Judge(self._store, self.topology, mine, self._ledger)
        self._counted: dict[tuple[Metric, Port], float] = {}
        self._second = 0

    def until(self, second: int) -> "Polled":
        """Go on to a second."""
        while self._second < second:
            self._second += self.period
            by_device: dict[str, Said] = {}
            for key, labels, value in self._grown():
                by_device.setdefault(labels[0], {})[key, labels] = value
            self._poll(by_device)
            if not self._ill:
                continue
            step = self._judge.judge(START + self._second + 0.1)
            self.told += [
                (self._second, one.incident, one.kind.name, one.culprit.id) for one in step.changed
            ]
        return self

    @property
    def incidents(self) -> set[tuple[str, str]]:
        """Every incident that was ever told, by name and kind."""
        return {(name, kind) for _, name, kind, _ in self.told}

    @property
    def open(self) -> list[tuple[str, str]]:
        """Kind and culprit of what is open."""
        return [(one.kind.name, one.culprit.id) for one in self._ledger.incidents]

    @property
    def incidents_open(self) -> list[Incident]:
        """What is open, whole."""
        return list(self._ledger.incidents)

    def say(self, word: str, incident: str) -> None:
        """Let the operator speak of an incident half a second from now."""
        at = START + self._second + 0.5
        self._judge.tell([Event(at=at, kind=word, scope={"incident": incident})])

    def _grown(self) -> Iterator[tuple[Metric, Labels, float]]:
        for port, far in self._far.items():
            grown = {
                PFC_RX_PAUSE: self.stopped(port, self._second) * self.period,
                PFC_TX_PAUSE: self.stopped(far, self._second) * self.period,
                TX_BYTES: self.load(port, self._second) * self.period * LINE / 8.0,
            }
            self._ill |= grown[PFC_RX_PAUSE] > 0
            yield SPEED, port, LINE
            for metric, step in grown.items():
                value = self._counted[metric, port] = self._counted.get((metric, port), 1e6) + step
                yield metric, port if metric is TX_BYTES else (*port, PRIORITY), value

    def _poll(self, by_device: Mapping[str, Said]) -> None:
        read = []
        for device, said in by_device.items():
            answer = self.reply(device, self._second, said)
            if answer:
                clock = self._store.table.clock("test", device)
                series = self._store.table.intern_all(answer)
                values = np.array(list(answer.values()))
                read.append(Batch(clock, START + self._second, series, values))
        self._store.append(read)
