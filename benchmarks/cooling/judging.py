"""Judges simulated loops poll by poll, with the detectors of cooling and everything behind them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from benchmarks import heard
from benchmarks.cooling.faults import BY_NAME, CONTROLS, GROWING, HOUR, STRENGTHS, Fault
from benchmarks.cooling.world import DAY, PERIOD, START, Case, World
from benchmarks.corpus.last_hours import LastHours
from fabrichealth.kinds import Severity
from fabrichealth.model import Incident

HELD = 10 * HOUR
EVERY = 300.0
"""Seconds between passes; live it is 10."""
SLACK = 600.0
"""An incident is dated by its first evidence, which is a median over minutes."""
HEALTHY, ILL = 30 * HOUR, 24 * HOUR
LONG = 42 * HOUR
"""A loop is well for so long first, and then ill for so long."""


@dataclass(frozen=True)
class Said(heard.Said):
    """One kind that an incident had, as far as it is scored."""

    loop: str


@dataclass(frozen=True)
class Result:
    """What was said of one loop."""

    fault: str
    """Empty where nothing befell it."""
    strength: int
    control: str
    onset: float
    days: float
    said: tuple[Said, ...]

    @property
    def right(self) -> Said | None:
        """The first incident of the right kind once the fault was there."""
        kind = BY_NAME[self.fault].kind.name
        return next((one for one in self.after if one.kind == kind), None)

    @property
    def after(self) -> list[Said]:
        """Incidents from the fault on, oldest first."""
        return [one for one in self.said if one.confirmed_at >= self.onset - SLACK]

    @property
    def false(self) -> list[Said]:
        """Incidents while all was well."""
        return [one for one in self.said if not self.fault or one.confirmed_at < self.onset - SLACK]


def of_json(plain: Sequence[dict[str, Any]]) -> list[Result]:
    """Read back what `heard.to_json` gave."""
    return heard.of_json(Result, plain, Said)


def ill_cases(chance: np.random.Generator, only: Sequence[Fault] = GROWING) -> list[Case]:
    """Return some faults at three strengths under two controls, each begun at its own moment."""
    return [
        Case(control, fault, strength, START + HEALTHY + float(chance.uniform(0, 6 * HOUR)))
        for fault in only
        for strength in range(len(STRENGTHS))
        for control in CONTROLS
    ]


def slow_leaks(chance: np.random.Generator, loops: int) -> list[Case]:
    """Return loops that lose 0.2 L/h, begun at any time of the day."""
    leak = BY_NAME["leak"]
    return [
        Case(CONTROLS[n % 2], leak, 0, START + HEALTHY + float(chance.uniform(0, DAY)))
        for n in range(loops)
    ]


def quiet_cases(chance: np.random.Generator, loops: int, days: float) -> list[Case]:
    """Return loops in which only work, weather and people happen."""
    return [
        Case(CONTROLS[n % 2], serviced=START + float(chance.uniform(0.3, 0.8)) * days * DAY,
             steps=True)
        for n in range(loops)
    ]  # fmt: skip


def judged(cases: Sequence[Case], chance: np.random.Generator, seconds: float) -> list[Result]:
    """Live through so many seconds of these loops and return what was said of each."""
    store = LastHours(HELD)
    world = World(cases, chance, store.table)
    cooling = {name: one for name, one in detectors().items() if name.startswith("cooling_")}
    ledger = Ledger()
    judge = Judge(store, world.topology(), cooling, ledger)
    judge.tell(world.events())
    every: dict[str, Incident] = {}
    polls = round(EVERY / PERIOD)
    for first in range(0, int(seconds / PERIOD), polls):
        store.append([world.poll(first + number) for number in range(polls)])
        outcome = judge.judge(START + (first + polls - 1) * PERIOD + 1.0)
        every.update({one.incident: one for one in outcome.closed})
    every.update({one.incident: one for one in ledger.incidents})
    told = [one for incident in every.values() for one in _said(incident)]
    told.sort(key=lambda one: one.confirmed_at)
    return [
        Result(
            case.fault.name if case.fault else "", case.strength, case.control, case.onset,
            seconds / DAY, tuple(one for one in told if one.loop == name),
        )
        for name, case in zip(world.names, cases, strict=True)
    ]  # fmt: skip


def _said(incident: Incident) -> Iterator[Said]:
    """Yield what an incident said, if anybody had to hear it: each kind that it had."""
    if incident.confirmed_at is None or incident.suppressed_by is not None:
        return
    if incident.severity < Severity.TICKET:
        return
    culprit = incident.culprit.id
    loop = culprit.partition("/")[0][: len("cdu-000")]
    told = {str(incident.kind): incident.confirmed_at}
    for change in incident.history:
        told.setdefault(str(change.kind), max(change.at, incident.confirmed_at))
    for kind, at in told.items():
        yield Said(culprit, kind, int(incident.severity), at, incident.because, loop)
