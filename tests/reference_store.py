"""A store without a file: slow, plainly right, for views made by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, SeriesTable, Window, aligned
from fabrichealth.store.protocol import Latest, News


class ReferenceStore:
    """Keeps every batch and answers by `aligned`."""

    def __init__(self) -> None:
        self._table = SeriesTable()
        self._batches: list[Batch] = []

    @property
    def table(self) -> SeriesTable:
        return self._table

    def append(self, batches: Sequence[Batch]) -> None:
        self._batches.extend(batches)

    def refresh(self) -> None:
        """Nobody else writes."""

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        start = until - seconds
        samples = [
            (b.clock, b.at, b.series, b.values) for b in self._batches if start < b.at <= until
        ]
        return aligned(metric, self._table, samples, until, seconds)

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        return News(self.window(metric, until, seconds), None)

    def latest(self, metric: Metric, until: float, within: float) -> Latest:
        window = self.window(metric, until, within)
        return Latest(window.series, window.last, window.last_at)

    def one(self, series: int, start: float, end: float, step: float = 0) -> tuple[Floats, Floats]:
        found = sorted(
            (b.at, float(value))
            for b in self._batches
            for value in b.values[b.series == series]
            if start < b.at <= end
        )
        columns = np.array(found, np.float64).reshape(-1, 2)
        return columns[:, 0], columns[:, 1]

    def span(self) -> tuple[float, float] | None:
        times = [batch.at for batch in self._batches]
        return (min(times), max(times)) if times else None

    def close(self) -> None:
        """There is nothing to let go of."""
