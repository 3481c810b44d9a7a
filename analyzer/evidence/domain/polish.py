"""Median polish (Tukey 1977): what a line, a column and a single cell of a table do by themselves.

Readings of hosts by place in the host, or by rail: a host that is slow moves its whole line, a rail
its column; what is left is one accelerator or one link. Medians, so one odd cell moves neither.
"""

from dataclasses import dataclass

import numpy as np

from fabrichealth.model import Floats

ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Effects:
    """Deviations by host h, column c (place or rail) and tick j."""

    line: Floats
    """Of whole hosts ([h, j])."""
    column: Floats
    """Of whole columns ([c, j])."""
    cell: Floats
    """What is left of each cell ([h, c, j]); NaN where there is none."""


def polished(values: Floats, fewest: int = 3) -> Effects:
    """Return the effects in deviations from the usual ([h, c, j]); NaN is missing.

    Lines and columns of fewer than `fewest` cells have no usual one: a line of one or two moves as
    little as the one of them that moves least, in the direction in which all of them do.
    """
    cell = values.copy()
    hosts, columns, ticks = cell.shape
    line, column = np.zeros((hosts, ticks)), np.zeros((columns, ticks))
    wide, tall = columns >= fewest, hosts >= fewest
    for _ in range(ROUNDS if wide and tall else 1):
        if tall:
            step = np.nan_to_num(_median(cell, 0))
            column += step
            cell -= step[None, :, :]
        step = np.nan_to_num(_median(cell, 1) if wide else _least(cell))
        line += step
        cell -= step[:, None, :]
    return Effects(line, column, cell)


def _median(values: Floats, axis: int) -> Floats:
    """Return the median along an axis, NaN aside; NaN where all of it is."""
    ordered = np.sort(values, axis=axis)  # NaN last
    known = np.isfinite(values).sum(axis=axis, keepdims=True)
    low = np.maximum(known - 1, 0) // 2
    high = np.minimum(known // 2, values.shape[axis] - 1)
    both = np.take_along_axis(ordered, low, axis) + np.take_along_axis(ordered, high, axis)
    return np.asarray(np.squeeze(both, axis) / 2.0, np.float64)


def _least(values: Floats) -> Floats:
    """Return by how much all cells of each line deviate alike ([h, j]); 0 where they do not."""
    low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    several = np.isfinite(values).sum(axis=1) > 1
    together = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    return np.where(several, together, 0.0)
