"""Mains: what the branches of a loop say together, where its main has no meter of its own.

Units that show each secondary connector alone, or racks with their own meters, leave the main
without a reading: flows add up, temperatures and pressures are those of the branches.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.trails import Chosen, Trails
from fabrichealth.model import Floats


class Mains(Trails):
    """Trails in which mains without a meter say what their branches say."""

    summed: ClassVar[tuple[Chosen, ...]] = ()
    """Quantities that add up, where every written branch is metered."""
    shared: ClassVar[tuple[Chosen, ...]] = ()
    """Quantities of which a main has the mean of its branches."""
    weighted: ClassVar[Mapping[Chosen, Chosen]] = {}
    """What that mean is weighted by."""

    def picked(self, chosen: Chosen, rows: NDArray[np.intp] | None) -> Floats:
        """Return the trail of a quantity at some of all places ([row, bin + 1])."""
        found = super().picked(chosen, rows)
        if chosen not in self.summed and chosen not in self.shared:
            return found
        mine = np.arange(len(self.whole)) if rows is None else rows
        lacking = np.flatnonzero(np.isnan(found).all(axis=1) & ~self.whole.branched[mine])
        if not len(lacking) or not self.whole.siblings.size:
            return found
        found = found.copy()
        found[lacking] = self._together(chosen, self.whole.loop[mine[lacking]])
        return found

    def _together(self, chosen: Chosen, loops: NDArray[np.int64]) -> Floats:
        """Return what branches say together ([loop, bin + 1]); NaN where one of them is silent."""
        siblings = self.whole.siblings[loops]
        there = siblings >= 0
        values = self._of_branches(chosen, siblings)
        told = np.asarray(np.isfinite(values) | ~there[:, :, None], np.bool_).all(axis=1)
        known = np.logical_and(told, np.any(there, axis=1)[:, None])
        if chosen in self.summed:
            whole = np.array([self._metered(int(loop)) for loop in loops], np.bool_)
            return np.where(known & whole[:, None], np.nansum(values, axis=1), np.nan)
        weight = np.broadcast_to(there[:, :, None], values.shape).astype(np.float64)
        if chosen in self.weighted:
            by = self._of_branches(self.weighted[chosen], siblings)
            heard = np.asarray(np.isfinite(by) | ~there[:, :, None], np.bool_)
            weight = np.where(heard.all(axis=1, keepdims=True), np.nan_to_num(by), weight)
        total = weight.sum(axis=1)
        mean = np.nansum(values * weight, axis=1) / np.maximum(total, 1e-9)
        return np.where(known & (total > 0), mean, np.nan)

    def _of_branches(self, chosen: Chosen, siblings: NDArray[np.intp]) -> Floats:
        """Return trails of branches ([loop, branch, bin + 1]); NaN where a loop has fewer."""
        there = siblings >= 0
        trails = super().picked(chosen, siblings[there])
        found = np.full((*siblings.shape, trails.shape[1]), np.nan)
        found[there] = trails
        return found

    def _metered(self, loop: int) -> bool:
        """Return whether every branch that is written of a loop has a place."""
        name = self.whole.loops[loop]
        return all((name, branch) in self.whole.numbers for branch in self._written.get(name, ()))

    @cached_property
    def _written(self) -> dict[str, set[str]]:
        """Branches that the topology's racks name, by loop."""
        found: dict[str, set[str]] = {}
        for rack in self.view.topology.racks.values():
            found.setdefault(rack.loop, set()).update({rack.branch, *rack.branches} - {""})
        return found
