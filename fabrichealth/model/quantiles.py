"""Quantiles of the rows of a matrix; what is missing does not count."""

import numpy as np

from fabrichealth.model.series import Floats


def row_quantile(values: Floats, share: float) -> Floats:
    """Return a quantile of each row ([s] from [s, k]), NaN aside; NaN where all of it is NaN."""
    if not values.shape[1]:
        return np.full(len(values), np.nan)
    if np.isfinite(values).all():
        return _of_whole(values, share)
    ordered = np.sort(values, axis=1)  # NaN last
    known = np.isfinite(ordered).sum(axis=1)
    place = share * np.maximum(known - 1, 0)
    low = np.floor(place).astype(np.intp)
    high = np.minimum(low + 1, np.maximum(known - 1, 0))
    rows = np.arange(len(ordered))
    below, above = ordered[rows, low], ordered[rows, high]
    return np.asarray(below + (above - below) * (place - low), np.float64)


def row_median(values: Floats) -> Floats:
    """Return the median of each row ([s] from [s, k]), NaN aside."""
    return row_quantile(values, 0.5)


def _of_whole(values: Floats, share: float) -> Floats:
    """Return a quantile of each row of a matrix in which nothing is missing."""
    place = share * (values.shape[1] - 1)
    low = int(place)
    high = min(low + 1, values.shape[1] - 1)
    ordered = np.partition(values, (low, high), axis=1)
    below, above = ordered[:, low], ordered[:, high]
    return np.asarray(below + (above - below) * (place - low), np.float64)
