"""Judges simulated racks poll by poll, with the detectors of power and everything behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from benchmarks import heard
from benchmarks.corpus.last_hours import LastHours
from benchmarks.heard import Hearing, Said
from benchmarks.power.faults import BY_NAME, FAULTS, HOUR, STRENGTHS
from benchmarks.power.world import DAY, PERIOD, START, Case, World

HELD = 4 * HOUR
HEALTHY, ILL = 3 * HOUR, 4 * HOUR
"""A rack is well for so long first, and then ill."""
SLACK = 60.0


@dataclass(frozen=True)
class Result:
    """What was said of one rack."""

    fault: str
    """Empty where nothing befell it."""
    strength: int
    onset: float
    days: float
    said: tuple[Said, ...]

    @property
    def after(self) -> list[Said]:
        """Incidents from the fault on, oldest first."""
        return [one for one in self.said if one.confirmed_at >= self.onset - SLACK]

    @property
    def right(self) -> Said | None:
        """The first incident of the right kind once the fault was there."""
        kind = BY_NAME[self.fault].kind.name
        return next((one for one in self.after if one.kind == kind), None)

    @property
    def false(self) -> list[Said]:
        """Incidents while all was well, and others than the right one after it."""
        kind = BY_NAME[self.fault].kind.name if self.fault else ""
        return [
            one for one in self.said if one.kind != kind or one.confirmed_at < self.onset - SLACK
        ]


def of_json(plain: Sequence[dict[str, Any]]) -> list[Result]:
    """Read back what `heard.to_json` gave."""
    return heard.of_json(Result, plain)


def ill_cases(chance: np.random.Generator) -> list[Case]:
    """Return every fault at three strengths, each begun at its own moment."""
    return [
        Case(fault, strength, START + HEALTHY + float(chance.uniform(0, HOUR)))
        for fault in FAULTS
        for strength in range(len(STRENGTHS))
    ]


def quiet_cases(racks: int) -> list[Case]:
    """Return racks in which only work, weather and people happen."""
    return [Case(lively=True) for _ in range(racks)]


def judged(cases: Sequence[Case], chance: np.random.Generator, seconds: float) -> list[Result]:
    """Live through so many seconds of these racks and return what was said of each."""
    store = LastHours(HELD)
    world = World(cases, chance, store.table)
    power = {name: one for name, one in detectors().items() if name.startswith("power_")}
    ledger = Ledger()
    judge, hearing = Judge(store, world.topology(), power, ledger), Hearing(ledger)
    for number in range(int(seconds / PERIOD)):
        store.append(world.poll(number))
        hearing.note(judge.judge(START + number * PERIOD + 1.0).closed)
    told: dict[str, list[Said]] = {}
    for said in hearing.said():
        told.setdefault(said.culprit.partition("-")[0], []).append(said)
    return [
        Result(
            case.fault.name if case.fault else "", case.strength, case.onset, seconds / DAY,
            tuple(told.get(name, [])),
        )
        for name, case in zip(world.names, cases, strict=True)
    ]  # fmt: skip
