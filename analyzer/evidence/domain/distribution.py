"""Distribution: how evenly accelerators of a domain, a rack, a host or a job work.

Everything is over the inventory: what says nothing is a class of its own, and no zero. Measures of
unevenness are over those that speak, and undefined (NaN) where all of them do nothing: an idle
machine is neither even nor uneven. The split into two classes is the one that leaves least variance
within them (Otsu 1979); with two classes apart an average speaks of nobody.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.inventory import Rows, Tier
from fabrichealth.model import Floats

Bools = NDArray[np.bool_]
Counts = NDArray[np.int64]

IDLE = 0.05
"""Busy for less than this share of the time is idle."""

WORKS = 0.1
"""A group whose mean is this high is at work, whoever does it."""

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

APART, MINORITY, GAP, ASHMAN = 0.8, 0.1, 0.3, 2.0
"""Two classes: share of variance between them, size of the smaller, distance of their means, and
that distance over their spreads (Ashman's D); each must be beyond."""


@dataclass(frozen=True, eq=False)
class Split:
    """The best split of each group into two classes, lower and upper ([g]); NaN without one."""

    between: Floats
    """Share of the variance that lies between the classes (eta)."""
    lower: Floats
    """Share of the members in the lower class."""
    low: Floats
    high: Floats
    """Means of the classes."""
    ashman: Floats
    """Distance of the means over the spreads; infinite where neither class spreads."""

    @property
    def gap(self) -> Floats:
        """Distance of the means."""
        return self.high - self.low

    @property
    def two(self) -> Bools:
        """Whether there are two classes and not one that is wide."""
        with np.errstate(invalid="ignore"):
            minority = np.minimum(self.lower, 1.0 - self.lower)
            return np.asarray(
                (self.between > APART) & (minority >= MINORITY) & (self.gap >= GAP)
                & (self.ashman > ASHMAN), np.bool_,
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Distribution:
    """How utilisation is spread over the members of each group ([g])."""

    size: Counts
    """Members there should be."""
    speaking: Counts
    idle: Counts
    """Those that speak and do nothing."""
    mean: Floats
    """Over those that speak; NaN where none does."""
    gini: Floats
    jain: Floats
    deviation: Floats
    """Standard deviation over the mean (CV)."""
    peak: Floats
    """Largest over the mean."""
    quantiles: Floats
    """Of the whole group, silent members lowest ([g, quantile]); NaN where it falls among them."""
    split: Split

    @property
    def idle_majority(self) -> Bools:
        """Whether half or more of those that speak do nothing while the mean calls it work ([g]).

        It need not be two classes: what works may be spread wide.
        """
        with np.errstate(invalid="ignore"):
            half = self.idle * 2 >= self.speaking
            return np.asarray((self.mean >= WORKS) & half, np.bool_)

    @property
    def missing(self) -> Counts:
        """Members that say nothing, those without a name included."""
        return self.size - self.speaking

    @property
    def idle_share(self) -> Floats:
        """Of all there should be; NaN for an empty group."""
        return _over(self.idle, self.size)

    @property
    def missing_share(self) -> Floats:
        """Of all there should be; NaN for an empty group."""
        return _over(self.missing, self.size)


def distribution(values: Floats, size: Counts | None = None, idle: float = IDLE) -> Distribution:
    """Return how each row of values ([g, m], NaN: says nothing) is spread.

    `size` is how many members each group should have ([g]); without it as many as there are
    columns. Ratios: Gini's sum of (2i-n-1) x(i) over n S, Jain's S^2 over n Q, deviation of the
    population over the mean, with S the sum and Q the sum of squares.
    """
    ordered = np.sort(values, axis=1)  # NaN last
    known = np.isfinite(ordered)
    many = known.sum(axis=1)
    filled = np.where(known, ordered, 0.0)
    total, squares = filled.sum(axis=1), (filled**2).sum(axis=1)
    place = np.arange(1, ordered.shape[1] + 1)
    weighted = (filled * (2 * place[None, :] - many[:, None] - 1)).sum(axis=1)
    there = np.full(len(values), values.shape[1]) if size is None else np.maximum(size, many)
    some = total > 0
    mean = _over(total, many)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        variance = np.maximum(squares / many - mean**2, 0.0)
        gini = np.where(some, weighted / (many * total), np.nan)
        jain = np.where(some, total**2 / (many * squares), np.nan)
        deviation = np.where(some, np.sqrt(variance) / mean, np.nan)
        peak = np.where(some, filled.max(axis=1, initial=0.0) / mean, np.nan)
        quiet = (known & (ordered < idle)).sum(axis=1)
    return Distribution(
        there, many, quiet, mean, gini, jain, deviation, peak,
        _quantiles(ordered, many, there), two_classes(ordered, many),
    )  # fmt: skip


def packed(values: Floats, tier: Tier) -> tuple[Floats, Rows]:
    """Return values ([n]) by group ([g, widest], NaN beyond a group), and each group's size."""
    inside = np.flatnonzero(tier.code >= 0)
    order = inside[np.argsort(tier.code[inside], kind="stable")]
    group = tier.code[order]
    first = np.searchsorted(group, np.arange(len(tier.names)))
    found = np.full((len(tier.names), int(tier.sizes.max(initial=0))), np.nan)
    found[group, np.arange(len(order)) - first[group]] = values[order]
    return found, tier.sizes.astype(np.intp)


def two_classes(ordered: Floats, many: Counts) -> Split:
    """Return the split of each row into two classes that leaves least variance within them.

    Rows of `ordered` ([g, m]) ascend, the first `many` ([g]) are values. A row of fewer than two
    different values has no split.
    """
    groups, width = ordered.shape
    if width < 2:
        nothing = np.full(groups, np.nan)
        return Split(nothing, nothing, nothing, nothing, nothing)
    rows = np.arange(groups)
    inside = np.arange(width)[None, :] < many[:, None]
    shift = np.where(many > 0, ordered[:, 0], 0.0)  # squares of small differences, not of levels
    centred = np.where(inside, ordered - shift[:, None], 0.0)
    summed = np.cumsum(centred, axis=1)
    total, squares = summed[:, -1], (centred**2).sum(axis=1)
    below = np.arange(1, width)[None, :]
    above = many[:, None] - below
    possible = (above > 0) & (ordered[:, 1:] > ordered[:, :-1])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low = summed[:, :-1] / below
        high = (total[:, None] - summed[:, :-1]) / above
        scored = np.where(possible, below * above * (high - low) ** 2, -1.0)
        best = np.argmax(scored, axis=1)
        found = scored[rows, best] > 0
        n = many.astype(np.float64)
        within_all = squares - total**2 / n
        between = np.where(found, scored[rows, best] / n / within_all, np.nan)
        below_best = best + 1.0
        first, second = low[rows, best], high[rows, best]
        lower_squares = np.cumsum(centred**2, axis=1)[rows, best]
        spread = np.sqrt(
            np.maximum(lower_squares / below_best - first**2, 0.0)
            + np.maximum((squares - lower_squares) / (n - below_best) - second**2, 0.0)
        )
        ashman = np.sqrt(2.0) * (second - first) / spread
        low_mean, high_mean = first + shift, second + shift
        lower = below_best / n
    return Split(
        np.minimum(between, 1.0),
        np.where(found, lower, np.nan),
        np.where(found, low_mean, np.nan),
        np.where(found, high_mean, np.nan),
        np.where(found, ashman, np.nan),
    )


def _quantiles(ordered: Floats, many: Counts, size: Counts) -> Floats:
    """Return quantiles over whole groups ([g, quantile]): the silent rank below all others."""
    found = np.full((len(ordered), len(QUANTILES)), np.nan)
    if not ordered.shape[1]:
        return found
    silent = size - many
    for column, share in enumerate(QUANTILES):
        at = share * np.maximum(size - 1, 0) - silent
        low = np.floor(at + 1e-9).astype(np.intp)
        part = np.clip(at - low, 0.0, 1.0)
        told = (low >= 0) & (many > 0)
        one = np.clip(low, 0, ordered.shape[1] - 1)
        other = np.clip(np.minimum(low + 1, many - 1), 0, ordered.shape[1] - 1)
        rows = np.arange(len(ordered))
        below, above = ordered[rows, one], ordered[rows, other]
        found[:, column] = np.where(told, below + (above - below) * part, np.nan)
    return found


def _over(part: Counts | Floats, whole: Counts) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
