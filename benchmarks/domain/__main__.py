"""How well hidden idleness and stragglers of a domain are told. Simulated; see `world`.

`python -m benchmarks.domain [--each N] [--quiet Q] [--seed S]`: so many runs of every fault at each
of its three strengths, and so many of every sort of quiet day. With `--keep FOLDER` results are
kept run by run, so that a run that was cut short goes on; `--print` judges nothing and takes what
is kept; `--write` puts the tables into docs/domain.md, between the marks that stand there.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.domain.faults import FAULTS, QUIET, STRENGTHS
from benchmarks.domain.judging import Result, judged, of_json
from benchmarks.domain.tables import figures
from benchmarks.domain.world import Case
from benchmarks.heard import to_json
from benchmarks.kept import HOUSE, Keeper
from benchmarks.report import between

PAGE = HOUSE / "docs" / "domain.md"


def main() -> int:
    """Judge as much as was asked for, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1, help="runs of every fault and strength")
    parser.add_argument("--quiet", type=int, default=1, help="runs of every sort of quiet day")
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--only", help="this fault or quiet day alone")
    parser.add_argument("--keep", type=Path, help="folder of results, run by run")
    parser.add_argument("--print", action="store_true", help="judge nothing, take what is kept")
    parser.add_argument("--errors", action="store_true", help="also what was said wrongly")
    parser.add_argument("--write", action="store_true", help="into docs/domain.md")
    asked = parser.parse_args()
    keeper = Keeper(asked.keep, any_sources=asked.print)
    results: list[Result] = []
    if asked.print:
        for name in keeper.names("domain-"):
            results += of_json(keeper.find(name) or [])
    else:
        for name, case, seed in _runs(asked):
            found = keeper.find(name)
            if found is None:
                chance = np.random.default_rng([seed, *name.encode()])
                found = to_json([judged(case, chance)])
                keeper.keep(name, found)
            results += of_json(found)
    if not results:
        sys.stderr.write("nothing is kept: run `python -m benchmarks.domain --keep FOLDER`\n")
        return 1
    print(figures(results))
    if asked.errors:
        _errors(results)
    if asked.write:
        text = f"Made by `python -m benchmarks.domain`; simulated.\n\n{figures(results)}"
        PAGE.write_text(between(PAGE.read_text("utf-8"), text), encoding="utf-8")
    return 0


def _runs(asked: argparse.Namespace) -> Iterator[tuple[str, Case, int]]:
    """Yield (name, case, seed) of every run asked for."""
    for seed in range(asked.seed, asked.seed + max(asked.each, asked.quiet)):
        if seed < asked.seed + asked.each:
            for fault in FAULTS:
                for strength in range(len(STRENGTHS)):
                    if asked.only in {None, fault.name}:
                        yield f"domain-{fault.name}-{strength}-{seed}", Case(fault, strength), seed
        if seed < asked.seed + asked.quiet:
            for day in QUIET:
                if asked.only in {None, day}:
                    yield f"domain-quiet-{day}-{seed}", Case(quiet=day), seed


def _errors(results: list[Result]) -> None:
    for one in results:
        where = f"{one.fault or one.quiet} {one.strength}"
        for said in one.false:
            print(f"false: {where}: {said.confirmed_at - one.onset:.0f} s {said.because}")
        if one.fault and one.right is None:
            print(f"missed: {where} of {one.culprit}")
        elif one.fault and one.right is not None:
            print(f"found: {where}: {one.right.because}")


if __name__ == "__main__":
    sys.exit(main())
