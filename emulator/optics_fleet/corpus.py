"""Corpus: a fleet's days on disk, with topology, events and truth (contract 6)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from emulator.module_kinds import KINDS
from emulator.optic_faults import FAULTS, Moments, OpticFault
from emulator.optic_faults.electronics import AgeingReceiver
from emulator.optic_faults.lasers import AgeingLaser, DimLaserBank
from emulator.optics_fleet import physics, recording, truth
from emulator.optics_fleet.fleet import FED_BY_A_BANK, Link, links, topology
from emulator.stress import Stress

START = 1_767_225_600.0
"""The first of January 2026: a corpus does not depend on when it is made."""
SLOW = (AgeingLaser, AgeingReceiver)
SLOW_ONSET, STEP_ONSET = 0.1, 0.4
"""Share of the days after which a fault begins."""


@dataclass(frozen=True)
class Order:
    """What is asked for."""

    kind: str = "dr4"
    fault: str = ""
    """Empty: all are healthy."""
    strength: float = 2.0
    days: float = 14.0
    step: float = 60.0
    modules: int = 64
    ill: int = 4
    """Links that have the fault."""
    seed: int = 1


@dataclass
class Corpus:
    """Writes one corpus; `samples` and `truths` tell what it holds.

    Raises:
        ValueError: modules of this kind cannot have this fault, or the fleet is too small.
    """

    order: Order
    samples: int = 0
    truths: list[dict[str, Any]] = field(default_factory=list)
    _events: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        order = self.order
        self._kind = KINDS[order.kind]
        self._links = links(self._kind, order.modules)
        fault = FAULTS[order.fault] if order.fault else None
        if fault is not None and not fault.fits(self._kind):
            fitting = sorted(name for name, one in FAULTS.items() if one.fits(self._kind))
            known = ", ".join(fitting)
            raise ValueError(f"{order.kind} cannot have {order.fault}; choose one of {known}")
        if len(self._links) < max(order.ill, 1):
            raise ValueError(f"{order.modules} modules make too few links; ask for more")
        if order.days * physics.DAY < 2 * order.step:
            raise ValueError("a history has two polls at least; ask for more days")
        chance = np.random.default_rng([order.seed, 0])
        self._sky = physics.weather(order.days, order.step, chance)
        self._faults = self._plan(fault, chance)

    def write(self, folder: Path) -> None:
        """Write history, topology, events, truth and meta."""
        folder.mkdir(parents=True, exist_ok=True)
        self.samples = recording.write(folder / "history.jsonl.gz", self._series())
        content = yaml.safe_dump(topology(self._links), sort_keys=False)
        (folder / "topology.yaml").write_text(content, encoding="utf-8")
        if self.order.fault == "bank" and self.truths:
            first = min(self._faults)
            self.truths = [truth.of_bank(self.truths, self._links[first].bank)]
        _write_lines(folder / "truth.jsonl", self.truths or [{"quiet": True}])
        _write_lines(folder / "events.jsonl", self._events)
        meta = {
            "links": len(self._links),
            "from": START,
            "until": START + float(self._sky.seconds[-1]),
            "step": self.order.step,
            "simulated": True,
        }
        (folder / "meta.json").write_text(json.dumps(meta) + "\n", encoding="utf-8")

    def _plan(
        self, fault: type[OpticFault] | None, chance: np.random.Generator
    ) -> dict[int, tuple[OpticFault, int]]:
        """Return fault and end by the number of each ill link."""
        if fault is None:
            return {}
        days = self.order.days * physics.DAY
        began = days * (SLOW_ONSET if issubclass(fault, SLOW) else STEP_ONSET)
        if issubclass(fault, DimLaserBank):
            banks = len(self._links) // FED_BY_A_BANK
            first = int(chance.integers(max(banks, 1))) * FED_BY_A_BANK
            ill = list(range(first, min(first + FED_BY_A_BANK, len(self._links))))
        else:
            ill = sorted(chance.permutation(len(self._links))[: self.order.ill].tolist())
        found = {}
        for number in ill:
            end = 0 if issubclass(fault, DimLaserBank) else int(chance.integers(2))
            lane = int(chance.integers(self._kind.lanes))
            port = self._links[number].ends[end]
            found[number] = fault(began, days, port, self.order.strength, lane), end
        return found

    def _series(self) -> Iterator[recording.SERIES]:
        seconds = START + self._sky.seconds
        times = (seconds, seconds[:: max(round(recording.HOUR / self._sky.step), 1)])
        for link in self._links:
            chance = np.random.default_rng([self.order.seed, 1 + link.number])
            made = {end: physics.built(self._kind, chance) for end in (0, 1)}
            ends = physics.link(self._kind, self._sky, made)
            if link.number in self._faults:
                ends = self._fall_ill(link, made, ends, chance)
            yield from recording.record(link, ends, self._sky, times, chance)

    def _fall_ill(
        self,
        link: Link,
        made: dict[int, Stress],
        well: truth.Ends,
        chance: np.random.Generator,
    ) -> truth.Ends:
        """Return both ends with the fault on one of them, or both; tell truth and events."""
        fault, end = self._faults[link.number]
        elapsed = self._sky.seconds - fault.at
        acting = elapsed >= 0
        moments = Moments(np.where(acting, elapsed, -1.0), self._sky.load, chance)
        stress = fault.stress(self._kind, moments)
        hit = (0, 1) if fault.both_ends else (end,)
        stresses = {at: one + stress if at in hit else one for at, one in made.items()}
        ill = physics.link(self._kind, self._sky, stresses)
        self.truths.append(truth.of_link(link, fault, end, self._sky, START, ill, well))
        if fault.event is not None:
            scope = {"port": link.ends[end]}
            self._events.append({"at": START + fault.at, "scope": scope, **fault.event})
        return ill


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    content = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(content, encoding="utf-8")
