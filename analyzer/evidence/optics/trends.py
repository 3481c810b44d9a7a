"""Slow change: slopes with their interval, ageing of lasers, what follows the temperature.

Trends are taken in dB (or in the logarithm of the bias), where wear is close to a straight line
in time; in BER it is not. Daily cycles make neighbouring readings alike, so the interval comes
from resampling whole blocks of a day, and standard errors are widened by the autocorrelation.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from analyzer.evidence.durations import Bools
from fabrichealth.model import Floats

DAY = 86_400.0
LEAST_POINTS = 10
"""With fewer points no slope is told (Theil-Sen needs ten, docs/methods.md)."""
MOVED_KELVIN = 1.0
"""A temperature that spreads by less than this says nothing of its own effect."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Change per day with the bounds of its interval, in the unit of what was fitted."""

    per_day: float
    lower: float
    upper: float

    @property
    def proven(self) -> bool:
        """Whether the interval leaves no doubt about the direction."""
        return self.lower > 0 or self.upper < 0


def theil_sen(at: Floats, values: Floats) -> float:
    """Return the median of the slopes between all pairs of points, per day; NaN for none."""
    known = np.isfinite(values)
    days, given = at[known] / DAY, values[known]
    one, other = np.triu_indices(len(days), 1)
    run = days[other] - days[one]
    apart = run != 0
    if not apart.any():
        return float("nan")
    return float(np.median((given[other] - given[one])[apart] / run[apart]))


def trend(
    at: Floats, values: Floats, confidence: float = 0.9, rounds: int = 200, block: float = DAY
) -> Trend | None:
    """Return the slope of values at times (unix seconds), or None where it cannot be told.

    The interval comes from a block bootstrap: what a straight line leaves is drawn again in
    blocks of `block` seconds, so that a daily cycle is not taken for independent evidence. The
    draws start from a fixed seed: the same readings give the same interval.
    """
    known = np.isfinite(values)
    at, values = at[known], values[known]
    if len(at) < LEAST_POINTS or at[-1] <= at[0]:
        return None
    slope = theil_sen(at, values)
    line = np.median(values - slope * at / DAY) + slope * at / DAY
    rest = values - line
    step = float(np.median(np.diff(at)))
    width = int(np.clip(round(block / max(step, 1e-9)), 1, max(len(at) // 3, 1)))
    chance = np.random.default_rng(0)
    blocks = -(-len(at) // width)
    first = chance.integers(0, len(at) - width + 1, (rounds, blocks))
    drawn = rest[(first[:, :, None] + np.arange(width)).reshape(rounds, -1)[:, : len(at)]]
    days = (at - at.mean()) / DAY
    # around the robust slope the least-squares slope of what is drawn is enough, and fast
    off = drawn @ days / (days @ days)
    low, high = np.quantile(off, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Trend(slope, slope + float(low), slope + float(high))


@dataclass(frozen=True)
class Ageing:
    """ln(bias) = a + b (T - T_mean) + c t of many lasers; t in days ([s] each, NaN not known)."""

    warmth: Floats
    """b, per kelvin."""
    per_day: Floats
    """c: what is left of the rise when the temperature is taken out."""
    error: Floats
    """Standard error of c, widened by the autocorrelation of what is left."""
    doubt: Floats
    """One-sided p-value of c <= 0."""
    grown: Floats
    """Bias at the end over that at the beginning, at the same temperature."""
    days: Floats
    """Days between the first and the last reading."""


def ageing(at: Floats, bias: Floats, celsius: Floats) -> Ageing:
    """Fit every laser's bias to temperature and time ([s, k] each, `at` [k] in unix seconds).

    Rows with fewer than ten common readings, or without bias, tell nothing.
    """
    known = np.isfinite(bias) & np.isfinite(celsius) & (bias > 0)
    number = known.sum(axis=1)
    weight = known.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.where(known, np.log(np.where(known, bias, 1.0)), 0.0)
        days = np.where(known, (at - at[0])[None, :] / DAY, 0.0) if len(at) else weight
        warm = np.where(known, celsius, 0.0)
        share = np.maximum(number, 1)
        y, x, t = (
            np.where(known, one - (one.sum(axis=1) / share)[:, None], 0.0)
            for one in (log, warm, days)
        )
        xx, tt, xt = (x * x).sum(axis=1), (t * t).sum(axis=1), (x * t).sum(axis=1)
        xy, ty = (x * y).sum(axis=1), (t * y).sum(axis=1)
        flat = xx < share * MOVED_KELVIN**2  # the temperature did not move: b cannot be told
        det = xx * tt - xt * xt
        b = np.where(flat, np.nan, (xy * tt - ty * xt) / det)
        c = np.where(flat, ty / tt, (ty * xx - xy * xt) / det)
        rest = np.where(known, y - np.where(flat, 0.0, b)[:, None] * x - c[:, None] * t, 0.0)
        alike = (rest[:, 1:] * rest[:, :-1]).sum(axis=1) / (rest * rest).sum(axis=1)
        alike = np.clip(np.nan_to_num(alike), 0.0, 0.99)
        free = np.maximum(number * (1 - alike) / (1 + alike) - 3, 1.0)
        variance = (rest * rest).sum(axis=1) / np.maximum(number - 3, 1) * (number - 3) / free
        error = np.sqrt(variance * np.where(flat, 1 / tt, xx / det))
        length = _length(days, known)
        told = (number >= LEAST_POINTS) & np.isfinite(c) & (length > 0)
        doubt = student.sf(c / np.maximum(error, 1e-12), free)
        grown = np.exp(np.clip(c * length, -50, 50))
    return Ageing(
        np.where(told, b, np.nan),
        *(np.where(told, one, np.nan) for one in (c, error, doubt, grown, length)),
    )


def _length(days: Floats, known: Bools) -> Floats:
    """Return the days between the first and the last known reading of each row."""
    if not days.shape[1]:
        return np.zeros(len(days))
    last = np.where(known, days, -np.inf).max(axis=1)
    first = np.where(known, days, np.inf).min(axis=1)
    return np.asarray(np.maximum(last - first, 0.0), np.float64)


def follows(values: Floats, celsius: Floats, at: Floats) -> float | None:
    """Return the correlation of values with temperature when time's trend is taken out of both.

    None with fewer than ten common points, or where one of them does not move.
    """
    known = np.isfinite(values) & np.isfinite(celsius)
    if known.sum() < LEAST_POINTS:
        return None
    time = at[known] - at[known].mean()
    left = []
    for one in (values[known], celsius[known]):
        centred = one - one.mean()
        bent = centred - time * float(time @ centred) / max(float(time @ time), 1e-9)
        left.append(bent)
    size = float(np.linalg.norm(left[0]) * np.linalg.norm(left[1]))
    if size < 1e-9:
        return None
    return float(np.clip(left[0] @ left[1] / size, -1.0, 1.0))
