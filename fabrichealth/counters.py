"""Counter arithmetic, in one place for collectors and analyzer.

A counter that fell did one of three things (docs/methods.md): it wrapped, provably, at a width
that it is known to have; it was reset; or nobody can tell, and the interval is dropped.
InfiniBand's classic error counters saturate instead: at their maximum they say "at least".

`Repair` works on the integers, before anything becomes a float; `increases` works on stored
values, which are monotone but for resets.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEAR_TOP = 0.9
"""A wrap is believed only from the last tenth of the range (docs/methods.md)."""

SLACK = 1.2
"""A wrap's step may exceed what the line can carry by this much: polls jitter."""


NARROW_FOR_GOOD = 3
"""A counter that comes so often in a row with fewer bits than before has lost them for good."""


@dataclass(slots=True)
class Repair:
    """Undoes provable wraps of counters of known width, per series; offsets can be kept.

    `offsets` holds per series what wraps have added so far, `raw` the last integer read and
    `at` when. All three survive a restart if the caller saves and restores them.
    """

    offsets: dict[int, int] = field(default_factory=dict)
    raw: dict[int, int] = field(default_factory=dict)
    at: dict[int, float] = field(default_factory=dict)
    wraps: int = 0
    resets: int = 0
    _width: dict[int, int] = field(default_factory=dict)
    _narrower: dict[int, int] = field(default_factory=dict)

    def continues(self, series: int, bits: int) -> bool:
        """Return whether a reading of so many bits continues a series.

        An agent that leaves out its 64-bit table for a poll answers with the 32-bit one: that
        value is another counter's, and is to be refused. One that stays narrow has changed.
        """
        known = self._width.get(series, bits)
        narrow = self._narrower.pop(series, 0) + 1
        if bits < known and narrow < NARROW_FOR_GOOD:
            self._narrower[series] = narrow
            return False
        if bits < known:
            self.raw.pop(series, None)
            self.offsets.pop(series, None)
        self._width[series] = bits
        return True

    def monotone(
        self, series: int, value: int, at: float, *, bits: int, most_per_second: float
    ) -> int:
        """Return the value with wraps undone; a reset falls to the device's own value.

        A wrap is proven if the counter stood in the last tenth of its range and the step
        across the end is one that `most_per_second` can make in the time since.
        """
        before, then = self.raw.get(series), self.at.get(series)
        self.raw[series], self.at[series] = value, at
        if before is not None and then is not None and value < before:
            top = 1 << bits
            step = value - before + top
            if before > NEAR_TOP * top and 0 < step <= most_per_second * (at - then) * SLACK:
                self.offsets[series] = self.offsets.get(series, 0) + top
                self.wraps += 1
            else:
                self.offsets.pop(series, None)
                self.resets += 1
        return value + self.offsets.get(series, 0)


def saturated(value: int, bits: int) -> bool:
    """Return whether a saturating counter stands at its maximum: it says "at least" only."""
    return value >= (1 << bits) - 1


@dataclass(frozen=True, slots=True)
class Increases:
    """Increase between neighbouring polls of a counter, [s, k]; column 0 has none.

    `amount` is NaN where nothing can be said; `seconds` the time that each covers; `reset`
    marks those where the counter restarted, whose amount is what it shows since.
    """

    amount: Floats
    seconds: Floats
    reset: NDArray[np.bool_]

    def total(self) -> Floats:
        """Return the increase over the whole window ([s]); NaN where no interval is known."""
        known = np.isfinite(self.amount)
        total: Floats = np.where(known.any(axis=1), np.nansum(self.amount, axis=1), np.nan)
        return total

    def exposure(self) -> Floats:
        """Return the seconds that `total` covers ([s])."""
        exposure: Floats = np.where(np.isfinite(self.amount), self.seconds, 0.0).sum(axis=1)
        return exposure

    def rate(self) -> Floats:
        """Return increase per second, [s, k]; NaN over a reset, as it is not known since when."""
        with np.errstate(divide="ignore", invalid="ignore"):
            known = (self.seconds > 0) & ~self.reset
            return np.where(known, self.amount / self.seconds, np.nan)


def increases(values: Floats, times: Floats, most_per_second: float = np.inf) -> Increases:
    """Return the increases of counters `values[s, k]` read at `times[s, k]` (unix seconds).

    Gaps are bridged (the interval is as long as it was), never interpolated. A fall that would
    be a 32-bit wrap is undone, since old recorders left wraps in; any other is a reset, whose
    amount is the new value. Steps faster than `most_per_second` are dropped as data errors.
    """
    before, seconds, amount = _steps(values, times)
    fell = amount < 0
    top = float(1 << 32)
    wrapped = fell & (before > NEAR_TOP * top) & (before < top)
    with np.errstate(invalid="ignore"):  # any rate in no time is not a number
        most = most_per_second * seconds * SLACK
    wrapped &= amount + top <= np.minimum(most, 0.2 * top)
    reset = fell & ~wrapped
    amount = np.where(wrapped, amount + top, np.where(reset, values, amount))
    with np.errstate(invalid="ignore"):
        wild = amount > most
        amount = np.where(wild | (seconds <= 0), np.nan, amount)
    return Increases(amount, np.where(np.isfinite(amount), seconds, np.nan), reset)


def _steps(values: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the value before each, the seconds since, and the difference; NaN where unknown."""
    finite = np.isfinite(values)
    if finite.all():  # nearly always: what is before is the column before
        before, earlier = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
        before[:, 1:], earlier[:, 1:] = values[:, :-1], times[:, :-1]
        return before, times - earlier, values - before
    index = np.where(finite, np.arange(values.shape[1]), -1)
    previous = np.full(values.shape, -1)
    if values.shape[1] > 1:
        previous[:, 1:] = np.maximum.accumulate(index, axis=1)[:, :-1]
    known = finite & (previous >= 0)
    safe = np.maximum(previous, 0)
    before = np.take_along_axis(values, safe, axis=1)
    seconds = np.where(known, times - np.take_along_axis(times, safe, axis=1), np.nan)
    return before, seconds, np.where(known, values - before, np.nan)
