"""Phases: which of them a feed uses, and which it used and that carry nothing now.

A phase that is wired and never carried anything is left out by design: two of three phases, or one,
are no imbalance. One that carried load, over as long a past as is known, and carries nothing while
the others do has lost its fuse, its contact, or all that hung on it.
"""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import Bools, last_polls, unbroken
from analyzer.evidence.power.feeds import Feeds
from analyzer.evidence.power.heat import borne_out
from fabrichealth.model import Floats, Past

POLLS = 2
"""So many polls must say that nothing flows."""

LEAST = 0.2
"""Amperes that meters say of a phase on which nothing hangs."""


@dataclass(frozen=True, eq=False)
class Use:
    """What the currents of a pass say of their phases, [s] as rows of `Feeds.current`."""

    used: Bools
    """It carries something, or did."""
    lost: Bools
    """It carried something, and carries nothing now."""
    since: Floats
    """Since when it carries nothing without a break, unix seconds; NaN where it does."""
    carried: Floats
    """What it carried while it carried something, amperes, the most of any time; NaN: nothing."""


def use(found: Feeds, past: Past, unused: float) -> Use:
    """Return what each phase is used for; below `unused` of its breaker a current is none."""
    current = found.current
    least = np.fmax(unused * np.nan_to_num(found.breaker[found.feed_of]), LEAST)
    now = borne_out(current.values)  # one wild reading uses no phase
    low = current.values <= least[:, None]
    earlier = np.full((len(current), past.values.shape[1]), np.nan)
    if len(past) and len(current):
        place = np.minimum(np.searchsorted(past.series, current.series), len(past) - 1)
        known = past.series[place] == current.series
        earlier[known] = past.values[place[known]]
    every = np.concatenate([now, earlier], axis=1)
    carried = np.fmax.reduce(
        np.where(every > least[:, None], every, np.nan), axis=1, initial=np.nan
    )
    used = np.isfinite(carried)
    since, _ = unbroken(low, current)
    lost = used & last_polls(low, current, POLLS) & found.heard
    return Use(used, lost, since, carried)
