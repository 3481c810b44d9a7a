"""Replaying: the same judging on recorded telemetry, never looking ahead of its clock."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.incidents.lifecycle import Policy
from analyzer.judge import Judge
from analyzer.ledger import Ledger
from fabrichealth.events import Event
from fabrichealth.model import Incident
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

SAMPLE = 1800.0
"""The poll period is read off the first half hour."""


@dataclass
class Replay:
    """Judges a store from its first to its last time stamp, pass by pass."""

    store: Store
    topology: Topology
    detectors: Mapping[str, AnyDetector]
    events: Sequence[Event] = ()
    policy: Policy = field(default_factory=Policy)
    every: float = 10.0
    """Seconds between passes, as live; longer if the history is polled less often."""
    passes: int = 0

    def run(self) -> Iterator[Incident]:
        """Yield each incident when it closes, and those still open at the end."""
        held = self.store.span()
        if held is None:
            return
        first, last = held
        step = max(self.every, shortest_period(self.store, first))
        ledger = Ledger()
        judge = Judge(self.store, self.topology, self.detectors, ledger, self.policy)
        judge.tell(self.events)
        count = int(np.ceil((last - first) / step))
        for number in range(1, count + 1):
            now = min(first + number * step, last)
            outcome = judge.judge(now)
            self.passes += 1
            yield from outcome.closed
        yield from ledger.incidents


def shortest_period(store: Store, start: float) -> float:
    """Return the shortest poll period of the half hour after `start`, 0 if there is none."""
    periods: list[float] = []
    for metric in store.table.metrics():
        window = store.window(metric, start + SAMPLE, SAMPLE + 1.0)
        known = window.period[np.isfinite(window.period)]
        if len(known):
            periods.append(float(np.min(known)))
    return min(periods, default=0.0)
