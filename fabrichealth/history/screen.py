"""Screen: which samples of a history can be believed, as the intake asks of a live poll.

A value outside what an instrument can possibly say (`Metric.valid`) and a time stamp that no
recorder of ours can have written are refused, counted, and said once: a file with a million of
them gives one line a metric. An odd time stamp that is possible (a year ahead) is history.
"""

from collections import Counter

import numpy as np

from fabrichealth.history.report import HistoryReport
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Reason
from fabrichealth.units import DARK_DBM, Unit

EARLIEST = 0.0
"""1970-01-01 UTC; a history may count from any moment, but no time is negative."""
LATEST = 4_102_444_800.0
"""2100-01-01 UTC: after it lie micro- and nanoseconds read as milliseconds."""


class Screen:
    """Keeps what can be believed, file by file."""

    def __init__(self, report: HistoryReport) -> None:
        self._report = report
        self._outside: Counter[Metric] = Counter()
        self._no_numbers: Counter[Metric] = Counter()
        self._undated = 0

    def believed(self, metric: Metric, at: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Return the samples (unix seconds, values in the metric's unit) that are possible.

        Light below the floor is dark, a value and not a fault (catalogue: stored as -40 dBm).
        """
        if len(at) and not (at.min() >= EARLIEST and at.max() < LATEST):  # NaN is neither
            dated = (at >= EARLIEST) & (at < LATEST)
            self._undated += len(at) - int(np.count_nonzero(dated))
            at, values = at[dated], values[dated]
        low, high = metric.valid
        if len(at) and not (values.min() >= low and values.max() <= high):
            if metric.unit is Unit.DBM:
                values = np.maximum(values, DARK_DBM)
            possible = (values >= low) & (values <= high)
            self._outside[metric] += len(at) - int(np.count_nonzero(possible))
            at, values = at[possible], values[possible]
        return at, values

    def no_numbers(self, metric: Metric, many: int) -> None:
        """Count values that are no finite number; the reader of the line left them out."""
        if many:
            self._no_numbers[metric] += many

    def conclude(self, file: str) -> None:
        """Report what of a file was refused, and begin anew."""
        report = self._report
        for metric, many in (+self._outside).items():
            low, high = metric.valid
            report.sum_up(f"{file}: {metric}: {_values(many)} outside {low:g} .. {high:g} refused")
        for metric, many in self._no_numbers.items():
            report.sum_up(f"{file}: {metric}: {_values(many)} refused, not a finite number")
        if self._undated:
            report.sum_up(
                f"{file}: {_values(self._undated)} with a time stamp outside 1970 .. 2100 refused; "
                "JSON lines have milliseconds, text has seconds"
            )
        implausible = self._outside.total() + self._undated
        report.refused += Counter(
            {Reason.IMPLAUSIBLE: implausible, Reason.MALFORMED: self._no_numbers.total()}
        )
        self._outside.clear()
        self._no_numbers.clear()
        self._undated = 0


def _values(many: int) -> str:
    return "1 value" if many == 1 else f"{many} values"
