"""How soon a storm is named where nobody is read each second, few by the budget, or everybody.

The fluid fabrics of `benchmarks.congestion`, polled every ten seconds at phases of their own, with
the close watch of the poller in between that decides who is read more often; the analyzer passes
every ten seconds, as live, and whom it accuses is watched. Simulated. With `--cost` it is measured
instead what the trigger costs a poll.

    python -m benchmarks.close_watch [--each 4] [--seed 1] [--only CASE..] [--cost]
"""

import argparse
import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from analyzer.scoring.tables import table
from benchmarks.congestion.cases import CASES, case
from benchmarks.congestion.counters import Counters
from benchmarks.congestion.judging import PAUSES, START, Living
from collectors.close_watch import CloseWatch
from collectors.pause_shares import PauseShares
from collectors.source import Source, SourceSettings, Target
from fabrichealth.catalogue.congestion import (
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
    QUEUE_TX_BYTES,
    QUEUE_TX_PACKETS,
)
from fabrichealth.cli._accused import devices
from fabrichealth.config import CloseWatch as CloseWatchSettings
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Batch, Poll, SeriesTable
from fabrichealth.store.embedded import EmbeddedStore

PERIOD, CLOSE = 10.0, 1.0
"""Seconds between polls, and where a target is watched closely."""

BEFORE, AFTER = 90.0, 90.0
"""Seconds of history around the onset."""

STEP = 0.2
LAG = 0.5
"""Seconds after the newest poll at which it is judged."""

STORMS = ("broken_nic", "choppy_storm", "half_storm", "deadlock", "bursts", "all_to_all")
"""The last two are no fault: nobody is to be told of anything."""


class Pace(StrEnum):
    """Who is read each second."""

    NOBODY = "nobody"
    WATCHED = "watched"
    ALL = "all"


class Device(Source):
    """Stands for a target; its readings are made here."""

    closest = CLOSE

    async def read(self, at: float) -> Poll:
        """Not asked."""
        raise SourceUnavailable(f"{self.target.name}: is polled by the benchmark")

    def captured(self, files: list[Path], at: float) -> Poll:
        """Not asked either."""
        raise SourceUnavailable(f"{self.target.name}: has no captures")


@dataclass
class Polling:
    """Takes what devices tell, each at its pace."""

    store: EmbeddedStore
    pace: Pace
    chance: np.random.Generator
    polls: int = 0
    watch: CloseWatch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = CloseWatch(self.store.table, CloseWatchSettings())
        self._due: dict[str, float] = {}
        self._devices: dict[str, Device] = {}

    def take(self, told: Sequence[Batch], now: float) -> None:
        """Take from what every device would tell at `now` (unix seconds) what is due."""
        for batch in told:
            name = self.store.table.labels(int(batch.series[0]))[0]
            if name not in self._devices:
                target = Target(name, "device")
                self._devices[name] = Device(
                    SourceSettings(period=PERIOD), target, self.store.table
                )
                self.watch.follow(self._devices[name])
                phase = 0 if self.pace is Pace.ALL else self.chance.integers(0, int(PERIOD))
                self._due[name] = now + float(phase)
            if now < self._due[name] - STEP / 2:
                continue
            self.store.append([batch])
            self.polls += 1
            self._due[name] = now + self._step(self._devices[name], batch)

    def _step(self, device: Device, batch: Batch) -> float:
        if self.pace is not Pace.WATCHED:
            return CLOSE if self.pace is Pace.ALL else PERIOD
        self.watch.answered(device, Poll([batch]), batch.at, 0.01)
        return self.watch.period(device, batch.at)


@dataclass(frozen=True)
class Named:
    """What was said of one case at one pace."""

    name: str
    quiet: bool
    pace: Pace
    after: float | None
    """Seconds from the onset until a right culprit was named."""
    false: int
    """Tickets and pages that are not true."""
    polls: int


