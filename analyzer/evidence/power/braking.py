"""Braking: accelerators of a rack that slow down in the very moment one of its feeds is lost.

A rack that must live on one feed may brake its machines at once (power brake): the partner then
takes over less than the load that is gone, or nothing beyond what it carried. So what carries on is
held against what braked machines still draw. Who was throttled before, or has nothing to do since,
does not brake.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.power.caps import for_power, of_rack
from analyzer.evidence.power.takeover import LATEST, STANDS_OUT
from fabrichealth.catalogue.accelerators import CLOCK, POWER, THROTTLED, UTILIZATION
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View, Window
from fabrichealth.model.quantiles import row_quantile

SLOWER = 0.1
"""By this share clocks fall that brake; throttled for so much more of the time is braked too."""

BUSY = 0.3
"""Accelerators used less than this are slow because they have nothing to do."""

SOON = 120.0
"""Seconds after the moment within which machines say that they brake, however feeds are polled."""

USUAL = 0.9
"""Quantile of the window before the moment: braking that comes and goes is no news."""


CARRIES_ON = 0.5
"""Of what it carried a partner carries on beside a feed whose meter lives and says it is empty."""

NO_LESS = 0.98
"""Of what it carried where nobody knows what braked machines draw, and the feed says nothing."""


STARTED = 1.2
"""So many times their power accelerators draw at least that began to work."""


@dataclass(frozen=True)
class Braked:
    """What the accelerators of a rack did at a moment."""

    many: int
    """Accelerators that brake since."""
    heard: int
    """Accelerators that say whether they do."""
    drawn: float
    """Watts since over watts before, by their power; NaN where that is not read."""
    draw: float
    """Watts since over watts before, by their power, else by their clocks; NaN where neither is
    read."""

    @property
    def most(self) -> bool:
        """Whether most of them brake."""
        return 2 * self.many > self.heard

    def began(self, carried: float, former: float, gained: float, share: float) -> bool:
        """Return whether a job that began explains what partners of a silent meter carry more."""
        if not self.drawn > STARTED:
            return False
        return gained - (self.drawn - 1.0) * former < share * self.drawn * carried

    def took(
        self, carried: float, former: float, gained: float, usually: float, share: float, *,
        silent: bool,
    ) -> bool:  # fmt: skip
        """Return whether partners took over from a feed what its rack still draws.

        Amperes: what the feed carried, what the partners did, by how much more they do since, and
        by how much they rise now and then. `share` of the load must have gone over to them;
        `silent` is a feed whose meter says nothing any more.
        """
        if not self.most or not np.isfinite(gained):
            return False
        if not silent:  # machines brake in the moment in which the meter says that it is gone
            return gained >= (CARRIES_ON - 1.0) * former
        if not np.isfinite(self.draw):
            return gained >= (NO_LESS - 1.0) * former
        beyond = gained + (1.0 - self.draw) * former
        return beyond >= max(share * self.draw * carried, STANDS_OUT * usually)


def braked(view: View, rack: str, moment: float, period: float) -> Braked:
    """Return what a rack's accelerators did at a moment, or within the period before it.

    Unix seconds and seconds.
    """
    throttled, clocks = view[THROTTLED], view[CLOCK]
    reasons = throttled.select(for_power(throttled, of_rack(view, THROTTLED, rack)))
    before, since = _levels(reasons, moment, period, USUAL)
    with np.errstate(invalid="ignore"):
        more = since - before >= SLOWER
    brakes, heard = _devices(reasons, more), _devices(reasons, np.isfinite(since - before))
    mine = clocks.select(of_rack(view, CLOCK, rack))
    before, since = _levels(mine, moment, period, 1.0 - USUAL)
    works = _works(view, rack)
    working = np.array([name in works for name in _names(mine)], np.bool_)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        left = since / before
    slow = working & (left <= 1.0 - SLOWER)
    brakes |= _devices(mine, slow)
    heard |= _devices(mine, working & np.isfinite(left))
    clock = float(np.median(left[slow])) if slow.any() else float("nan")
    drawn = _share(view, POWER, rack, moment, period)
    return Braked(len(brakes), len(heard), drawn, drawn if np.isfinite(drawn) else clock)


def _levels(window: Window, moment: float, period: float, usual: float) -> tuple[Floats, Floats]:
    """Return a quantile of what rows said before a moment, and their median soon after ([s])."""
    if not window.values.size:
        return np.full(len(window), np.nan), np.full(len(window), np.nan)
    soon = max(2 * LATEST * period / 2, SOON)
    with np.errstate(invalid="ignore"):
        early = np.where(window.times <= moment - period, window.values, np.nan)
        later = (window.times >= moment) & (window.times <= moment + soon)
    after = np.where(later, window.values, np.nan)
    return row_quantile(early, usual), row_quantile(after, 0.5)


def _share(view: View, metric: Metric, rack: str, moment: float, period: float) -> float:
    """Return the sum of what a rack's devices say after a moment over that before it."""
    window = view[metric]
    before, since = _levels(window.select(of_rack(view, metric, rack)), moment, period, 0.5)
    both = np.isfinite(before) & np.isfinite(since)
    total = float(before[both].sum())
    return float(since[both].sum()) / total if total > 0 else float("nan")


def _works(view: View, rack: str) -> set[str]:
    """Return the accelerators that say that they are busy."""
    window = view[UTILIZATION]
    rows = of_rack(view, UTILIZATION, rack)
    return {window.labels(int(row))[0] for row in rows if window.last[row] >= BUSY}


def _names(window: Window) -> list[str]:
    return [window.labels(row)[0] for row in range(len(window))]


def _devices(window: Window, rows: Bools) -> set[str]:
    return {name for name, mine in zip(_names(window), rows.tolist(), strict=True) if mine}
