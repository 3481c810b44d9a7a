"""One pass of the detectors of cooling over many loops, well but for a few clogged branches.

`python -m benchmarks.cooling_judging [--loops 1000 --branches 64]`: flow, return temperature and a
rack's power of every branch, a main with all its meters; one reading each ten seconds, a week of
past. Windows and past are made by hand, so that only judging is timed: the first pass works out the
past, which then stands until a bin closes half an hour later; the passes after it are timed each.
"""

import argparse
import statistics
import time

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.judge import detectors
from fabrichealth.catalogue import cooling, power
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Past, SeriesTable, View, Window
from fabrichealth.topology import Loop, Rack, Topology

NOW = 1_800_000_000.0
POLLS, BINS = 60, 84
ILL = 5
PASSES = 3


class Hall:
    """Loops as arrays; a series says its metric's level and scatters by a hundredth of it."""

    def __init__(self, loops: int, branches: int) -> None:
        self.table = SeriesTable()
        self.chance = np.random.default_rng(1)
        self.levels: dict[Metric, list[float]] = {}
        names = [f"cdu-{n:04d}" for n in range(loops)]
        racks = []
        for name in names:
            self._main(name, branches)
            for branch in (f"b{n}" for n in range(branches)):
                self._add(cooling.FLOW, (name, branch, ""), 90.0)
                self._add(cooling.COOLANT_TEMPERATURE, (name, branch, "return"), 41.0)
                self._add(power.RACK_POWER, (f"{name}-{branch}",), 60_000.0)
                racks.append(Rack(name=f"{name}-{branch}", loop=name, branch=branch))
        self.topology = Topology(
            racks=racks,
            loops=[Loop(name=name, device=name, fluid="pg25", reservoir_liters=40.0,
                        volume_liters=300.0) for name in names],
        )  # fmt: skip
        self.windows = {metric: self._window(metric) for metric in self.levels}
        self.pasts = {metric: self._past(metric) for metric in self.levels}

    def _main(self, name: str, branches: int) -> None:
        for point in ("supply", "return"):
            self._add(cooling.FLOW, (name, "", point), 90.0 * branches)
        for point, celsius in (("supply", 32.0), ("return", 41.0)):
            self._add(cooling.COOLANT_TEMPERATURE, (name, "", point), celsius)
        self._add(cooling.PRESSURE, (name, "", "return"), 150.0)
        for element, drop in (("loop", 100.0), ("filter", 20.0)):
            self._add(cooling.DIFFERENTIAL_PRESSURE, (name, "", element), drop)
        self._add(cooling.PUMP_SPEED, (name, "", "1"), 0.7)
        self._add(cooling.PUMP_POWER, (name, "", "1"), 20_000.0)
        self._add(cooling.RESERVOIR_LEVEL, (name, ""), 0.7)
        self._add(cooling.AIR_TEMPERATURE, (name, ""), 25.0)
        self._add(cooling.AIR_HUMIDITY, (name, ""), 0.4)

    def _add(self, metric: Metric, labels: tuple[str, ...], level: float) -> None:
        self.table.intern(metric, labels)
        self.levels.setdefault(metric, []).append(level)

    def _values(self, metric: Metric, columns: int) -> Floats:
        level = np.array(self.levels[metric])[:, None]
        scatter = self.chance.normal(0.0, 0.003, (len(level), columns))
        return np.asarray(level * (1.0 + scatter), np.float64)

    def _window(self, metric: Metric) -> Window:
        values = self._values(metric, POLLS)
        if metric is cooling.FLOW:
            values[2 : 2 + ILL] *= 0.7
        if metric is cooling.COOLANT_TEMPERATURE:
            values[2 : 2 + ILL] += 9.0 / 0.7 - 9.0
        series = self.table.of(metric)
        at = NOW - 10.0 * np.arange(POLLS, dtype=np.float64)[::-1][None, :]
        clock = np.zeros(len(series), np.int32)
        return Window(metric, self.table, series, values, at, clock, NOW + 1.0, 600.0)

    def _past(self, metric: Metric) -> Past:
        starts = NOW - 1800.0 * np.arange(BINS, 0, -1, dtype=np.float64)
        return Past(
            metric, self.table, self.table.of(metric), self._values(metric, BINS), starts,
            starts + 1800.0,
        )  # fmt: skip

    def view(self) -> View:
        """Return what a detector sees; what detectors share is shared anew."""
        shared: dict[object, object] = {}

        def window(metric: Metric) -> Window:
            found = self.windows.get(metric)
            if found is None:
                none = np.empty((0, 0))
                found = Window(metric, self.table, self.table.of(metric), none, none,
                               np.empty(0, np.int32), NOW + 1.0, 600.0)  # fmt: skip
            return found

        def past(metric: Metric) -> Past:
            return self.pasts.get(metric) or Past.empty(metric, self.table)

        def changes(metric: Metric) -> object:
            raise KeyError(f"{metric}: no detector of cooling asks for changes")

        return View(NOW + 1.0, self.topology, [], [], window, changes, past, shared)  # type: ignore[arg-type]  # nobody calls it


def once(hall: Hall, every: dict[str, AnyDetector]) -> tuple[dict[str, float], int]:
    """Judge once; return seconds by detector, and how many findings there were."""
    view, spent, found = hall.view(), {}, 0
    for name, detector in every.items():
        began = time.perf_counter()
        found += len(list(detector.judge(view)))
        spent[name] = time.perf_counter() - began
    return spent, found


def main() -> None:
    """Print the first pass and the median of those after it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=1000)
    parser.add_argument("--branches", type=int, default=64)
    asked = parser.parse_args()
    hall = Hall(asked.loops, asked.branches)
    every = {name: one for name, one in detectors().items() if name.startswith("cooling_")}
    first, found = once(hall, every)
    later = [once(hall, every)[0] for _ in range(PASSES)]
    print(f"{asked.loops} loops x {asked.branches} branches: {found} findings")
    for name in every:
        print(f"{name:28s} {first[name]:6.2f} s {statistics.median(p[name] for p in later):6.2f} s")
    whole = statistics.median(sum(one.values()) for one in later)
    print(f"{'all':28s} {sum(first.values()):6.2f} s {whole:6.2f} s")


if __name__ == "__main__":
    main()
