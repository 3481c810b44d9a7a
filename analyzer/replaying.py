"""Replaying: the same judging on recorded telemetry, never looking ahead of its clock."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.incidents.lifecycle import Policy
from analyzer.judge import Judge, Outcome
from analyzer.ledger import Ledger
from fabrichealth.events import Event
from fabrichealth.model import Incident
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

LONGEST_SILENCE = 3600.0
"""A stretch in which nothing at all was read for so long is stepped over."""

LONGEST_PERIOD = 7200.0
"""What is read more seldom than this is no poll: moments that lie apart."""

SAMPLE = 1800.0
"""The poll period is read off the first half hour, or off more if that holds too little."""

LONGEST_STEP = 300.0
"""However seldom a history was polled, it is judged so often: holds and graces end in between."""


@dataclass
class Replay:
    """Judges a store from its first to its last time stamp, pass by pass."""

    store: Store
    topology: Topology
    detectors: Mapping[str, AnyDetector]
    events: Sequence[Event] = ()
    policy: Policy = field(default_factory=Policy)
    every: float = 10.0
    """Seconds between passes, as live; longer (to 5 min) if the history is polled less often."""
    told: Callable[[float], None] = lambda share: None
    """Called after each pass with the share of the history that is judged, 0 .. 1."""
    passes: int = 0

    def run(self) -> Iterator[Incident]:
        """Yield each incident when it closes, and those still open at the end."""
        ledger = Ledger()
        for outcome in self.outcomes(ledger):
            yield from outcome.closed
        yield from ledger.incidents

    def outcomes(self, ledger: Ledger | None = None) -> Iterator[Outcome]:
        """Yield what each pass finds; the incidents are kept in `ledger`."""
        held = self.store.span()
        if held is None:
            return
        first, last = held
        period = shortest_period(self.store, first)
        step = max(self.every, min(period, LONGEST_STEP))
        judge = Judge(
            self.store,
            self.topology,
            self.detectors,
            Ledger() if ledger is None else ledger,
            self.policy,
            tells_series=False,
        )
        judge.tell(self.events)
        reach = max(LONGEST_SILENCE, 3 * min(period, LONGEST_PERIOD))
        for now in self._moments(first, last, step, reach):
            self.passes += 1
            yield judge.judge(now)
            self.told((now - first) / (last - first))

    def _moments(self, first: float, last: float, step: float, reach: float) -> Iterator[float]:
        """Yield when to judge; stretches of `reach` in which nothing was read are stepped over.

        One clock that was off by a year must not cost three million empty passes.
        """
        now, checked = first, first
        while now < last:
            now = min(now + step, last)
            yield now
            if now - checked >= reach:
                checked = now
                if not self._anything(now - reach, now):
                    now = checked = max(now, self._resumed(now, last, reach))

    def _resumed(self, start: float, last: float, reach: float) -> float:
        """Return a moment less than `reach` before the next reading after `start`."""
        low, span = start, reach
        while low + span < last and not self._anything(low, low + span):
            low, span = low + span, span * 2
        high = min(low + span, last)
        while high - low > reach:
            middle = (low + high) / 2
            if self._anything(low, middle):
                high = middle
            else:
                low = middle
        return low

    def _anything(self, start: float, end: float) -> bool:
        """Return whether anything was read in (start, end]."""
        return any(
            len(self.store.latest(metric, end, end - start).series)
            for metric in self.store.table.metrics()
        )


def shortest_period(store: Store, start: float) -> float:
    """Return the shortest poll period of what follows `start`, 0 if there is none."""
    held = store.span()
    sample, step = SAMPLE, 0.0
    while held is not None:
        periods: list[float] = []
        for metric in store.table.metrics():
            window = store.window(metric, start + sample, sample + 1.0, step)
            known = window.period[np.isfinite(window.period)]
            if len(known):
                periods.append(float(np.min(known)))
        if periods or start + sample >= held[1]:
            return min(periods, default=0.0)
        sample, step = sample * 4, 60.0  # nothing came twice in half an hour: minutes will do
    return 0.0
