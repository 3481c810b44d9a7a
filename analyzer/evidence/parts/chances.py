"""Chances: how likely so many ill members of a group are, if the group is like all others.

Failures that share a hall, a day or a technician come together even when no part is to blame: in
a million drives 26 % of failures had another in their rack within a day, 10 % when their times
were shuffled (Han et al., FAST 2021). So counts are over-dispersed: beta-binomial where the
members are known, Gamma-Poisson where only an expectation is (docs/methods.md, Shared parts).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom, binom, gamma, nbinom, poisson

from fabrichealth.model import Floats

Counts = NDArray[np.int64]

PRIOR = 2.0
"""Strength of the belief that a group is like the others, in events (EBGM's gamma prior)."""


def of_members(hits: Floats, members: Floats, share: Floats, correlation: float) -> Floats:
    """Return the chance of so many hits or more among members ([g]).

    `share` is what chance gives each member, `correlation` how alike members of one group are
    (0: independent, 1: all or none). Halves of a hit are rounded down.
    """
    k, m = np.floor(hits + 1e-9), np.round(members)
    p = np.clip(share, 1e-12, 1.0 - 1e-12)
    if correlation <= 0:
        return np.asarray(binom.sf(k - 1, m, p), np.float64)
    strength = (1.0 - correlation) / correlation
    return np.asarray(betabinom.sf(k - 1, m, p * strength, (1.0 - p) * strength), np.float64)


def of_events(count: Counts, expected: Floats, spread: float) -> Floats:
    """Return the chance of so many events or more where so many are expected ([g]).

    `spread` is the variance over the mean that chance alone leaves (1: Poisson).
    """
    if spread <= 1.0:
        return np.asarray(poisson.sf(count - 1, expected), np.float64)
    shape = expected / (spread - 1.0)
    return np.asarray(nbinom.sf(count - 1, shape, 1.0 / spread), np.float64)


def false_discovery(p: Floats, tests: int) -> Floats:
    """Return Benjamini and Hochberg's q of each p; groups not listed count as tests of p = 1."""
    order = np.argsort(p, kind="stable")
    ranked = p[order] * tests / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(np.minimum.accumulate(ranked[::-1])[::-1], 1.0)
    return q


def least_excess(count: Floats, expected: Floats, prior: float = PRIOR) -> Floats:
    """Return the 5 % quantile of by how many times a group is worse than expected (EB05, [g])."""
    return np.asarray(gamma.ppf(0.05, count + prior) / (expected + prior), np.float64)


def likeness(hits: Floats, members: Floats, share: Floats) -> float:
    """Return how alike members of a group are, over groups, by the method of moments (0..1)."""
    some = (members > 1) & (share > 0) & (share < 1)
    if some.sum() < 3:
        return 0.0
    k, m, p = hits[some], members[some], share[some]
    noise = (m * p * (1 - p)).sum()
    extra = ((k - m * p) ** 2).sum() - noise
    pairs = (m * (m - 1) * p * (1 - p)).sum()
    return float(np.clip(extra / pairs, 0.0, 0.99)) if pairs > 0 else 0.0
