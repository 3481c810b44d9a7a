"""Survival: how long something lasts, when some of it still does (Kaplan and Meier 1958).

Leaving out what is not over yet makes repairs look short; counting it as over does as well. An
entry that goes on was at risk until now and no longer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabrichealth.model import Floats


@dataclass(frozen=True, eq=False)
class Survival:
    """Share that lasts longer than each time at which something ended; times ascend."""

    times: Floats
    share: Floats
    number: int
    """How many entries there are, those that go on included."""
    ended: int

    def quantile(self, share: float) -> float | None:
        """Return the time by which so large a share has ended; None if that was never seen.

        With half of the entries still going on nobody knows a median, and none is made up.
        """
        over = np.flatnonzero(1.0 - self.share >= share - 1e-12)
        return float(self.times[over[0]]) if len(over) else None


def kaplan_meier(lasted: Sequence[float], over: Sequence[bool]) -> Survival:
    """Return the estimate; entry i lasted `lasted[i]` seconds so far, and is `over[i]` or not.

    One that goes on at the very time at which another ends was at risk then.
    """
    seconds, done = np.asarray(lasted, np.float64), np.asarray(over, bool)
    times, ends = np.unique(seconds[done], return_counts=True)
    at_risk = len(seconds) - np.searchsorted(np.sort(seconds), times, side="left")
    share = np.cumprod(1.0 - ends / np.maximum(at_risk, 1)).astype(np.float64)
    return Survival(times, share, len(seconds), int(done.sum()))
