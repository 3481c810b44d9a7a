"""Forecast: when a margin that shrinks will be used up.

Margins are in dB, where wear is close to a straight line in time; in error ratios it is not. The
slope is the median of all pairwise slopes (Theil-Sen); slope and level are drawn again together
from what the line leaves, in blocks of a day, so that a daily cycle does not count as proof. No
date where the interval of the slope spans zero. What counts is the last stretch: a margin that
fell in one step and stands since then, or that fell for days and stopped, reaches nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.optics.trends import DAY, LEAST_POINTS, theil_sen
from fabrichealth.model import Floats

CONFIDENCE = 0.9
"""Of the slope's interval, which must not span zero."""

ROUNDS = 400

UNKNOWN_BEND = 1.08
"""Draws are so much wider, since where a fall began is an estimate too: calibrated on simulated
drifts (tests/analyzer/link/test_forecast.py)."""

LONGEST = 3650.0
"""Days; a crossing later than this is none."""

BENT = 0.9
"""A bend is believed if it leaves so much less than a straight line does."""

BROKEN = 0.8
"""A step is believed if two levels leave so much less than any fall that goes on."""

STOPPED = 0.8
"""The end of a fall likewise; that shape bends more easily to noise."""

FEW = 4
"""Points on either side of a step or stop at the least."""

MOST_BREAKS, MOST_STEPS = 4, 3

LEAST_LOST = 0.5
"""dB: light and signal wander by tenths within days, and a fall that is less may be that."""

SEASONED = 4.0
"""Days: on a shorter stretch the same hours of different days must tell of the fall as well, ..."""

SAME_HOUR = 1.0 / 12.0
""".. hours that lie so much of a day apart at the most; a past is kept by four hours."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What a fall must show to be believed."""

    least_past: float = 2.0
    """Days: on a shorter stretch a daily cycle looks like a fall, ..."""
    quick_db: float = 1.5
    """.. unless it has lost so many dB."""

    def slight(self, lasted: Floats, per_day: Floats) -> NDArray[np.bool_]:
        """Return which falls (days, dB a day) are too short for how little they have lost."""
        short = np.asarray(lasted < self.least_past, np.bool_)
        return short & (-per_day * lasted < self.quick_db)


PROOF = Proof()


@dataclass(frozen=True, slots=True)
class Crossing:
    """When a margin reaches 0: days from now, and the line that says so."""

    p10: float
    p50: float
    p90: float
    level: float
    """Margin now, dB."""
    per_day: float
    """Change of the margin, dB a day; negative."""
    slowest: float
    fastest: float
    """Bounds of that change with 90 % confidence."""
    began: float
    """Since when the margin has been on this line, unix seconds."""
    points: int


