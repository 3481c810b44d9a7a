"""Standing out: who differs from its peers, how much, for how long, and whether it does alone.

A deviation is measured in robust deviations of the peers, never below a floor (instruments read in
steps), and smoothed over time (EWMA). It counts where it lasts, and where the same one is first at
nearly all ticks: where places change nobody stands out.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain.distribution import Bools
from analyzer.evidence.robust import NORMAL_PER_MAD
from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median

SMOOTHING = 30.0
"""Time constant of the smoothing, seconds."""

ALONE = 2.0 / 3.0
"""Whoever stands out has the next one no nearer than this share of its own distance, or that one
does not stand out at all."""

FEWEST_TICKS = 3
"""So many ticks at least are looked at, however far apart they are."""


@dataclass(frozen=True)
class Lead:
    """Who stands out of a table."""

    row: int
    score: float
    """Smoothed robust deviations at the last tick."""
    first: float
    """Share of the ticks looked at at which it is first."""
    ticks: int
    """How many were looked at."""


def deviations(values: Floats, floor: float, relative: bool = False) -> Floats:
    """Return how far each member is from the median of all at each tick ([m, j], in floors).

    `floor` is the least that counts, in the unit of the values or as a share of their median.
    """
    middle = row_median(values.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        least = floor * np.abs(middle) if relative else np.full(len(middle), floor)
        found = (values - middle) / np.where(least > 0, least, np.nan)
    return np.asarray(found, np.float64)


def scored(effects: Floats, step: float) -> Floats:
    """Return smoothed robust deviations ([m, j]) of effects that are given in floors.

    At each tick the spread of all is the unit, or the floor where they spread less; what is
    missing adds nothing.
    """
    if not effects.size:
        return effects
    # a second to load, which commands that judge no job need not wait for
    from scipy.signal import lfilter  # noqa: PLC0415

    spread = NORMAL_PER_MAD * row_median(np.abs(effects).T)
    robust = np.nan_to_num(effects / np.maximum(np.nan_to_num(spread), 1.0))
    weight = 1.0 - np.exp(-max(step, 1e-3) / SMOOTHING)
    return np.asarray(lfilter([weight], [1.0, weight - 1.0], robust, axis=1), np.float64)


def lead(scores: Floats, at: Floats, lasting: float, bound: float, first: float) -> Lead | None:
    """Return who stands out alone at the end, as `leads` does; None where nobody or several do."""
    return next(iter(leads(scores, at, (lasting, bound, first))), None)


def leads(
    scores: Floats, at: Floats, rules: tuple[float, float, float], most: int = 1
) -> list[Lead]:
    """Return who stands out at the end: beyond the bound all along, before the others mostly.

    `rules` are the seconds that are looked at (three ticks at least), the bound, and at what share
    of the ticks. Where whoever comes next is beyond the bound as well and not far behind, it stands
    out with them; more than `most` are another kind, and nobody stands out.
    """
    lasting, bound, first = rules
    many = max(int((at > at[-1] - lasting).sum()), FEWEST_TICKS) if len(at) else 0
    if scores.shape[1] < many or not many or len(scores) < 2:
        return []
    latest = scores[:, -many:]
    middle = np.median(latest, axis=1)
    order = np.argsort(-middle, kind="stable")[: most + 1].tolist()
    for number in range(1, len(order)):
        ahead = order[:number]
        others = np.delete(latest, ahead, axis=0).max(axis=0, initial=-np.inf)
        least = float(middle[ahead[-1]])
        if float(np.median(others)) >= max(bound, ALONE * least):
            continue
        share = float((latest[ahead].min(axis=0) > others).mean())
        if share < first or (latest[ahead] < bound).any():
            return []
        return [Lead(row, float(latest[row, -1]), share, many) for row in ahead]
    return []


def began(beyond: Bools, at: Floats) -> float:
    """Return when a condition at ascending ticks ([j]) began to hold until the last of them."""
    broken = np.flatnonzero(~beyond)
    place = 0 if not len(broken) else min(int(broken[-1]) + 1, len(at) - 1)
    return float(at[place])
