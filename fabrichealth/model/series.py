"""SeriesTable: every series (metric, labels) and every clock is a small integer.

Columns speak of series by number; the table, handed in and never global, gives names back. A
poll of a target already known looks up one cached array and builds no label string.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Metric

Floats = NDArray[np.float64]
Ids = NDArray[np.int32]
Labels = tuple[str, ...]


class _Numbered(dict[str, int]):
    """Words by number, from 0 as they are first asked for."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class SeriesTable:
    """Numbers series and clocks, densely from 0, in the order of their first appearance."""

    def __init__(self) -> None:
        self._ids: dict[tuple[Metric, Labels], int] = {}
        self._metrics: list[Metric] = []
        self._labels: list[Labels] = []
        self._of: dict[Metric, list[int]] = {}
        self._arrays: dict[Metric, Ids] = {}
        self._clocks: dict[tuple[str, str], int] = {}
        self._targets: list[tuple[str, str]] = []
        self._words = _Numbered()
        self._codes: dict[Metric, NDArray[np.int32]] = {}

    def __len__(self) -> int:
        return len(self._labels)

    def intern(self, metric: Metric, labels: Labels) -> int:
        """Return the number of a series, new or known.

        Raises:
            ValueError: as many label values as the metric has labels are needed.
        """
        key = (metric, labels)
        found = self._ids.get(key)
        if found is not None:
            return found
        if len(labels) != len(metric.labels):
            raise ValueError(f"{metric}: labels {metric.labels} do not fit the values {labels}")
        number = self._ids[key] = len(self._labels)
        self._metrics.append(metric)
        self._labels.append(labels)
        self._of.setdefault(metric, []).append(number)
        return number

    def intern_all(self, wanted: Iterable[tuple[Metric, Labels]]) -> Ids:
        """Return the numbers of many series."""
        return np.array([self.intern(metric, labels) for metric, labels in wanted], np.int32)

    def find(self, metric: Metric, labels: Labels) -> int | None:
        """Return the number of a series, or None if it never appeared."""
        return self._ids.get((metric, labels))

    def place(self, series: Ids, metric: Metric, labels: Labels) -> int | None:
        """Return where a series stands among ascending ones, or None if it is not among them."""
        number = self.find(metric, labels)
        if number is None:
            return None
        place = int(np.searchsorted(series, number))
        return place if place < len(series) and series[place] == number else None

    def metric(self, series: int) -> Metric:
        """Return the metric of a series."""
        return self._metrics[series]

    def labels(self, series: int) -> Labels:
        """Return the label values of a series, in the order of its metric's labels."""
        return self._labels[series]

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics that have series."""
        return tuple(self._of)

    def of(self, metric: Metric) -> Ids:
        """Return the numbers of all series of a metric, ascending (int32 [n])."""
        numbers = self._of.get(metric, [])
        cached = self._arrays.get(metric)
        if cached is None or len(cached) != len(numbers):
            cached = self._arrays[metric] = np.array(numbers, np.int32)
        return cached

    def codes(self, series: Ids, metric: Metric, names: Sequence[str]) -> NDArray[np.int64]:
        """Return one integer per series, equal where the named labels are equal ([n]).

        Raises:
            ValueError: the metric has no such label.
        """
        unknown = set(names) - set(metric.labels)
        if unknown:
            raise ValueError(f"{metric}: has no label {', '.join(sorted(unknown))}")
        columns = [metric.labels.index(name) for name in names]
        table = self._coded(metric)[np.searchsorted(self.of(metric), series)]
        codes = np.zeros(len(series), np.int64)
        for column in columns:
            _, dense = np.unique(table[:, column], return_inverse=True)
            codes = codes * (int(dense.max(initial=0)) + 1) + dense
        return codes

    def words(self, metric: Metric) -> NDArray[np.int32]:
        """Return the label values of all series of a metric as integers ([n, label]).

        The same word has the same integer in every metric of this table.
        """
        return self._coded(metric)

    def _coded(self, metric: Metric) -> NDArray[np.int32]:
        """Return label words as integers, [series of the metric, label]."""
        known = self._codes.get(metric, np.empty((0, len(metric.labels)), np.int32))
        fresh = self._of.get(metric, [])[len(known) :]
        if fresh:
            words = chain.from_iterable(map(self._labels.__getitem__, fresh))
            coded = np.fromiter(map(self._words.__getitem__, words), np.int32)
            known = np.concatenate([known, coded.reshape(len(fresh), len(metric.labels))])
            self._codes[metric] = known
        return known

    def clock(self, source: str, target: str) -> int:
        """Return the number of a target's clock: what polls it, and its name."""
        key = (source, target)
        found = self._clocks.get(key)
        if found is None:
            found = self._clocks[key] = len(self._targets)
            self._targets.append(key)
        return found

    def clocks(self) -> list[tuple[str, str]]:
        """Return (source, target) of every clock, by number."""
        return list(self._targets)
