"""False pages and tickets on a fleet in which nothing is wrong, streamed through the analyzer.

`python -m benchmarks.quiet_fleet [--links 30720] [--hall 5120] [--weeks 1] [--jobs 2]`. Halls of
links of one technology each, in turn, with a seed of its own, are polled every five minutes and
judged at every poll; nothing is written out. Any incident of severity
ticket or page that is not suppressed is false. With `--keep FOLDER` each hall's count is kept: a
run that was cut short goes on, `--shard i/n` shares the halls out, and the rates are of all that is
kept, whatever its links and weeks. Simulated; what life brings without a fault (warm days, jobs,
lost polls, restarts, a fall now and then) is in benchmarks/corpus/quiet.py.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from analyzer.scoring.bounds import Rate
from benchmarks.corpus.hall import SWITCHES, hall
from benchmarks.corpus.last_hours import LastHours
from benchmarks.corpus.quiet import QuietHall
from benchmarks.corpus.scene import START
from benchmarks.corpus.technologies import TECHNOLOGIES
from benchmarks.kept import Keeper, shard
from fabrichealth.kinds import Severity
from fabrichealth.model import Incident
from fabrichealth.topology.contradictions import Written
from fabrichealth.topology.inventory import Topology

LINKS = 1024
"""Of one hall, if nothing else is asked for."""
PERIOD = 300.0
HELD = 10 * 3600.0
"""Seconds that the stream is remembered: more than any detector's window reaches back."""
WEEK = 7 * 86_400.0
SORTS = ("ndr", "roce", "ub", "nvlink", "aec", "lpo")
SHOWN = 12


@dataclass(frozen=True)
class Told:
    """What one hall gave: (kind, severity, because) of each false incident, and its work."""

    links: int
    weeks: float
    series: int
    false: list[tuple[str, str, str]]
    suppressed: int
    watched: int


def quiet(seed: int, links: int, weeks: float) -> Told:
    """Judge one hall for so many weeks, poll by poll."""
    chance = np.random.default_rng([seed, 7])
    made = hall(TECHNOLOGIES[SORTS[seed % len(SORTS)]], max(links // SWITCHES, 1), chance)
    written = Written.model_validate(made.topology())
    topology = Topology(written.devices, written.links, written.domains, written.racks)
    every: dict[str, Incident] = {}
    store = LastHours(HELD)
    ledger = Ledger()
    judge = Judge(store, topology, detectors(), ledger)
    fleet = QuietHall(made, store.table, chance, PERIOD)
    for number in range(int(weeks * WEEK / PERIOD)):
        store.append(fleet.poll(number))
        outcome = judge.judge(START + (number + 1) * PERIOD)
        every.update({one.incident: one for one in outcome.closed})
    every.update({one.incident: one for one in ledger.incidents})
    series = len(store.table)
    heard = [one for one in every.values() if one.suppressed_by is None]
    false = [
        (one.kind.name, str(one.severity), one.because)
        for one in heard
        if one.severity >= Severity.TICKET
    ]
    return Told(
        len(topology.links), weeks, series, false, len(every) - len(heard), len(heard) - len(false)
    )


def kept_name(seed: int, links: int, weeks: float) -> str:
    """Return under which name a hall is kept."""
    return f"hall-{seed}.links-{links}.weeks-{weeks:g}"


def counted(
    seeds: Sequence[int], links: int, weeks: float, jobs: int, keeper: Keeper
) -> Iterator[Told]:
    """Yield what halls gave as they are done, those kept first."""
    missing = []
    for seed in seeds:
        found = keeper.find(kept_name(seed, links, weeks))
        if found is None:
            missing.append(seed)
        else:
            yield to_told(found)
    with ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(quiet, seed, links, weeks): seed for seed in missing}
        for done in as_completed(running):
            told = done.result()
            keeper.keep(kept_name(running[done], links, weeks), asdict(told))
            yield told


def to_told(plain: dict[str, Any]) -> Told:
    """Read back what a hall gave."""
    return Told(**{**plain, "false": [tuple(row) for row in plain["false"]]})


def of_all(keeper: Keeper) -> list[Told]:
    """Return what all halls gave that are kept, whatever their size and length."""
    found = [keeper.find(name) for name in keeper.names("hall-")]
    return [to_told(one) for one in found if one is not None]


def main() -> None:
    """Judge as many halls as were asked for, and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=1024)
    parser.add_argument("--hall", type=int, default=LINKS, help="links of one hall")
    parser.add_argument("--weeks", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder of counts, hall by hall")
    parser.add_argument("--shard", type=shard, default=(1, 1), help="i/n: a share of the halls")
    asked = parser.parse_args()
    halls = max(round(asked.links / asked.hall), 1)
    each = min(asked.links, asked.hall)
    began = time.perf_counter()
    number, of = asked.shard
    seeds = range(asked.seed, asked.seed + halls)[number - 1 :: of]
    keeper = Keeper(asked.keep)
    told = list(counted(seeds, each, asked.weeks, asked.jobs, keeper))
    took = time.perf_counter() - began
    print(f"simulated: {len(told)} halls of {each} links, {asked.weeks:g} weeks at {PERIOD:.0f} s, "
          f"in {took:.0f} s with {asked.jobs} processes")  # fmt: skip
    tell(of_all(keeper) or told)


def tell(told: Sequence[Told]) -> None:
    """Print the rates of some halls, and what was false."""
    weeks = sum(one.links * one.weeks for one in told)
    polled = sum(one.series * one.weeks for one in told) * WEEK / PERIOD
    print(f"{weeks:.0f} quiet link-weeks of {len(told)} halls, about {polled:.3g} readings")
    false = [row for one in told for row in one.false]
    for severity in ("page", "ticket"):
        many = sum(row[1] == severity for row in false)
        print(f"false {severity}s per 10,000 links and week: {Rate(many, weeks / 10_000)}")
    print(f"suppressed {sum(one.suppressed for one in told)}, "
          f"watch or info {sum(one.watched for one in told)}")  # fmt: skip
    for (kind, severity), many in Counter(row[:2] for row in false).most_common():
        print(f"  {many:5d} {kind} ({severity})")
    for row in false[:SHOWN]:
        print(f"  e.g. {row[0]}: {row[2]}")


if __name__ == "__main__":
    main()