def crossing(at: Floats, margin: Floats, now: float, proof: Proof = PROOF) -> Crossing | None:
    """Return when a margin (dB, at unix seconds, NaN unknown) is used up, None if that is not told.

    The draws start from a fixed seed: the same readings give the same forecast.
    """
    known = np.isfinite(margin) & np.isfinite(at)
    at, margin = at[known], margin[known]
    if len(at) < LEAST_POINTS or at[-1] <= at[0]:
        return None
    first = last_stretch(at, margin, proof)
    at, margin = at[first:], margin[first:]
    if len(at) < LEAST_POINTS:
        return None
    slope = theil_sen(at, margin)
    days = (at - now) / DAY
    level = float(np.median(margin - slope * days))
    if slope >= 0 or level <= 0 or _breathes(at, margin, slope, proof):
        return None
    slopes, levels = _drawn(at, margin - level - slope * days, days)
    slopes, levels = slope + slopes, level + levels
    fastest, slowest = np.quantile(slopes, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    lasted = np.array((at[-1] - at[0]) / DAY)
    if slowest >= 0 or proof.slight(lasted, slowest):
        return None
    with np.errstate(divide="ignore"):
        left = np.where(slopes < 0, np.maximum(levels, 0.0) / -slopes, LONGEST)
    p10, p50, p90 = np.quantile(np.minimum(left, LONGEST), [0.1, 0.5, 0.9])
    return Crossing(
        float(p10), float(p50), float(p90), level, slope, float(slowest), float(fastest),
        float(at[0]), len(at),
    )  # fmt: skip


def _breathes(at: Floats, margin: Floats, slope: float, proof: Proof) -> bool:
    """Return whether a fall (dB a day) may be wandering or the daily cycle alone.

    A line through one cycle of +-A dB falls by up to 1.9 A a day, through n of them by up to
    1.9 A / n**2: between the same hours of different days nothing of it is left.
    """
    lasted = float(at[-1] - at[0]) / DAY
    lost = -slope * lasted
    if lost < LEAST_LOST:
        return True
    if lost >= proof.quick_db or lasted >= SEASONED:
        return False
    if lasted < proof.least_past:
        return True
    apart = (at[None, :] - at[:, None]) / DAY
    days = np.rint(apart)
    same = (days >= 1) & (np.abs(apart - days) <= SAME_HOUR)
    falls = (margin[None, :] - margin[:, None])[same] / apart[same]
    return not (len(falls) and float(np.median(falls)) <= slope / 2)


def last_stretch(at: Floats, margin: Floats, proof: Proof = PROOF) -> int:
    """Return the first point of what goes on now: after the last step or stop, from the bend on."""
    first = 0
    for _ in range(MOST_BREAKS):
        at_break = _broke(at[first:], margin[first:], proof)
        if not at_break:
            break
        first += at_break
    return first + bend(at[first:], margin[first:], proof)


def _broke(at: Floats, margin: Floats, proof: Proof) -> int:
    """Return where a step or the end of a fall parts the points; 0: neither does.

    Either must leave clearly less than what a margin that still falls would leave.
    """
    if len(at) < 2 * FEW:
        return 0
    days = (at - at[0]) / DAY
    falls = min(_straight(days, margin), _bent(days, margin, proof)[0])
    step, stepped_at = _stepped(margin)
    stop, stopped_at = _stopped(days, margin)
    if min(step / BROKEN, stop / STOPPED) >= falls:
        return 0
    return stepped_at if step / BROKEN <= stop / STOPPED else stopped_at


def _stepped(margin: Floats) -> tuple[float, int]:
    """Return what a stair leaves at best, and the first point after its greatest step.

    A further step counts only if it takes away as much again, so what it leaves is told as if it
    had left more. What comes after the greatest is looked at again: it may fall.
    """
    levels, best, first, price = [margin], float("inf"), 0, 1.0
    for _ in range(MOST_STEPS):
        lefts = [_two_levels(level) for level in levels]
        rests = [float(((level - level.mean()) ** 2).sum()) for level in levels]
        gains = [rest - left for rest, (left, _) in zip(rests, lefts, strict=True)]
        worst = int(np.argmax(gains))
        cut = lefts[worst][1]
        if not cut:
            break
        first = first or cut
        left = (sum(rests) - gains[worst]) / price
        price *= BROKEN
        levels[worst : worst + 1] = [levels[worst][:cut], levels[worst][cut:]]
        best = min(best, left)
    return best, first


def _two_levels(margin: Floats) -> tuple[float, int]:
    """Return what two levels leave at best, and where the second, lower one begins; 0: nowhere."""
    number = len(margin)
    if number < 2 * FEW:
        return float(((margin - margin.mean()) ** 2).sum()), 0
    total, square = np.cumsum(margin), float(margin @ margin)
    place = np.arange(FEW, number - FEW + 1)
    before, after = total[place - 1], total[-1] - total[place - 1]
    left = square - before**2 / place - after**2 / (number - place)
    left = np.where(after / (number - place) < before / place, left, np.inf)
    best = int(np.argmin(left))
    if not np.isfinite(left[best]):
        return float(((margin - margin.mean()) ** 2).sum()), 0
    return float(max(left[best], 0.0)), int(place[best])


def _stopped(days: Floats, margin: Floats) -> tuple[float, int]:
    """Return what a fall that ends in a level leaves at best, and where it ends."""
    place = np.arange(FEW, len(days) - FEW + 1)
    left, slope = _lines(np.minimum(days - days[place, None], 0.0), margin)
    return _least(np.where(slope < 0, left, np.inf), place)


def bend(at: Floats, margin: Floats, proof: Proof = PROOF) -> int:
    """Return the first point of the last straight stretch: a link that was well began to fail.

    The break is where flat-then-falling leaves least; 0 if that is hardly better than one line.
    """
    days = (at - at[0]) / DAY
    best, place = _bent(days, margin, proof)
    return place if best < BENT * _straight(days, margin) else 0


def _straight(days: Floats, margin: Floats) -> float:
    """Return what one line leaves."""
    return float(_lines(days[None], margin)[0][0])


def _bent(days: Floats, margin: Floats, proof: Proof) -> tuple[float, int]:
    """Return what flat-then-falling leaves at best, and where it begins to fall."""
    place = np.arange(2, len(days) - LEAST_POINTS + 1)
    left, slope = _lines(np.maximum(days - days[place, None], 0.0), margin)
    lasted = days[-1] - days[place]
    return _least(np.where(proof.slight(lasted, slope), np.inf, left), place)


def _least(left: Floats, place: NDArray[np.intp]) -> tuple[float, int]:
    """Return the least of what is left, and its place; infinity at 0 where nothing fits."""
    if not len(left) or not np.isfinite(left.min()):
        return float("inf"), 0
    best = int(np.argmin(left))
    return float(left[best]), int(place[best])


def _lines(abscissae: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return what a line over each row ([k, n]) leaves of the values ([n]), squared, and its slope.

    Infinity and 0 where a row is the same everywhere.
    """
    away = abscissae - abscissae.mean(axis=1, keepdims=True)
    rest = values - values.mean()
    spread = np.einsum("kn,kn->k", away, away)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(spread > 0, away @ rest / spread, 0.0)
    left = np.where(spread > 0, rest @ rest - slope**2 * spread, np.inf)
    return np.maximum(left, 0.0), slope


def _drawn(at: Floats, rest: Floats, days: Floats) -> tuple[Floats, Floats]:
    """Return how far slope and present level are off in each draw of blocks of a day ([rounds]).

    Around a robust line the least-squares line of what is drawn is enough. A line fitted to few
    blocks leaves too little of them; what it took is given back.
    """
    number = len(at)
    step = float(np.median(np.diff(at)))
    width = int(np.clip(round(DAY / max(step, 1e-9)), 1, max(number // 3, 1)))
    blocks = -(-number // width)
    chance = np.random.default_rng(0)
    first = chance.integers(0, number, (ROUNDS, blocks))
    places = (first[:, :, None] + np.arange(width)).reshape(ROUNDS, -1)[:, :number] % number
    taken = max(blocks / max(blocks - 2, 1), 1.0) if width > 1 else number / (number - 2)
    drawn = (rest - rest.mean())[places] * np.sqrt(taken) * UNKNOWN_BEND
    middle = days.mean()
    away = days - middle
    slopes = drawn @ away / (away @ away)
    return slopes, drawn.mean(axis=1) - slopes * middle
