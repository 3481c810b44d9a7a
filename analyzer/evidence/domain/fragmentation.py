"""Fragmentation: how many of the free accelerators a job of some size could have.

Units are trays, racks or whole domains; a job that fits into a unit takes accelerators of one unit,
a larger one takes whole units, all of them free. Where units differ in size it has one that is
large enough, or several smaller ones. What is free and cannot be had so is lost to jobs of that
size. Nothing free is no fragmentation of 0, but none at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one tier: how many accelerators each has ([u]), and how many may be had."""

    size: Counts
    free: Counts

    @cached_property
    def usual(self) -> int:
        """The size that most accelerators' units have; 0 without units."""
        if not len(self.size):
            return 0
        weight = np.bincount(self.size, weights=self.size)
        return int(len(weight) - 1 - np.argmax(weight[::-1]))

    @cached_property
    def whole(self) -> int:
        """Accelerators in units that are free as a whole."""
        return int(self.size[(self.free == self.size) & (self.size > 0)].sum())

    @property
    def total(self) -> int:
        """Accelerators that are free."""
        return int(self.free.sum())

    def placeable(self, job: int) -> int:
        """Return how many accelerators jobs of a size could have, all of them together.

        Raises:
            ValueError: a job wants at least one.
        """
        if job < 1:
            raise ValueError(f"a job of {job} accelerators; give 1 or more")
        inside = self.free // job * job
        # what fits into one unit need not be whole; smaller units go together as a whole
        beside = self.whole - int(self.size[(self.free == self.size) & (inside > 0)].sum())
        had = int(inside.sum()) + beside // job * job
        return had if job <= self.usual else max(had, self.whole // job * job)

    @property
    def largest(self) -> int:
        """The largest job that would fit."""
        return max(self.whole, int(self.free.max(initial=0)))

    def stranded(self, smallest: int) -> int:
        """Return the free accelerators in units with less than the smallest job that waits."""
        return int(self.free[self.free < min(smallest, max(self.usual, 1))].sum())

    def lost(self, job: int) -> float | None:
        """Return the share of the free accelerators that jobs of a size cannot have."""
        return 1.0 - self.placeable(job) / self.total if self.total else None


def by_demand(units: Units, jobs: Mapping[int, int]) -> float | None:
    """Return the share lost to jobs that wait (how many, by size), weighed by what they want."""
    wanted = sum(size * many for size, many in jobs.items())
    shares = {size: units.lost(size) for size in jobs}
    if not wanted or None in shares.values():
        return None
    return sum((shares[size] or 0.0) * size * many for size, many in jobs.items()) / wanted
