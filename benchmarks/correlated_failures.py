"""Shared location in a million drives: bursts of failures of one rack on one day.

`python -m benchmarks.correlated_failures [--folder ../shared/datasets/ssd-correlated-failures]`.
Tickets of Han et al., FAST 2021, not part of this repository; skipped where they are not there.
No population is known, so a rack's own failures are spread over the days as those of the same
model are in other rooms: k failures of a rack on a day are held against a Poisson law of that
expectation, widened by the over-dispersion that is left when times are shuffled within each model.
Benjamini-Hochberg runs over every rack and day on which anything could have failed. Days of
several racks of a room are one incident.

Law and correction are those by which the analyzer accuses shared parts (analyzer/evidence/parts);
what differs is the expectation: there the members of a part are known, here only days are.
"""

import argparse
import csv
import gzip
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.parts.chances import false_discovery, of_events

FOLDER = Path("../shared/datasets/ssd-correlated-failures")
COPIES = 20
BIG = 40
"""Failures of one rack on one day that nobody may overlook."""
SURE, SOME = 1e-6, 0.01
FLOOR = (
    "bursts of 40 and more in the first ten at q < 1e-6; at most 1 of each shuffled copy at 0.01"
)
Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


class Tickets(NamedTuple):
    """Failures, one a row: codes from 0, days from the first."""

    model: Ids
    rack: Ids
    day: Ids
    room: Ids
    racks: list[str]


class Group(NamedTuple):
    """Failures of one rack on one day."""

    rack: int
    day: int
    failed: int
    expected: float
    q: float


def tickets(path: Path) -> Tickets:
    """Read the data set."""
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    days = [datetime.fromisoformat(row["failure_time"]).toordinal() for row in rows]
    racks, rack = np.unique([row["rack_id"] for row in rows], return_inverse=True)
    _, model = np.unique([row["model"] for row in rows], return_inverse=True)
    _, room = np.unique([row["machine_room_id"] for row in rows], return_inverse=True)
    first = min(days)
    return Tickets(model, rack, np.array(days) - first, room, [str(name) for name in racks])


def shuffled(told: Tickets, chance: np.random.Generator) -> Tickets:
    """Return the same failures with their days permuted within each model."""
    day = told.day.copy()
    for model in range(int(told.model.max()) + 1):
        mine = np.flatnonzero(told.model == model)
        day[mine] = day[chance.permutation(mine)]
    return told._replace(day=day)


def counted(told: Tickets) -> tuple[Ids, Ids, Ids, Floats]:
    """Return rack, day, count and expectation of every rack and day with a failure.

    What a day brings a model is told by the other rooms, so that a burst does not excuse itself;
    a day on which nothing failed there has what an average one has.
    """
    days, models = int(told.day.max()) + 1, int(told.model.max()) + 1
    own = np.zeros((int(told.room.max()) + 1, models, days))
    np.add.at(own, (told.room, told.model, told.day), 1.0)
    others = own.sum(axis=0)[None] - own
    usual = others.mean(axis=2, keepdims=True)
    share = (others + usual) / np.maximum(2.0 * usual * days, 1e-12)
    of_rack = np.zeros((len(told.racks), models))
    np.add.at(of_rack, (told.rack, told.model), 1.0)
    room_of = np.zeros(len(told.racks), np.int64)
    room_of[told.rack] = told.room
    key, count = np.unique(told.rack * days + told.day, return_counts=True)
    rack, day = key // days, key % days
    expected = (of_rack[rack] * share[room_of[rack], :, day]).sum(axis=1)
    return rack, day, count, np.maximum(expected, 1.0 / days)


def groups(told: Tickets, spread: float) -> list[Group]:
    """Return every rack and day with a failure, the least likely first.

    `spread` is the variance over the mean that chance alone leaves (1: Poisson).
    """
    rack, day, count, expected = counted(told)
    p = of_events(count, expected, spread)
    q = false_discovery(p, len(told.racks) * (int(told.day.max()) + 1))
    return [
        Group(int(rack[i]), int(day[i]), int(count[i]), float(expected[i]), float(q[i]))
        for i in np.argsort(p, kind="stable").tolist()
    ]


def spread_of(told: Tickets) -> float:
    """Return the over-dispersion of counts over all racks and days, of shuffled failures."""
    _, _, count, expected = counted(told)
    total = float(len(told.day))
    squares = float((count.astype(np.float64) ** 2).sum())
    mean_squares = float((expected * count).sum())
    return max((squares - mean_squares) / total, 1.0)


def main() -> None:
    """Rank the groups of the data and of its shuffled copies, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    path = asked.folder / "failures.csv.gz"
    if not path.exists():
        print(f"{asked.folder}: the data set is not there; skipped")
        return
    told = tickets(path)
    chance = np.random.default_rng(1)
    copies = [shuffled(told, chance) for _ in range(COPIES)]
    spread = spread_of(shuffled(told, chance))  # from a copy that is not scored
    ranked = groups(told, spread)
    big = [place for place, group in enumerate(ranked) if group.failed >= BIG]
    flagged = [group for group in ranked if group.q < SOME]
    false = [sum(group.q < SOME for group in groups(copy, spread)) for copy in copies]
    room_of = {int(rack): int(room) for rack, room in zip(told.rack, told.room, strict=True)}
    incidents = Counter((room_of[group.rack], group.day) for group in flagged)
    print(f"{len(told.day)} failures, {len(ranked)} racks and days, spread {spread:.3f}")
    for group in ranked[:10]:
        print(f"  rack {told.racks[group.rack]:>6s} day {group.day:4d}: {group.failed:3d} failed, "
              f"{group.expected:.2f} expected, q {group.q:.1e}")  # fmt: skip
    first = sum(place < 10 and ranked[place].q < SURE for place in big)
    print(f"bursts of {BIG} and more among the first ten at q < {SURE:g}: {first} of {len(big)}")
    print(f"flagged at q < {SOME:g}: {len(flagged)} groups in {len(incidents)} incidents; in "
          f"{COPIES} shuffled copies {min(false)} to {max(false)} each, "
          f"{sum(one <= 1 for one in false)} of {COPIES} with at most one")  # fmt: skip
    print(f"floor: {FLOOR}")


if __name__ == "__main__":
    main()
