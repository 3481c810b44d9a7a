"""Sparklines: a series over time in one line of characters.

Gauges are drawn by their means, counters by how much they grew; where nothing was read nothing is
drawn, for absent is not zero.
"""

import sys
from typing import NamedTuple

import numpy as np

from fabrichealth.counters import increases
from fabrichealth.model import Floats

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = ".:-=+*#@"
"""Eight levels, for terminals that show blocks and for those that do not."""


class Spark(NamedTuple):
    """A drawn series: as many characters as asked for, and the least and most that they stand for.

    Both are NaN where nothing was read.
    """

    drawn: str
    low: float
    high: float


def levels() -> str:
    """Return the characters that standard output can show."""
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return BLOCKS


def sparkline(
    at: Floats,
    values: Floats,
    span: tuple[float, float],
    width: int,
    *,
    counter: bool = False,
    shades: str = BLOCKS,
) -> Spark:
    """Draw `values[n]` read at `at[n]` (unix seconds) over `span`, in `width` characters.

    Of a counter each character is how much it grew in its part of the span; `low` and `high` are
    then those amounts.
    """
    start, end = span
    if counter:
        values = increases(values[None, :], at[None, :]).amount[0] if len(values) else values
    good = np.isfinite(values) & (at > start) & (at <= end)
    if not good.any() or width < 1 or end <= start:
        return Spark(" " * max(width, 0), float("nan"), float("nan"))
    place = np.ceil((at[good] - start) / (end - start) * width).astype(int).clip(1, width) - 1
    number = np.bincount(place, minlength=width)
    shown = np.zeros(width)
    np.add.at(shown, place, values[good])
    known = number > 0
    if not counter:
        shown = shown / np.maximum(number, 1)
    low, high = float(shown[known].min()), float(shown[known].max())
    ground = min(low, 0.0) if counter else low
    top = high - ground
    steps = np.zeros(width, int)
    if top > 0:
        share = np.nan_to_num((shown[known] - ground) / top).clip(0.0, 1.0)
        steps[known] = np.rint(share * (len(shades) - 1)).astype(int)
    elif high > 0:
        steps[known] = (len(shades) - 1) // 2
    drawn = "".join(
        shades[step] if there else " " for step, there in zip(steps, known, strict=True)
    )
    return Spark(drawn, low, high)
