"""Numbering: of each series, the number of its metric and its rank within it, as columns."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable

Number = TypeVar("Number", np.uint16, np.int32)


class Numbering:
    """What a table knows, in arrays over series; `learn` follows the table as it grows."""

    def __init__(self, table: SeriesTable) -> None:
        self._table = table
        self._metric: NDArray[np.uint16] = np.empty(0, np.uint16)
        self._rank: NDArray[np.int32] = np.empty(0, np.int32)
        self._many = 0
        self._numbers: dict[Metric, int] = {}
        self._counts: dict[Metric, int] = {}
        self.learn()

    @property
    def metric(self) -> NDArray[np.uint16]:
        """Number of each series' metric ([n]): 1 for the table's first metric, and so on."""
        return self._metric[: self._many]

    @property
    def rank(self) -> NDArray[np.int32]:
        """The how-manieth of its metric each series is ([n]), from 0."""
        return self._rank[: self._many]

    def learn(self) -> None:
        """Take up series that the table has gained.

        Others may go on adding to it meanwhile; what came after the beginning is left for the next
        time.
        """
        last = len(self._table)
        if last > len(self._metric):
            self._metric = _grown(self._metric, 2 * last)
            self._rank = _grown(self._rank, 2 * last)
        for metric in self._table.metrics():
            number = self._numbers.setdefault(metric, len(self._numbers) + 1)
            known, series = self._counts.get(metric, 0), self._table.of(metric)
            series = series[: int(np.searchsorted(series, last))]
            if len(series) > known:
                self._metric[series[known:]] = number
                self._rank[series[known:]] = np.arange(known, len(series))
                self._counts[metric] = len(series)
        self._many = last

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Metrics that have series, by number."""
        return tuple(self._numbers)

    def number(self, metric: Metric) -> int | None:
        """Return the number of a metric, or None if it has no series."""
        return self._numbers.get(metric)


def _grown(column: NDArray[Number], room: int) -> NDArray[Number]:
    grown = np.zeros(room, column.dtype)
    grown[: len(column)] = column
    return grown
