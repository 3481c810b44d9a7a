"""How well trouble of feeds, supplies and meters is told, and told apart. Simulated; see `world`.

`python -m benchmarks.power [--each N] [--quiet Q] [--days D] [--seed S]`: so many halls in which
every fault befalls a rack at three strengths, and so many quiet racks over so many days. With
`--keep FOLDER` results are kept hall by hall, so that a run that was cut short goes on; `--print`
judges nothing and takes what is kept; `--write` puts the tables into docs/power.md, between the
marks that stand there.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.kept import HOUSE, Keeper
from benchmarks.power.judging import (
    HEALTHY,
    ILL,
    Result,
    ill_cases,
    judged,
    of_json,
    quiet_cases,
    to_json,
)
from benchmarks.power.tables import figures
from benchmarks.power.world import DAY
from benchmarks.report import between

PAGE = HOUSE / "docs" / "power.md"
HALL = 12
"""Racks of a quiet hall."""


def main() -> int:
    """Judge as much as was asked for, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=1, help="halls of every fault")
    parser.add_argument("--quiet", type=int, default=12, help="quiet racks")
    parser.add_argument("--days", type=float, default=14.0, help="for which those are watched")
    parser.add_argument("--seed", type=int, default=1, help="of the first hall")
    parser.add_argument("--keep", type=Path, help="folder of results, hall by hall")
    parser.add_argument("--print", action="store_true", help="judge nothing, take what is kept")
    parser.add_argument("--errors", action="store_true", help="also what was said wrongly")
    parser.add_argument("--write", action="store_true", help="into docs/power.md")
    asked = parser.parse_args()
    keeper = Keeper(asked.keep, any_sources=asked.print)
    results: list[Result] = []
    if asked.print:
        for name in keeper.names("power-"):
            results += of_json(keeper.find(name) or [])
    else:
        for name, number in [
            *((f"power-ill-{n}", n) for n in range(asked.seed, asked.seed + asked.each)),
            *((f"power-quiet-{n}.days-{asked.days:g}", n)
              for n in range(asked.seed, asked.seed + -(-asked.quiet // HALL))),
        ]:  # fmt: skip
            found = keeper.find(name)
            if found is None:
                found = to_json(live("quiet" in name, number, asked.days))
                keeper.keep(name, found)
            results += of_json(found)
    if not results:
        sys.stderr.write("nothing is kept: run `python -m benchmarks.power --keep FOLDER`\n")
        return 1
    print(figures(results))
    if asked.errors:
        _errors(results)
    if asked.write:
        text = f"Made by `python -m benchmarks.power`; simulated.\n\n{figures(results)}"
        PAGE.write_text(between(PAGE.read_text("utf-8"), text), encoding="utf-8")
    return 0


def live(quiet: bool, number: int, days: float) -> list[Result]:
    """Judge one hall."""
    chance = np.random.default_rng([number, int(quiet)])
    cases = quiet_cases(HALL) if quiet else ill_cases(chance)
    return judged(cases, chance, days * DAY if quiet else HEALTHY + ILL + 3600.0)


def _errors(results: list[Result]) -> None:
    for one in results:
        where = f"{one.fault or 'quiet'} {one.strength}"
        for said in one.false:
            print(
                f"false: {where}: {said.confirmed_at - one.onset:.0f} s {said.kind} {said.because}"
            )
        if one.fault and one.right is None:
            print(f"missed: {where}: {[said.kind for said in one.after]}")


if __name__ == "__main__":
    sys.exit(main())
