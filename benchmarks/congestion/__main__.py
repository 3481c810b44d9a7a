"""How well pauses are traced to where they begin, on fluid fabrics that differ. Simulated.

`python -m benchmarks.congestion [--each 3] [--seed 1] [--only CASE..] [--errors]`: so many of each
case, polled at both ends, judged poll by poll with the detectors of pauses, and watched by a
watchdog like that of a SONiC switch, at its own poll. With `--keep FOLDER` results are kept case by
case, so that a run that was cut short goes on, and `--shard i/n` shares it out; `--print` judges
nothing and takes what is kept. `--write` puts the tables into docs/congestion.md, between the marks
that stand there, with a picture and one storm as a person sees it.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.congestion.cases import CASES
from benchmarks.congestion.picture import delays
from benchmarks.congestion.scoring import (
    Result,
    all_kept,
    judged,
    kept,
    kept_name,
    to_json,
)
from benchmarks.congestion.tables import errors, figures
from benchmarks.congestion.telling import one_storm
from benchmarks.kept import HOUSE, Keeper, shard
from benchmarks.report import PICTURES, between

PAGE = HOUSE / "docs" / "congestion.md"
PICTURE = "storms.svg"


def counted(
    names: list[str], seeds: range, share: tuple[int, int], until: float, keeper: Keeper
) -> Iterator[Result]:
    """Yield results as they are there, one of each case and then the next; those kept for free.

    None is begun after `until` (of `time.monotonic`).
    """
    every = [(name, seed) for seed in seeds for name in names]
    number, of = share
    for name, seed in every[number - 1 :: of]:
        found = kept(keeper, name, seed)
        if found is None:
            if time.monotonic() > until:
                continue
            found = judged(name, seed)
            keeper.keep(kept_name(name, seed), to_json(found))
        yield found


def written(results: list[Result]) -> None:
    """Put tables, a picture and a story into the page."""
    text = f"Made by `python -m benchmarks.congestion`; simulated.\n\n{figures(results)}"
    text += f"\n![delay of detection by duty](pictures/{PICTURE})\n"
    text += f"\nOne storm as `fabrichealth explain` tells it:\n\n```\n{one_storm()}\n```\n"
    PAGE.write_text(between(PAGE.read_text("utf-8"), text), encoding="utf-8")
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / PICTURE).write_text(delays(results), encoding="utf-8")


def main() -> int:
    """Judge as much as was asked for, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=3, help="fabrics of each case")
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--errors", action="store_true", help="also what was said instead")
    parser.add_argument("--keep", type=Path, help="folder of results, case by case")
    parser.add_argument("--shard", type=shard, default=(1, 1), help="i/n: a share of the cases")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin none after")
    parser.add_argument("--print", action="store_true", help="judge nothing, take what is kept")
    parser.add_argument("--write", action="store_true", help="into docs/congestion.md")
    asked = parser.parse_args()
    if asked.print:
        results = all_kept([asked.keep] if asked.keep else [])
    else:
        seeds = range(asked.seed, asked.seed + asked.each)
        until = time.monotonic() + 60.0 * asked.minutes
        results = list(counted(asked.only, seeds, asked.shard, until, Keeper(asked.keep)))
    if not results:
        sys.stderr.write("nothing is kept: run `python -m benchmarks.congestion --keep FOLDER`\n")
        return 1
    print(figures(results))
    if asked.errors:
        print(errors(results))
    if asked.write:
        written(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
