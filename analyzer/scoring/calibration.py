"""Calibration: whether causes given with 70 % are right in 70 of 100.

Pairs of (probability of the likeliest cause, was it right) fall into bins of a tenth. The Brier
score is their mean squared difference (0 is perfect, 0.25 is a coin that says 0.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.scoring.bounds import Share

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Claims of one tenth: what they said on average, and how many were right."""

    low: float
    high: float
    said: float
    right: Share


def bins(pairs: Sequence[tuple[float, bool]]) -> list[Bin]:
    """Return the bins that hold anything, ascending."""
    held: dict[int, list[tuple[float, bool]]] = {}
    for said, right in pairs:
        held.setdefault(min(int(said * BINS), BINS - 1), []).append((said, right))
    return [
        Bin(
            number / BINS,
            (number + 1) / BINS,
            sum(said for said, _ in claims) / len(claims),
            Share(sum(right for _, right in claims), len(claims)),
        )
        for number, claims in sorted(held.items())
    ]


def brier(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """Return the Brier score, None without claims."""
    if not pairs:
        return None
    return sum((said - right) ** 2 for said, right in pairs) / len(pairs)


def expected_error(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """Return the mean distance between said and right over bins, weighed by claims."""
    if not pairs:
        return None
    every = bins(pairs)
    distance = sum(abs(one.said - one.right.hits / one.right.n) * one.right.n for one in every)
    return distance / len(pairs)