def named(name: str, seed: int, pace: Pace) -> Named:
    """Live through a case at a pace."""
    made = case(name, seed)
    made.step, made.after = STEP, AFTER
    made.began = round((BEFORE + made.fabric.chance.uniform(0, PERIOD)) / STEP) * STEP
    chosen = {one: it for one, it in detectors().items() if one.startswith(PAUSES)}
    truth = {**made.truth.also, **made.truth.right}
    after: float | None = None
    wrong: set[str] = set()
    right: set[str] = set()
    known: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="fabrichealth-close-watch-") as folder:
        store = EmbeddedStore.open(Path(folder) / "store")
        ledger = Ledger()
        judge = Judge(store, made.fabric.topology(), chosen, ledger)
        counters = Counters(made, store.table, np.random.default_rng([seed, 3]))
        polling = Polling(store, pace, np.random.default_rng([seed, 4]))
        nothing = np.zeros(len(made.fabric.fluid.names), np.bool_)
        living = Living(made)
        polling.take(counters.poll(0.0, START), START)
        for number, end in enumerate(living.ends, 1):
            settled, marks = living.at(end, nothing)
            counters.pass_by(STEP, end, settled, nothing, marks)
            if number % round(CLOSE / STEP) == 0:
                polling.take(counters.poll(end, START), START + end)
            if number % round(PERIOD / STEP) != 0:
                continue
            judge.judge(START + end + LAG)
            for one in ledger.incidents:
                kind, culprit = one.kind.name, one.culprit.id
                if known.get(one.incident) != kind + culprit:
                    known[one.incident] = kind + culprit
                    polling.watch.accuse(devices(one.to_json()), one.incident, START + end)
                true = kind in truth and (not truth[kind] or culprit in truth[kind])
                if true and kind in made.truth.right:
                    after = end - made.began if after is None else after
                if true:
                    right.add(one.incident)
                elif one.severity.name in {"TICKET", "PAGE"}:
                    wrong.add(one.incident)
        store.close()
    return Named(name, not made.truth.right, pace, after, len(wrong - right), polling.polls)


def page(results: Sequence[Named]) -> str:
    """Return what was found, by case and pace."""
    rows = []
    for name in dict.fromkeys(one.name for one in results):
        for pace in Pace:
            some = [one for one in results if (one.name, one.pace) == (name, pace)]
            found = [one.after for one in some if one.after is not None]
            quiet = all(one.quiet for one in some)
            delay = f"{np.median(found):.0f} s, {max(found):.0f} s" if found else "-"
            rows.append(
                (
                    name,
                    str(pace),
                    "-" if quiet else f"{len(found)} of {len(some)}",
                    delay,
                    str(sum(one.false for one in some)),
                    str(sum(one.polls for one in some)),
                )
            )
    return table(("case", "each second", "named", "after: median, worst", "false", "polls"), rows)


def cost(ports: int = 64, priorities: int = 8, polls: int = 200) -> str:
    """Return what the trigger costs a poll of a switch, all counters moving."""
    series = SeriesTable()
    metrics = (PFC_RX_FRAMES, PFC_RX_PAUSE, PFC_TX_FRAMES, PFC_TX_PAUSE, QUEUE_TX_BYTES,
               QUEUE_TX_PACKETS)  # fmt: skip
    ids = series.intern_all(
        (metric, ("leaf-01", f"Ethernet{port}", str(priority)))
        for metric in metrics
        for port in range(ports)
        for priority in range(priorities)
    )
    shares = PauseShares(series)
    batches = [Batch(0, float(at), ids, np.full(len(ids), 0.1 * at)) for at in range(polls)]
    shares.worst([batches[0]])
    began = time.process_time()
    for batch in batches[1:]:
        shares.worst([batch])
    each = (time.process_time() - began) / (polls - 1)
    return (
        f"{ports} ports x {priorities} priorities, {len(ids)} readings: {each * 1e6:.0f} us a poll"
    )


def results(names: Sequence[str], seeds: range) -> Iterator[Named]:
    """Yield what is said of each case at each pace."""
    for name in names:
        for seed in seeds:
            for pace in Pace:
                yield named(name, seed, pace)


def main() -> None:
    """Print the table, or what the trigger costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=4, help="fabrics of each case")
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--only", nargs="*", default=list(STORMS), choices=list(CASES))
    parser.add_argument("--cost", action="store_true", help="of the trigger, alone")
    asked = parser.parse_args()
    logging.getLogger("collectors").setLevel(logging.ERROR)
    if asked.cost:
        print(cost())
        return
    print(page(list(results(asked.only, range(asked.seed, asked.seed + asked.each)))))


if __name__ == "__main__":
    main()
