"""Medians, spreads and quantiles of rows and of groups of rows; what is missing does not count."""

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median

NORMAL_PER_MAD = 1.4826
"""A normal distribution's standard deviation over its median absolute deviation."""


def row_spread(values: Floats) -> Floats:
    """Return the robust standard deviation of each row ([s] from [s, k]), NaN aside."""
    middle = row_median(values)
    return NORMAL_PER_MAD * row_median(np.abs(values - middle[:, None]))


def group_quantiles(
    values: Floats, group: NDArray[np.int64], shares: tuple[float, ...], least: int
) -> Floats:
    """Return quantiles of each value's group ([n, share]); NaN in groups of less than `least`."""
    found = np.full((len(values), len(shares)), np.nan)
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return found
    told, ordered = group[known], values[known]
    order = np.lexsort((ordered, told))
    told, ordered = told[order], ordered[order]
    first = np.flatnonzero(np.concatenate(([True], told[1:] != told[:-1])))
    size = np.diff(first, append=len(told))
    enough = size >= max(least, 1)
    first, size = first[enough], size[enough]
    if not len(first):
        return found
    at = (size - 1)[:, None] * np.asarray(shares)[None, :]
    low = np.floor(at).astype(np.intp)
    below = ordered[first[:, None] + low]
    above = ordered[first[:, None] + np.minimum(low + 1, (size - 1)[:, None])]
    table = below + (above - below) * (at - low)
    keys = told[first]
    place = np.minimum(np.searchsorted(keys, group), len(keys) - 1)
    same = keys[place] == group
    found[same] = table[place[same]]
    return found


def group_spread(values: Floats, group: NDArray[np.int64], least: int) -> tuple[Floats, Floats]:
    """Return median and robust standard deviation of each value's group ([n], [n])."""
    middle = group_quantiles(values, group, (0.5,), least)[:, 0]
    away = group_quantiles(np.abs(values - middle), group, (0.5,), least)[:, 0]
    return middle, NORMAL_PER_MAD * away
