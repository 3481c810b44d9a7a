"""Judges a simulated domain minute by minute, with the detectors of domains and incidents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from benchmarks import heard
from benchmarks.corpus.last_hours import LastHours
from benchmarks.domain.faults import BY_NAME, HOUR, MINUTE
from benchmarks.domain.world import START, Case, World
from benchmarks.heard import Hearing, Said

HELD = 7 * HOUR
JUDGED_EVERY = MINUTE
QUIET_FOR = 40 * MINUTE
SLACK = 60.0
JUDGES = ("domain_hidden_idle", "domain_straggler")


@dataclass(frozen=True)
class Result:
    """What was said in one run."""

    fault: str
    """Empty on a quiet day."""
    strength: int
    quiet: str
    culprit: str
    onset: float
    hours: float
    said: tuple[Said, ...]

    @property
    def right(self) -> Said | None:
        """The first incident of the right kind and culprit once the fault was there."""
        kind = BY_NAME[self.fault].kind.name
        return next(
            (
                one for one in self.said
                if (one.kind, one.culprit) == (kind, self.culprit)
                and one.confirmed_at >= self.onset - SLACK
            ),
            None,
        )  # fmt: skip

    @property
    def named(self) -> bool:
        """Whether the illusion was called by its name, where there is one."""
        return self.right is not None and f"; {BY_NAME[self.fault].names}" in self.right.because

    @property
    def false(self) -> list[Said]:
        """Every incident but the right one."""
        right = self.right if self.fault else None
        return [one for one in self.said if one is not right]


def of_json(plain: Sequence[dict[str, Any]]) -> list[Result]:
    """Read back what `heard.to_json` gave."""
    return heard.of_json(Result, plain)


def judged(case: Case, chance: np.random.Generator) -> Result:
    """Live through one run and return what was said."""
    store = LastHours(HELD)
    world = World(case, chance, store.table)
    mine = {name: one for name, one in detectors().items() if name in JUDGES}
    ledger = Ledger()
    judge, hearing = Judge(store, world.topology(), mine, ledger), Hearing(ledger)
    judge.tell(world.events())
    seconds = case.fault.healthy + case.fault.ill if case.fault else QUIET_FOR
    stride = max(round(JUDGED_EVERY / case.period), 1)
    first = 0 if seconds < 2 * HOUR else round((seconds - 2 * HOUR) / case.period)
    for number in range(int(seconds / case.period)):
        store.append(world.poll(number))
        if number >= first and number % stride == 0:
            hearing.note(judge.judge(START + number * case.period + 1.0).closed)
    return Result(
        case.fault.name if case.fault else "", case.strength, case.quiet, world.culprit,
        world.onset, seconds / HOUR, tuple(hearing.said()),
    )  # fmt: skip
