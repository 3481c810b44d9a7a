"""Places: loops and their branches by number, the same numbers for every cooling metric.

A place is a branch, or the main of a loop (branch ""). Names are looked up once for each table as
it grows; a pass only indexes arrays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.cooling import (
    AIR_HUMIDITY,
    AIR_TEMPERATURE,
    COOLANT_TEMPERATURE,
    DIFFERENTIAL_PRESSURE,
    FLOW,
    LEAK,
    MAKEUP,
    PRESSURE,
    PUMP_POWER,
    PUMP_RUNNING,
    PUMP_SPEED,
    RESERVOIR_LEVEL,
    VALVE_POSITION,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Place, SeriesTable
from fabrichealth.model.quantiles import row_median

Numbers = NDArray[np.intp]

MEASURED = (
    FLOW, COOLANT_TEMPERATURE, DIFFERENTIAL_PRESSURE, PRESSURE, PUMP_SPEED, PUMP_POWER,
    PUMP_RUNNING, VALVE_POSITION, RESERVOIR_LEVEL, MAKEUP, AIR_TEMPERATURE, AIR_HUMIDITY,
)  # fmt: skip
"""What meters of a loop or branch say."""

METRICS = (*MEASURED, LEAK)
"""Metrics whose first labels are loop and branch, or loop alone."""


@dataclass(frozen=True, eq=False)
class Places:
    """Loops and branches by number; of every metric, the place of each series."""

    names: list[tuple[str, str]]
    """(loop, branch) of each place."""
    of: Mapping[Metric, Numbers]
    """Place of each series, by place in `table.of(metric)`."""
    numbers: dict[tuple[str, str], int] = field(repr=False)
    whole: "Places | None" = None
    """What these are a part of, if they are; `rows` are their numbers there."""
    rows: Numbers | None = None

    def only(self, rows: Numbers) -> "Places":
        """Return some of all places (ascending), under numbers of their own."""
        names = [self.names[row] for row in rows.tolist()]
        return Places(names, self.of, {name: n for n, name in enumerate(names)}, self, rows)

    @cached_property
    def mains(self) -> "Places":
        """The mains of all loops."""
        return self.only(np.flatnonzero(~self.branched))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def loops(self) -> list[str]:
        """The loops, in the order of their first appearance."""
        return list(dict.fromkeys(loop for loop, _ in self.names))

    @cached_property
    def loop(self) -> NDArray[np.int64]:
        """Number among `loops` of each place ([place])."""
        number = {name: place for place, name in enumerate(self.loops)}
        return np.array([number[loop] for loop, _ in self.names], np.int64)

    @cached_property
    def main(self) -> Numbers:
        """Place of the main of each place's loop ([place]); every loop has one."""
        return np.array([self.numbers[loop, ""] for loop, _ in self.names], np.intp)

    @cached_property
    def branched(self) -> NDArray[np.bool_]:
        """Which places are branches ([place])."""
        return np.array([bool(branch) for _, branch in self.names], np.bool_)

    @cached_property
    def siblings(self) -> Numbers:
        """Places of the branches of each loop ([loop, branch], -1 where it has fewer)."""
        mine = np.flatnonzero(self.branched)
        order = mine[np.argsort(self.loop[mine], kind="stable")]
        count = np.bincount(self.loop[order], minlength=len(self.loops))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        found = np.full((len(self.loops), int(count.max(initial=0))), -1, np.intp)
        found[self.loop[order], rank] = order
        return found

    def among_siblings(self, values: Floats, least: int) -> Floats:
        """Return the median over the branches of each place's loop ([place, k] from the same).

        NaN where fewer than `least` branches say anything.
        """
        if not self.siblings.size:
            return np.full(values.shape, np.nan)
        every = np.where(self.siblings[:, :, None] >= 0, values[self.siblings], np.nan)
        loops, branches, columns = every.shape
        flat = np.moveaxis(every, 1, 2).reshape(loops * columns, branches)
        middle = row_median(flat)
        middle[np.isfinite(flat).sum(axis=1) < least] = np.nan
        return np.asarray(middle.reshape(loops, columns)[self.loop], np.float64)

    def about(self, place: int) -> Place:
        """Return what a finding about a place is about: a branch, or a loop."""
        loop, branch = self.names[place]
        return Place("branch", f"{loop}/{branch}") if branch else Place("loop", loop)


_known: WeakKeyDictionary[SeriesTable, tuple[tuple[int, ...], Places]] = WeakKeyDictionary()


def places(table: SeriesTable) -> Places:
    """Return the places that a table's series tell of; worked out again only when it grows."""
    counts = tuple(len(table.of(metric)) for metric in METRICS)
    kept = _known.get(table)
    if kept is not None and kept[0] == counts:
        return kept[1]
    numbers: dict[tuple[str, str], int] = {}
    of: dict[Metric, Numbers] = {}
    for metric in METRICS:
        every = [table.labels(int(number))[:2] for number in table.of(metric)]
        mine = []
        for loop, branch in every:
            numbers.setdefault((loop, ""), len(numbers))
            mine.append(numbers.setdefault((loop, branch), len(numbers)))
        of[metric] = np.array(mine, np.intp)
    made = Places(list(numbers), of, numbers)
    _known[table] = (counts, made)
    return made
