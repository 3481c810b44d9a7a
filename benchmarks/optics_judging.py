"""One pass of the optics detectors over a fleet that is well but for a few dirty connectors.

`python -m benchmarks.optics_judging [--modules 20000]` (four lanes each, one reading a minute,
three weeks of past). Windows and past are made by hand, so that only judging is timed. The first
pass also works out baselines and ageing, which then stand until a bin closes half an hour later;
the comparison is the single rule "received light below its baseline by 2 dB for ten minutes",
lane by lane in a plain loop over the same arrays.
"""

import argparse
import time

import numpy as np

from analyzer.detectors.optics_degrading import OpticsDegrading, OpticsDegradingSettings
from analyzer.detectors.optics_overheating import OpticsOverheating, OpticsOverheatingSettings
from fabrichealth.catalogue import optics
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats, Past, SeriesTable, View, Window
from fabrichealth.topology import Link, Topology

NOW = 1_800_000_000.0
POLLS, BINS = 30, 168
LANES = "1234"
ILL = 10
LEVELS: dict[Metric, tuple[float, float]] = {
    optics.RX_POWER: (-1.0, 0.05), optics.TX_POWER: (1.0, 0.05), optics.TX_BIAS: (0.06, 1e-4),
    optics.SNR: (22.0, 0.1), optics.PRE_FEC_BER: (1e-8, 1e-10), optics.TEMPERATURE: (45.0, 0.3),
}  # fmt: skip
"""What lanes say, and how it scatters."""


class Fleet:
    """Links between leaves of 64 ports and hosts, as arrays."""

    def __init__(self, modules: int) -> None:
        self.table = SeriesTable()
        self.chance = np.random.default_rng(1)
        self.links = [
            Link(a=f"host-{n}/eth0", b=f"leaf-{n // 64}/{n % 64}", medium="optical", lanes=4)
            for n in range(modules // 2)
        ]
        self.topology = Topology(links=self.links)
        ports = [tuple(end) for link in self.links for end in link.ends]
        for port in ports:
            self.table.intern(optics.TEMPERATURE, port)
            for lane in LANES:
                for metric in (optics.RX_POWER, optics.TX_POWER, optics.TX_BIAS):
                    self.table.intern(metric, (*port, lane))
                for side in ("media", "host"):
                    self.table.intern(optics.SNR, (*port, lane, side))
                    self.table.intern(optics.PRE_FEC_BER, (*port, lane, side))
            for bound, level in ((b, v) for b in ("high", "low") for v in ("alarm", "warning")):
                self.table.intern(optics.THRESHOLD, (*port, "temperature", bound, level))
        self.windows = {metric: self._window(metric) for metric in LEVELS}
        self.pasts = {metric: self._past(metric) for metric in LEVELS}
        rx = self.windows[optics.RX_POWER].values
        for place in range(ILL):
            rx[place * 40 : place * 40 + 4] -= 5.0

    def view(self, seconds: float, memory: float) -> View:
        """Return what a detector sees."""

        def window(metric: Metric) -> Window:
            return self.windows[metric]

        known: dict[Metric, Changes] = {}

        def changes(metric: Metric) -> Changes:
            if metric not in known:
                known[metric] = self._changes(metric, seconds, memory)
            return known[metric]

        def past(metric: Metric) -> Past:
            return self.pasts.get(metric) or Past.empty(metric, self.table)

        return View(NOW, self.topology, [], [], window, changes, past)

    def _window(self, metric: Metric) -> Window:
        series = self.table.of(metric)
        at = NOW - 60.0 * np.arange(POLLS - 1, -1, -1.0)
        clock = np.zeros(len(series), np.int32)
        values = self._said(metric, POLLS)
        return Window(metric, self.table, series, values, at[None, :], clock, NOW, 1800.0)

    def _past(self, metric: Metric) -> Past:
        step = 10_800.0
        ends = NOW - step * np.arange(BINS - 1, -1, -1.0)
        values = self._said(metric, BINS)
        return Past(metric, self.table, self.table.of(metric), values, ends - step, ends)

    def _said(self, metric: Metric, columns: int) -> Floats:
        middle, scatter = LEVELS[metric]
        shape = (len(self.table.of(metric)), columns)
        return np.asarray(middle + scatter * self.chance.standard_normal(shape), np.float64)

    def _changes(self, metric: Metric, seconds: float, memory: float) -> Changes:
        series, none = self.table.of(metric), np.empty(0)
        every = np.ones(len(series))
        high = np.array([self.table.labels(int(one))[3] == "high" for one in series], np.bool_)
        return Changes(
            metric, self.table, NOW, memory, np.empty(0, np.int32), none, none, none, none,
            np.empty(0, np.bool_), series, every * (NOW - seconds), every * NOW,
            np.where(high, 75.0, -5.0), every * 60.0, np.empty(0, np.intp), none, none,
        )  # fmt: skip


def plain(window: Window, past: Past) -> int:
    """Return how many lanes lost 2 dB for ten minutes, one lane after the other."""
    ill = 0
    for now, before in zip(window.values, past.values, strict=True):
        usual = float(np.median(before))
        ill += bool((now[-10:] < usual - 2.0).all())
    return ill


def main() -> None:
    """Print seconds a pass, of the processor: other work on the machine does not count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", type=int, default=20_000)
    modules = parser.parse_args().modules
    fleet = Fleet(modules)
    for name, detector in (
        ("optics_degrading", OpticsDegrading(OpticsDegradingSettings())),
        ("optics_overheating", OpticsOverheating(OpticsOverheatingSettings())),
    ):
        view = fleet.view(detector.settings.window, detector.settings.memory)
        took = []
        for _ in range(3):
            began = time.process_time()
            found = list(detector.judge(view))
            took.append(time.process_time() - began)
        print(
            f"{name}: {modules} modules of {len(LANES)} lanes: first pass {took[0]:.2f} s, then "
            f"{took[-1]:.2f} s, {len(found)} findings"
        )
    began = time.process_time()
    plain(fleet.windows[optics.RX_POWER], fleet.pasts[optics.RX_POWER])
    print(f"one rule of one quantity, lane by lane: {time.process_time() - began:.2f} s")


if __name__ == "__main__":
    main()
