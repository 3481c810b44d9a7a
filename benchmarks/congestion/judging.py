"""One case lived through: polled, judged poll by poll, and seen by the watchdog of its switches."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from benchmarks.congestion.case import Case, calm
from benchmarks.congestion.counters import Counters
from benchmarks.congestion.fluid import Bools, Settled, State, settle
from benchmarks.congestion.watchdog import Times, Watchdog
from fabrichealth.model import Incident
from fabrichealth.store.embedded import EmbeddedStore

START = 1_800_000_000.0
LATE = 0.5
"""Seconds from the first reply of a poll until it is judged."""

PAUSES = ("pfc_", "fabric_")
LINKS = ("link_degraded_speed", "link_subhealthy", "link_will_fail")


@dataclass(frozen=True)
class Said:
    """What an incident was at a moment; seconds from the onset."""

    incident: str
    at: float
    kind: str
    severity: int
    culprit: str
    because: str


@dataclass
class Lived:
    """What was said of a case."""

    said: list[Said] = field(default_factory=list)
    """Every incident when it was first there, and when its kind, severity or culprit changed."""
    storms: list[tuple[float, str]] = field(default_factory=list)
    """(seconds from the onset, port) of each storm that the watchdogs saw."""
    restores: int = 0
    passes: int = 0
    cpu: float = 0.0
    """Seconds of CPU, all in all."""


class Living:
    """A fabric from step to step."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._fluid = case.fabric.fluid
        self._calm = calm(case.fabric)
        self._known: dict[tuple[bytes, ...], Settled] = {}
        total = case.began + case.after
        self.ends = [case.step * n for n in range(1, round(total / case.step) + 1)]
        states = [self._state(end) for end in self.ends]
        fresh = list({state.key: state for state in states}.values())
        settled = settle(self._fluid, fresh)
        self._known.update({one.key: it for one, it in zip(fresh, settled, strict=True)})

    def _state(self, end: float) -> State:
        case = self._case
        start, stop = end - case.step - case.began, end - case.began
        if start < -case.lead - 1e-6:  # seconds, but for rounding
            return self._calm
        return case.ill(start, stop)

    def at(self, end: float, acting: Bools) -> tuple[Settled, Bools]:
        """Return what the step until `end` comes to, and which queues mark.

        `acting` queues are emptied by a watchdog, so that nothing stops them.
        """
        state = self._state(end)
        if acting.any():
            state = State(state.demand, np.where(acting, 0.0, state.forced), state.capacity,
                          state.marks & ~acting, state.heeded)  # fmt: skip
        if state.key not in self._known:
            (self._known[state.key],) = settle(self._fluid, [state])
        return self._known[state.key], state.marks


def live(case: Case, seed: int) -> Lived:
    """Return what is said of a case, from its first poll to its last."""
    began = time.process_time()
    lived = Lived()
    known: dict[str, Said] = {}
    for now, incidents in passes(case, seed, lived):
        lived.passes += 1
        for one in incidents:
            said = _said(one, now - case.began)
            before = known.get(one.incident)
            if before is None or _changed(before, said):
                known[one.incident] = said
                lived.said.append(said)
    lived.cpu = time.process_time() - began
    return lived


def passes(case: Case, seed: int, lived: Lived) -> Iterator[tuple[float, Sequence[Incident]]]:
    """Yield each pass of the analyzer: seconds from the first poll, and what is open then.

    What the watchdogs saw is in `lived` at the end.
    """
    named = (*PAUSES, *LINKS) if case.also_links else PAUSES
    chosen = {name: one for name, one in detectors().items() if name.startswith(named)}
    chance = np.random.default_rng([seed, 3])
    with tempfile.TemporaryDirectory(prefix="fabrichealth-congestion-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store")
        ledger = Ledger()
        judge = Judge(store, case.fabric.topology(), chosen, ledger)
        try:
            for at in _polled(case, store, chance, lived):
                now = at + min(LATE, case.period / 2)
                judge.judge(START + now)
                yield now, ledger.incidents
        finally:
            store.close()


def _said(one: Incident, at: float) -> Said:
    return Said(
        one.incident, round(at, 3), one.kind.name, int(one.severity), one.culprit.id, one.because
    )


def _changed(before: Said, now: Said) -> bool:
    return (before.kind, before.severity, before.culprit) != (now.kind, now.severity, now.culprit)


def _polled(
    case: Case, store: EmbeddedStore, chance: np.random.Generator, lived: Lived
) -> Iterator[float]:
    """Yield the moment of each poll, once it is in the store (seconds from the first)."""
    fluid = case.fabric.fluid
    counters = Counters(case, store.table, chance)
    switches = np.array([device in case.fabric.switches for device, _ in fluid.names])
    times = Times.of(case.fabric.ports)
    watched = case.step < case.period  # a watchdog is not asked where nothing moves that fast
    dog = Watchdog(switches & watched, times)
    nothing = np.zeros(len(fluid.names), np.bool_)
    every, between = max(round(times.poll / case.step), 1), round(case.period / case.step)
    living = Living(case)
    store.append(counters.poll(0.0, START))
    for number, end in enumerate(living.ends, 1):
        emptied = dog.stormed if case.acting else nothing
        settled, marks = living.at(end, emptied)
        counters.pass_by(case.step, end, settled, emptied, marks)
        if number % every == 0:
            dog.look(end, counters.look())
        if number % between == 0:
            store.append(counters.poll(end, START))
            yield end
    lived.storms = [
        (round(at - case.began, 3), "/".join(fluid.names[queue])) for at, queue in dog.storms
    ]
    lived.restores = len(dog.restores)
