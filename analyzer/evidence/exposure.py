"""Exact intervals for rates of rare errors (docs/methods.md).

k events in an exposure of n (bits, seconds, packets) leave the rate between the Garwood bounds
chi2(a/2, 2k) / 2n and chi2(1 - a/2, 2k + 2) / 2n. Bursts make the counts wider than Poisson
says; dividing by the Fano factor before and multiplying after widens the interval for it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, ndtri

from fabrichealth.model import Floats

CONFIDENCE = 0.95

MANY = 1e4
"""Events from which the cube of a normal quantile is exact enough, and far quicker."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Rate per unit of exposure: best estimate, lower and upper bound (arrays [n])."""

    rate: Floats
    lower: Floats
    upper: Floats


def garwood(
    events: NDArray[np.float64] | float,
    exposure: NDArray[np.float64] | float,
    fano: NDArray[np.float64] | float = 1.0,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the rate of `events` in `exposure`, NaN where there was no exposure.

    With no events the upper bound is the one-sided rule of three (3.0 / n at 95 %).
    """
    k = np.atleast_1d(np.asarray(events, np.float64)) / np.maximum(fano, 1.0)
    n = np.atleast_1d(np.asarray(exposure, np.float64))
    n = np.where(n > 0, n, np.nan)
    miss = 1.0 - confidence
    widen = np.maximum(fano, 1.0)
    some = k > 0
    lower, upper = np.zeros(len(k)), np.full(len(k), gammaincinv(1.0, 1.0 - miss))
    lower[some] = _gamma_quantile(np.maximum(k[some], 1e-12), miss / 2)
    upper[some] = _gamma_quantile(k[some] + 1.0, 1.0 - miss / 2)
    return Interval(k * widen / n, lower * widen / n, upper * widen / n)


def _gamma_quantile(shape: Floats, share: float) -> Floats:
    """Return quantiles of gamma laws; of large shapes by Wilson and Hilferty, good to 1e-6."""
    large = shape >= MANY
    found = np.empty(len(shape))
    found[~large] = gammaincinv(shape[~large], share)
    many = shape[large]
    cube = 1.0 - 1.0 / (9.0 * many) + float(ndtri(share)) / (3.0 * np.sqrt(many))
    found[large] = many * cube**3
    return found


def fano_factor(counts: Floats) -> Floats:
    """Return variance over mean of per-poll counts ([s] from [s, k]); 1 where unknown."""
    known = np.isfinite(counts)
    number = known.sum(axis=1)
    filled = np.where(known, counts, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = filled.sum(axis=1) / number
        spread = (np.where(known, counts - mean[:, None], 0.0) ** 2).sum(axis=1) / (number - 1)
        factor = spread / mean
    return np.where((number > 2) & (mean > 0), np.maximum(factor, 1.0), 1.0)


def needed(limit: float, rate_per_second: float, confidence: float = CONFIDENCE) -> float:
    """Return the error-free seconds that show a rate below `limit` (3 / (limit * rate))."""
    return float(-np.log(1.0 - confidence) / (limit * rate_per_second))
