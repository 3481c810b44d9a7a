"""The table of detection quality: the public corpus, replayed and scored by contract 6.

`python -m benchmarks.verdicts [--seed 1] [--only WORD..] [--minutes M] [--errors]`. Each case is
made from its seed, judged with the default settings as `evaluate` does, and thrown away. With
`--minutes` no case is begun later, in an order that mixes them; the table says how many of all it
holds. `--without link_subhealthy optics_degrading` judges again without those detectors, all at
once, and prints what they add. The results are simulated.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path

from analyzer.judge import detectors
from analyzer.scoring import Tally
from analyzer.scoring.tables import cell, page, table
from benchmarks.corpus.cases import cases, write
from fabrichealth.cli._corpus import Judged, judge

MIXED = 4
"""Seed of the order of cases: a run that is cut short still holds some of each sort."""


def one(name: str, seed: int, leave_out: tuple[str, ...]) -> Judged:
    """Make, judge and forget one case."""
    with tempfile.TemporaryDirectory(prefix="fabrichealth-verdicts-") as folder:
        write(name, Path(folder), seed)
        return judge(Path(folder) / name, leave_out=leave_out)


def judged(
    names: Sequence[str], seed: int, leave_out: tuple[str, ...], jobs: int, until: float
) -> Iterator[Judged]:
    """Yield cases as they are done; none is begun after `until` (seconds of the clock)."""
    left = iter(names)
    with ProcessPoolExecutor(jobs) as pool:
        running: set[Future[Judged]] = set()
        while True:
            if time.monotonic() < until:
                for name in islice(left, jobs - len(running)):
                    running.add(pool.submit(one, name, seed, leave_out))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                case = future.result()
                found = sum(met.told is not None for met in case.matched.met)
                told = f"{found} of {len(case.matched.met)}, {len(case.matched.false)} false"
                print(f"{case.name}: {told}", file=sys.stderr, flush=True)
                yield case


def summed(every: Sequence[Judged]) -> Tally:
    """Return the tally of some cases."""
    tally = Tally()
    for case in every:
        tally.add(case.matched, case.links, case.seconds)
    return tally


def by_case(every: Sequence[Judged]) -> str:
    """Return a row for each sort of case, over technologies."""
    sorts: dict[str, list[Judged]] = {}
    for case in every:
        sorts.setdefault(case.name.partition("-")[2], []).append(case)
    rows = []
    for name, held in sorted(sorts.items()):
        tally = summed(held)
        technologies = " ".join(sorted(case.name.partition("-")[0] for case in held))
        shares = (tally.recall, tally.kind, tally.culprit, tally.side, tally.cause)
        rows.append((name, technologies, *map(cell, shares), str(len(tally.false))))
    head = ("case", "technologies", "recall", "kind", "culprit", "side", "cause", "false")
    return table(head, rows)


def errors(every: Sequence[Judged]) -> str:
    """Return what went wrong, a line each."""
    lines = []
    for case in sorted(every, key=lambda case: case.name):
        for met in case.matched.met:
            if met.told is None:
                lines.append(f"{case.name}: MISSED {met.truth.kind} {met.truth.note}")
            elif not (met.kind_right and met.culprit_right):
                lines.append(
                    f"{case.name}: {met.truth.kind} {met.truth.culprit} ({met.truth.note}) told as "
                    f"{met.told.kind} {met.told.severity} {met.told.culprit}: {met.told.because}"
                )
        false = Counter((told.kind, str(told.severity)) for told in case.matched.false)
        for (kind, severity), many in false.items():
            first = next(told for told in case.matched.false if told.kind == kind)
            lines.append(f"{case.name}: FALSE {many} x {kind} {severity}, e.g. {first.because}")
    return "\n".join(lines) + "\n"


def added(whole: Tally, less: Tally, left_out: Sequence[str]) -> str:
    """Return the rates with and without some detectors."""
    rows = [
        (name, *map(cell, (one.recall, one.precision, one.kind, one.culprit, one.cause)))
        for name, one in (("all", whole), (f"without {', '.join(left_out)}", less))
    ]
    return table(("detectors", "recall", "precision", "kind", "culprit", "cause"), rows)


def main() -> None:
    """Judge the cases asked for, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="words of the cases wanted")
    parser.add_argument("--minutes", type=float, default=30.0, help="inf for every case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without", nargs="*", default=[], choices=sorted(detectors()))
    parser.add_argument("--errors", action="store_true", help="also every miss and false one")
    asked = parser.parse_args()
    known = list(cases())
    names = [name for name in known if not asked.only or any(word in name for word in asked.only)]
    random.Random(MIXED).shuffle(names)
    began = time.monotonic()
    until = began + asked.minutes * 60.0
    every = list(judged(names, asked.seed, (), asked.jobs, until))
    whole = summed(every)
    took, passes = time.monotonic() - began, sum(case.passes for case in every)
    print(f"simulated; {len(every)} of {len(known)} cases, seed {asked.seed}, {passes} passes, "
          f"{took:.0f} s with {asked.jobs} processes\n")  # fmt: skip
    print(page(whole) + "\n" + by_case(every))
    if asked.errors:
        print(errors(every))
    if asked.without:
        same = [case.name for case in every]
        without = tuple(asked.without)
        less = summed(list(judged(same, asked.seed, without, asked.jobs, float("inf"))))
        print(added(whole, less, without))


if __name__ == "__main__":
    main()
