"""How well trouble of feeds, supplies and meters is told, and told apart. Simulated; see `world`.

`python -m benchmarks.power [--each N] [--quiet Q] [--days D] [--seed S]`: so many halls in which
every fault befalls a rack at three strengths, and so many quiet racks over so many days. With
`--keep FOLDER` results are kept hall by hall, so that a run that was cut short goes on; `--print`
judges nothing and takes what is kept; `--write` puts the tables into docs/power.md, between the
marks that stand there.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from benchmarks.halls import Telling
from benchmarks.heard import to_json
from benchmarks.kept import HOUSE
from benchmarks.power.judging import (
    HEALTHY,
    ILL,
    Result,
    ill_cases,
    judged,
    of_json,
    quiet_cases,
)
from benchmarks.power.tables import figures
from benchmarks.power.world import DAY

PAGE = HOUSE / "docs" / "power.md"
HALL = 12
"""Racks of a quiet hall."""


def live(quiet: bool, number: int, days: float) -> list[Result]:
    """Judge one hall."""
    chance = np.random.default_rng([number, int(quiet)])
    cases = quiet_cases(HALL) if quiet else ill_cases(chance)
    return judged(cases, chance, days * DAY if quiet else HEALTHY + ILL + 3600.0)


def errors(results: Sequence[Result]) -> Iterator[str]:
    """Yield what was said wrongly, a line each."""
    for one in results:
        where = f"{one.fault or 'quiet'} {one.strength}"
        for said in one.false:
            after = said.confirmed_at - one.onset
            yield f"false: {where}: {after:.0f} s {said.kind} {said.because}"
        if one.fault and one.right is None:
            yield f"missed: {where}: {[said.kind for said in one.after]}"


def main() -> int:
    """Judge as much as was asked for, and print."""
    telling = Telling(PAGE, "benchmarks.power", to_json, of_json, figures, errors)
    parser = telling.parser(__doc__)
    parser.add_argument("--quiet", type=int, default=12, help="quiet racks")
    asked = parser.parse_args()
    first = asked.seed
    ill = [(f"ill-{n}", partial(live, False, n, asked.days))
           for n in range(first, first + asked.each)]  # fmt: skip
    quiet = [(f"quiet-{n}.days-{asked.days:g}", partial(live, True, n, asked.days))
             for n in range(first, first + -(-asked.quiet // HALL))]  # fmt: skip
    return telling.run(asked, [*ill, *quiet])


if __name__ == "__main__":
    sys.exit(main())
