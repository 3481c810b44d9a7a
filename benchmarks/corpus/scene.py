"""Scene: a hall over some days, what was done to it, and what is true of it."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.corpus.cable import DAY, Cable, healthy
from benchmarks.corpus.codes import Floats
from benchmarks.corpus.faults import FAULTS, Case, fall
from benchmarks.corpus.hall import Hall, Run, hall
from benchmarks.corpus.recording import Series, record
from benchmarks.corpus.technologies import TECHNOLOGIES
from benchmarks.corpus.truth import truth_of
from fabrichealth.catalogue import accelerators, devices, ports, watchers

START = 1_767_225_600.0
"""The first of January 2026: a corpus does not depend on when it is made."""
SOURCE = "host"


@dataclass
class Scene:
    """Cables by the number of their run; times in unix seconds."""

    hall: Hall
    at: Floats
    cables: list[Cable]
    chance: np.random.Generator
    events: list[dict[str, Any]] = field(default_factory=list)
    truths: list[dict[str, Any]] = field(default_factory=list)
    clocks: dict[str, float] = field(default_factory=dict)
    spoil: float = 0.0
    boots: dict[str, list[int]] = field(default_factory=dict)
    """Polls at which a device came up."""
    silent: dict[str, Floats] = field(default_factory=dict)
    """[k] 1 where a device answered nobody; a device here has series of its watcher."""
    heard: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """What ports hear from the far end, where it is told at all."""
    codes: dict[str, tuple[str, Floats]] = field(default_factory=dict)
    """Of an accelerator: code and how often it came [k]."""

    def moment(self, share: float) -> float:
        """Return the time after this share of the scene."""
        return float(self.at[0] + share * (self.at[-1] - self.at[0]))

    def poll(self, when: float) -> int:
        """Return the number of the first poll at or after a moment."""
        return int(np.searchsorted(self.at, when))

    def between(self, began: float, ended: float) -> Floats:
        """Return [k] 1 from one moment to another."""
        return ((self.at >= began) & (self.at < ended)).astype(np.float64)

    def spoil_one(
        self, run: Run, name: str, strength: int, began: float, ended: float, end: int
    ) -> dict[str, Any]:
        """Give one link a fault; return its truth, which is not yet kept."""
        fault, cable = FAULTS[name], self.cables[run.number]
        before = copy.deepcopy(cable)
        lane = int(self.chance.integers(cable.technology.lanes))
        case = Case(began, ended, strength, end, lane, self.chance)
        fault.spoil(cable, case)
        return truth_of(run, cable, before, fault, case)

    def restart(self, device: str, began: float, seconds: float, *, answers: bool = False) -> None:
        """Take a device down with all its links, and let it count anew when it is back."""
        on = self.between(began, began + seconds)
        back = min(self.poll(began + seconds), len(self.at) - 1)
        for number, end in self.hall.of_device(device):
            cable = self.cables[number]
            fall(cable, on)
            if not answers:
                cable.silent[end] = np.maximum(cable.silent[end], on)
            cable.resets.append((end, back))
        self.boots.setdefault(device, []).append(back)

    def series(self) -> Iterator[Series]:
        """Yield everything that was read."""
        for run in self.hall.runs:
            yield from record(run, self.cables[run.number], self.chance)
        for device in self.hall.devices:
            yield devices.BOOT_TIME, {"device": device}, self._booted(device)
        for target, silent in self.silent.items():
            labels = {"source": SOURCE, "target": target}
            yield watchers.SOURCE_UP, labels, 1.0 - silent
            seen = np.maximum.accumulate(np.where(silent > 0, -np.inf, self.at))
            yield watchers.LAST_SUCCESS, labels, np.where(np.isfinite(seen), seen, np.nan)
        for (device, port), far in self.heard.items():
            labels = {"device": device, "port": port, "remote_device": far[0],
                      "remote_port": far[1], "via": "lldp"}  # fmt: skip
            yield ports.NEIGHBOR_INFO, labels, np.ones(len(self.at))
        for device, (code, came) in self.codes.items():
            yield accelerators.ERRORS, {"device": device, "code": code}, np.cumsum(came)

    def _booted(self, device: str) -> Floats:
        values = np.full(len(self.at), self.at[0] - 40 * DAY)
        for back in sorted(self.boots.get(device, [])):
            values[back:] = self.at[back] - 30.0
        numbers = self.hall.of_device(device)
        dark = np.min([self.cables[number].silent[end] for number, end in numbers], axis=0)
        return np.where(dark > 0, np.nan, values)


def scene(
    technology: str,
    seed: int,
    *,
    days: float = 2.0,
    period: float = 120.0,
    hosts: int = 8,
    busy: bool = True,
    swing: float = 2.5,
) -> Scene:
    """Return a hall in which all is well; `swing` is half the daily range in kelvin."""
    chance = np.random.default_rng(seed)
    at = START + np.arange(0.0, days * DAY, period)
    at = at + chance.uniform(0, 0.4, len(at))
    made = hall(TECHNOLOGIES[technology], hosts, chance)
    weather = swing * np.sin(2 * np.pi * (at - START) / DAY) + chance.normal(0, 0.1, len(at))
    load = jobs(at, chance) if busy else np.zeros(len(at))
    cables = [healthy(made.technology, run.number, at, weather, load, chance) for run in made.runs]
    clocks = {name: float(chance.uniform(0, period / 3)) for name in made.devices}
    return Scene(made, at, cables, chance, clocks=clocks)


def jobs(at: Floats, chance: np.random.Generator) -> Floats:
    """Return [k] the share of the speed in use: jobs of some hours with pauses between."""
    load = np.zeros(len(at))
    when = float(at[0])
    while when < at[-1]:
        long, pause = chance.uniform(2, 9) * 3600.0, chance.uniform(0.1, 1.0) * 3600.0
        load[(at >= when) & (at < when + long)] = chance.uniform(0.25, 0.85)
        when += long + pause
    return np.asarray(np.clip(load * (1 + chance.normal(0, 0.03, len(at))), 0.0, 0.98), np.float64)
