"""News: what of a metric is new to one who has read it before.

A judge remembers, and asks at each pass for the rest only. What has been appended since stands
at the end of the log; what was appended earlier but lay ahead of its clock (a device whose clock
runs fast) is kept beside the mark until its time has come.
"""

from dataclasses import dataclass, replace

import numpy as np

from fabrichealth.store.runs import Runs


@dataclass(frozen=True)
class Mark:
    """How far one reader has read one metric."""

    entry: int
    """Newest entry of the log that it knows."""
    until: float
    """Moment up to which it knows what was read (unix seconds)."""
    imported: int
    """How many imports of the metric there had been."""
    ahead: Runs | None = None
    """Readings of entries that it knows, later than `until`."""

    def split(self, runs: list[Runs], last: int, until: float) -> tuple[Runs | None, "Mark"]:
        """Return what of new readings was read by `until`, and how far that reaches."""
        known = [*runs] if self.ahead is None else [self.ahead, *runs]
        mark = replace(self, entry=last, until=until, ahead=None)
        if not known:
            return None, mark
        joined = known[0] if len(known) == 1 else Runs.joined(known)
        due = joined.at <= until
        if due.all():
            return joined, mark
        sample = np.repeat(due, joined.count)
        ahead = joined.within(~sample)
        return (joined.within(sample) if due.any() else None), replace(mark, ahead=ahead)
