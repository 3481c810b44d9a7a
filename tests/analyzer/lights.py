"""Weeks of light: what an emulated fleet of modules shows, as views at any moment of it.

Columns are cut straight out of the recorded arrays, so that two weeks can be judged hour by hour
in seconds; that stores give the same windows is their own tests' business. All of it is simulated.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from analyzer.aligned import LATE
from analyzer.detector import AnyDetector
from analyzer.long_past import COARSE, FINE, RECENT
from emulator.module_kinds import KINDS
from emulator.optic_faults import FAULTS, Moments
from emulator.optics_fleet import fleet, physics, recording
from fabrichealth.catalogue import METRICS
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Finding, Floats, Ids, Past, SeriesTable, View, Window
from fabrichealth.topology import Device, Link, Topology

START = 1_767_225_600.0
STEP = 300.0
BY_NAME = {str(metric): metric for metric in METRICS.values()}


@dataclass(frozen=True)
class Ill:
    """A fault of one link, from a day on."""

    fault: str
    strength: float
    link: int
    end: int = 0
    lane: int = 1
    day: float = 1.0


@dataclass
class Lights:
    """A fleet through days: `modules` of each kind, one poll every five minutes."""

    kinds: Sequence[str]
    modules: int
    days: float
    ills: Sequence[Ill] = ()
    seed: int = 1
    table: SeriesTable = field(default_factory=SeriesTable)

    def __post_init__(self) -> None:
        chance = np.random.default_rng(self.seed)
        self.sky = physics.weather(self.days, STEP, chance)
        self.at = START + self.sky.seconds
        self.links: list[fleet.Link] = []
        held: dict[Metric, dict[int, Floats]] = defaultdict(dict)
        for number in range(len(self.kinds) * self.modules // 2):
            kind = KINDS[self.kinds[number // (self.modules // 2)]]
            self.links.append(fleet.Link(number, kind))
            for labels, values, times in self._record(number, chance):
                name = labels.pop("__name__")
                metric = BY_NAME[name]
                said = tuple(labels.get(label, "") for label in metric.labels)
                every = len(self.at) // max(len(times), 1)
                held[metric][self.table.intern(metric, said)] = np.repeat(values, max(every, 1))[
                    : len(self.at)
                ]
        self._values: dict[Metric, tuple[Ids, Floats]] = {
            metric: (
                np.array(sorted(rows), np.int32),
                np.stack([_padded(rows[row], len(self.at)) for row in sorted(rows)]),
            )
            for metric, rows in held.items()
        }
        self._fine: dict[Metric, Floats] = {}
        self._pasts: dict[tuple[Metric, float], Past] = {}
        self.topology = Topology(
            [Device(name=n, role="switch") for n in sorted({one.leaf for one in self.links})]
            + [Device(name=one.host, role="host") for one in self.links],
            [
                Link(a=one.ends[0], b=one.ends[1], technology="roce", speed_gbps=one.kind.gbps,
                     lanes=one.kind.lanes, medium=one.kind.medium,
                     lasers_a=one.bank if one.kind.external else "")
                for one in self.links
            ],
        )  # fmt: skip

    def view(self, detector: AnyDetector, now: float, before: Sequence[Finding] = ()) -> View:
        """Return what a detector sees at a moment (unix seconds)."""
        settings = detector.settings

        def window(metric: Metric) -> Window:
            series, values = self._of(metric)
            mine = (self.at > now - settings.window) & (self.at <= now)
            return Window(
                metric, self.table, series, values[:, mine], self.at[None, mine],
                np.zeros(len(series), np.int32), now, settings.window,
            )  # fmt: skip

        def changes(metric: Metric) -> Changes:
            return self._changes(metric, now, settings.memory)

        def past(metric: Metric) -> Past:
            return self._past(metric, now)

        return View(now, self.topology, [], before, window, changes, past)

    def judged(
        self, detector: AnyDetector, moments: Sequence[float]
    ) -> list[tuple[float, Finding]]:
        """Return every finding of passes at some moments, each pass knowing the last one's."""
        before: list[Finding] = []
        said: list[tuple[float, Finding]] = []
        for now in moments:
            before = list(detector.judge(self.view(detector, now, before)))
            said += [(now, one) for one in before]
        return said

    def _record(self, number: int, chance: np.random.Generator) -> list[recording.SERIES]:
        link = self.links[number]
        made = {end: physics.built(link.kind, chance) for end in (0, 1)}
        for ill in self.ills:
            if ill.link != number:
                continue
            fault = FAULTS[ill.fault](
                ill.day * 86_400.0, self.days * 86_400.0, link.ends[ill.end], ill.strength, ill.lane
            )
            elapsed = np.maximum(self.sky.seconds - fault.at, -1.0)
            stress = fault.stress(link.kind, Moments(elapsed, self.sky.load, chance))
            for end in (0, 1) if fault.both_ends else (ill.end,):
                made[end] = made[end] + stress
        ends = physics.link(link.kind, self.sky, made)
        times = (self.at, self.at[:: round(3600 / STEP)])
        return list(recording.record(link, ends, self.sky, times, chance))

    def _of(self, metric: Metric) -> tuple[Ids, Floats]:
        none = np.empty(0, np.int32), np.empty((0, len(self.at)))
        return self._values.get(metric, none)

    def _changes(self, metric: Metric, now: float, seconds: float) -> Changes:
        series, values = self._of(metric)
        mine = np.flatnonzero((self.at > now - seconds) & (self.at <= now))
        at, seen = self.at[mine], values[:, mine]
        later, row = np.nonzero(np.diff(seen, axis=1).T)
        none = np.empty(0)
        every = np.ones(len(series))
        return Changes(
            metric, self.table, now, seconds, series[row], at[later + 1], np.full(len(row), STEP),
            seen[row, later], seen[row, later + 1], np.zeros(len(row), np.bool_), series,
            every * at[0], every * at[-1], seen[:, -1], every * STEP, none.astype(np.intp), none,
            none,
        )  # fmt: skip

    def _past(self, metric: Metric, now: float) -> Past:
        closed = FINE * np.floor((now - LATE) / FINE)
        key = (metric, float(closed))
        if key not in self._pasts:
            for old in [one for one in self._pasts if one[0] is metric]:
                del self._pasts[old]
            self._pasts[key] = self._binned(metric, float(closed))
        return self._pasts[key]

    def _binned(self, metric: Metric, closed: float) -> Past:
        series, values = self._of(metric)
        wide = round(FINE / STEP)
        if metric not in self._fine:
            bins = values.shape[1] // wide
            whole = values[:, : bins * wide].reshape(len(series), bins, wide)
            self._fine[metric] = np.median(whole, axis=2)
        fine = self._fine[metric]
        number = min(max(round((closed - START) / FINE), 0), fine.shape[1])
        many = round(COARSE / FINE)
        old = max(number - round(RECENT / FINE), 0) // many
        coarse = np.median(fine[:, : old * many].reshape(len(series), old, many), axis=2)
        starts = [START + COARSE * n for n in range(old)]
        starts += [START + FINE * n for n in range(old * many, number)]
        ends = [*starts[1:], START + FINE * number] if starts else []
        found = np.concatenate([coarse, fine[:, old * many : number]], axis=1)
        return Past(metric, self.table, series, found, np.array(starts), np.array(ends))


def _padded(values: Floats, size: int) -> Floats:
    """Return values with the last one repeated up to a size."""
    return np.pad(values, (0, size - len(values)), mode="edge") if len(values) < size else values


def hours(first: float, last: float, step: float) -> list[float]:
    """Return moments between two days of the record, every so many hours."""
    return [START + hour * 3600.0 for hour in np.arange(first * 24, last * 24, step).tolist()]


def port_of(lights: Lights, ill: Ill, far: bool = False) -> str:
    """Return the port that has a fault, or the one that faces it."""
    return lights.links[ill.link].ends[1 - ill.end if far else ill.end]
