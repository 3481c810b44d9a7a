"""Columns: the series and values of one poll while it is being filled.

Several replies may tell the same thing (the driver's own count and the kernel's): the first that
was taken wins, so a caller takes the better witness first.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

import numpy as np

from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import (
    Batch,
    Floats,
    Ids,
    Labels,
    Neighbor,
    Poll,
    Reason,
    Refused,
    SeriesTable,
)

Reading = tuple[Metric, Labels, float]
"""A metric, the values of its labels after device and port, and a value in its unit."""


class Columns:
    """Readings and refusals of one poll."""

    def __init__(self, table: SeriesTable) -> None:
        self.refused: list[Refused] = []
        self.missing: list[str] = []
        self.events: list[Event] = []
        self._table = table
        self._series: list[int] = []
        self._values: list[float] = []
        self._arrays: list[tuple[Ids, Floats]] = []
        self._withheld: list[Ids] = []

    def take(self, metric: Metric, labels: Labels, value: float) -> None:
        """Take one reading; what is not finite was not read."""
        if isfinite(value):
            self.put(self._table.intern(metric, labels), value)

    def take_all(self, device: str, port: str, readings: Iterable[Reading]) -> None:
        """Take readings of one port."""
        for metric, more, value in readings:
            self.take(metric, (device, port, *more), value)

    def put(self, series: int, value: float) -> None:
        """Take one reading of a series known by number."""
        self._series.append(series)
        self._values.append(value)

    def put_all(self, series: Ids, values: Floats) -> None:
        """Take readings [n] of series known by number; all are finite."""
        if self._series:
            self._flush()
        self._arrays.append((series, values))

    def withhold(self, series: Ids) -> None:
        """Leave these series without a value in this poll, whoever has one: a gap."""
        self._withheld.append(series)

    def refuse(
        self, reason: Reason, what: str, labels: Mapping[str, str], raw: object = None
    ) -> None:
        """Count one reading that was not taken."""
        self.refused.append(Refused(reason, what, labels, raw))

    def poll(self, clock: int, at: float, neighbors: Sequence[Neighbor] = ()) -> Poll:
        """Return what was gathered as one poll, each neighbour once."""
        self._flush()
        series = np.concatenate([np.empty(0, np.int32), *(ids for ids, _ in self._arrays)])
        values = np.concatenate([np.empty(0), *(floats for _, floats in self._arrays)])
        distinct, where = np.unique(series, return_index=True)  # the first of equal series
        values = values[where]
        if self._withheld:
            kept = ~np.isin(distinct, np.concatenate(self._withheld))
            distinct, values = distinct[kept], values[kept]
        batches = [Batch(clock, at, distinct, values)] if len(distinct) else []
        once = list(dict.fromkeys(neighbors))
        return Poll(batches, self.refused, once, self.events, self.missing)

    def _flush(self) -> None:
        self._arrays.append((np.array(self._series, np.int32), np.array(self._values, np.float64)))
        self._series, self._values = [], []
