"""How well trouble in coolant loops is told, and told apart. Simulated; see `plant` and `world`.

`python -m benchmarks.cooling [--each N] [--leaks L] [--quiet Q] [--days D] [--seed S]`: so many
halls in which every fault befalls a loop at three strengths under two controls, so many loops that
lose 0.2 L/h, and so many quiet ones over so many days. `--sudden` judges halls of bursts and of
pumps that stop alone. With `--keep FOLDER` results are kept hall
by hall, so that a run that was cut short goes on; `--print` judges nothing and takes what is kept;
`--write` puts the tables into docs/cooling.md, between the marks that stand there.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cooling.faults import HOUR, SUDDEN
from benchmarks.cooling.judging import (
    HEALTHY,
    ILL,
    Result,
    ill_cases,
    judged,
    of_json,
    quiet_cases,
    slow_leaks,
)
from benchmarks.cooling.tables import figures
from benchmarks.cooling.world import DAY, Case
from benchmarks.halls import Telling
from benchmarks.heard import to_json
from benchmarks.kept import HOUSE

PAGE = HOUSE / "docs" / "cooling.md"
HALL = 8
"""Loops of a hall of slow leaks, or of a quiet one."""

Making = Callable[[np.random.Generator], list[Case]]


def halls(each: int, leaks: int, quiet: int, days: float, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield the name of each hall, how it is made, and how long it is watched (seconds)."""
    for number in range(seed, seed + each):
        yield f"ill-{number}", (ill_cases, HEALTHY + ILL + 6 * HOUR, [number, 1])
    yield from sudden(each, seed)
    for number in range(-(-leaks // HALL)):

        def leaking(chance: np.random.Generator) -> list[Case]:
            return slow_leaks(chance, HALL)

        yield f"leak-{seed + number}", (leaking, HEALTHY + DAY + 8 * HOUR, [seed + number, 2])
    for number in range(-(-quiet // HALL)):

        def sound(chance: np.random.Generator) -> list[Case]:
            return quiet_cases(chance, HALL, days)

        yield f"quiet-{seed + number}.days-{days:g}", (sound, days * DAY, [seed + number, 3])


def sudden(each: int, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield the same of halls in which hoses come off and pumps stop."""

    def at_once(chance: np.random.Generator) -> list[Case]:
        return ill_cases(chance, SUDDEN)

    for number in range(seed, seed + each):
        yield f"sudden-{number}", (at_once, HEALTHY + 8 * HOUR, [number, 4])


def live(make: Making, seconds: float, seed: list[int]) -> list[Result]:
    """Judge one hall."""
    return judged(make(np.random.default_rng(seed)), np.random.default_rng([*seed, 9]), seconds)


def errors(results: Sequence[Result]) -> Iterator[str]:
    """Yield what was said wrongly, a line each."""
    for one in results:
        where = f"{one.fault or 'quiet'} {one.strength} {one.control}"
        for said in one.false:
            yield f"false: {where}: {said.kind} {said.because}"
        if one.fault and one.right is None:
            yield f"missed: {where}: {[said.kind for said in one.after]}"


def main() -> int:
    """Judge as much as was asked for, and print."""
    telling = Telling(PAGE, "benchmarks.cooling", to_json, of_json, figures, errors)
    parser = telling.parser(__doc__)
    parser.add_argument("--leaks", type=int, default=8, help="loops with a slow leak")
    parser.add_argument("--quiet", type=int, default=8, help="quiet loops")
    parser.add_argument("--sudden", action="store_true", help="bursts and stopped pumps alone")
    asked = parser.parse_args()
    every = halls(asked.each, asked.leaks, asked.quiet, asked.days, asked.seed)
    if asked.sudden:
        every = sudden(asked.each, asked.seed)
    return telling.run(asked, ((name, partial(live, *how)) for name, how in every))


if __name__ == "__main__":
    sys.exit(main())
