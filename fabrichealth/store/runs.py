"""Runs: readings of one metric in the order in which they were appended."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats, Ids


@dataclass(frozen=True)
class Runs:
    """Readings of one metric as they were appended, oldest first.

    Run b is `count[b]` neighbouring samples of `series[n]` and `values[n]`, read by `clock[b]`
    at `at[b]` (unix seconds).
    """

    clock: Ids
    at: Floats
    count: Ids
    series: Ids
    values: Floats

    @classmethod
    def joined(cls, parts: Sequence["Runs"]) -> "Runs":
        """Return several as one, in order."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("clock", "at", "count", "series", "values")
            )
        )

    def after(self, moment: float) -> "Runs | None":
        """Return the samples read later than a moment, None if there are none."""
        late = self.at > moment
        return self.within(np.repeat(late, self.count)) if late.any() else None

    def within(self, keep: NDArray[np.bool_]) -> "Runs":
        """Return the samples that `keep[n]` says, without runs that have none left."""
        run = np.repeat(np.arange(len(self.count)), self.count)[keep]
        count = np.bincount(run, minlength=len(self.count))
        some = count > 0
        return Runs(
            self.clock[some],
            self.at[some],
            count[some].astype(np.int32),
            self.series[keep],
            self.values[keep],
        )
