"""Judges simulated racks poll by poll, with the detectors of power and everything behind them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from benchmarks.corpus.last_hours import LastHours
from benchmarks.power.faults import BY_NAME, FAULTS, HOUR, STRENGTHS
from benchmarks.power.world import DAY, PERIOD, START, Case, World
from fabrichealth.kinds import Severity
from fabrichealth.model import Incident

HELD = 4 * HOUR
HEALTHY, ILL = 3 * HOUR, 4 * HOUR
"""A rack is well for so long first, and then ill."""
SLACK = 60.0


@dataclass(frozen=True)
class Said:
    """One incident, as far as it is scored."""

    culprit: str
    kind: str
    severity: int
    confirmed_at: float
    because: str


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


def to_json(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return results as plain values."""
    return [asdict(one) for one in results]


def of_json(plain: Sequence[dict[str, Any]]) -> list[Result]:
    """Read back what `to_json` gave."""
    return [Result(**{**one, "said": tuple(Said(**told) for told in one["said"])}) for one in plain]


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
    judge = Judge(store, world.topology(), power, ledger)
    every: dict[str, Incident] = {}
    for number in range(int(seconds / PERIOD)):
        store.append(world.poll(number))
        outcome = judge.judge(START + number * PERIOD + 1.0)
        every.update({one.incident: one for one in outcome.closed})
    every.update({one.incident: one for one in ledger.incidents})
    told: dict[str, list[Said]] = {}
    for one in every.values():
        for rack, said in _said(one):
            told.setdefault(rack, []).append(said)
    return [
        Result(
            case.fault.name if case.fault else "", case.strength, case.onset, seconds / DAY,
            tuple(sorted(told.get(name, []), key=lambda one: one.confirmed_at)),
        )
        for name, case in zip(world.names, cases, strict=True)
    ]  # fmt: skip


def _said(one: Incident) -> list[tuple[str, Said]]:
    """Return what an incident said, by rack, if anybody had to hear it."""
    if one.confirmed_at is None or one.suppressed_by or one.severity < Severity.TICKET:
        return []
    if one.merged_into is not None:
        return []
    rack = one.culprit.id.partition("-")[0]
    said = Said(one.culprit.id, str(one.kind), int(one.severity), one.confirmed_at, one.because)
    return [(rack, said)]
