"""A store that holds the last hours in memory: for streams that are judged and never written out.

It answers as the embedded store does, bit for bit, about what it still holds
(tests/benchmarks/test_last_hours.py); nothing survives it, and nothing is downsampled.
"""

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, SeriesTable, Window
from fabrichealth.store.entry import entry
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import gridded
from fabrichealth.store.news import Mark
from fabrichealth.store.numbering import Numbering
from fabrichealth.store.protocol import Latest, News
from fabrichealth.store.recent import Recent
from fabrichealth.store.runs import Runs

LEADING, OF_A_METRIC = 4, 6
"""Pieces of an entry before its metrics, and of each of them (`fabrichealth.store.entry`)."""


class LastHours:
    """Everything that was read in the last `seconds` before the newest reading."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._table = SeriesTable()
        self._numbering = Numbering(self._table)
        self._kept: dict[int, Recent] = {}
        self._entries: deque[tuple[int, float, dict[int, Runs]]] = deque()
        """Number, newest time stamp and readings by metric of each append still held."""
        self._number = 0
        self._newest = -inf
        self._oldest = inf

    @property
    def table(self) -> SeriesTable:
        """Names of series and clocks."""
        return self._table

    def append(self, batches: Sequence[Batch]) -> None:
        """Take batches; what has become too old is let go."""
        batches = [batch for batch in batches if len(batch)]
        if not batches:
            return
        self._numbering.learn()
        self._number += 1
        made = entry(self._number, batches, self._numbering.metric)
        self._oldest = min(self._oldest, made.times[0])
        self._newest = max(self._newest, made.times[1])
        since = self._newest - self.seconds
        parts: dict[int, Runs] = {}
        for place, (metric, _, _) in enumerate(made.parts):
            first = LEADING + OF_A_METRIC * place
            at, values, clock, count, series = made.pieces[first : first + OF_A_METRIC - 1]
            parts[metric] = Runs(clock, at, count, series, values)
            self._take(metric, parts[metric], since)
        self._entries.append((self._number, made.times[1], parts))
        while self._entries[0][1] <= since:
            self._entries.popleft()

    def _take(self, metric: int, runs: Runs, since: float) -> None:
        kept = self._kept.get(metric)
        if kept is None:
            self._kept[metric] = Recent.of(gridded(runs), -inf, inf, self.seconds, self._number, 0)
        else:
            kept.extend([runs], self._number, since)

    def _grid(self, metric: Metric) -> Grid:
        number = self._numbering.number(metric)
        kept = None if number is None else self._kept.get(number)
        return Grid.empty() if kept is None else kept.used()

    def refresh(self) -> None:
        """Nobody else writes."""

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        """Return all samples of a metric in (until - seconds, until], right-aligned in polls."""
        grid = self._grid(metric)
        if step:
            grid = grid.between(until - seconds, until).downsampled(step, metric.kind)
        return grid.window(metric, self._table, until, seconds)

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        """Return what of (until - seconds, until] is new since a mark, and the next mark."""
        if mark is None:
            ahead = self._since(metric, 0)
            _, after = Mark(self._number, until, 0).split(
                [late for runs in ahead if (late := runs.after(until)) is not None],
                self._number,
                until,
            )
            return News(self.window(metric, until, seconds), after)
        fresh, after = mark.split(self._since(metric, mark.entry), self._number, until)
        grid = Grid.empty() if fresh is None else gridded(fresh)
        return News(grid.window(metric, self._table, until, seconds), after)

    def _since(self, metric: Metric, entry_number: int) -> list[Runs]:
        number = self._numbering.number(metric)
        found: list[Runs] = []
        for numbered, _, parts in reversed(self._entries):
            if numbered <= entry_number:
                break
            if number in parts:
                found.append(parts[number])
        return found[::-1]

    def latest(self, metric: Metric, until: float, within: float) -> Latest:
        """Return the newest value of each series in (until - within, until]."""
        window = self.window(metric, until, within)
        return Latest(window.series, window.last, window.last_at)

    def one(self, series: int, start: float, end: float, step: float = 0) -> tuple[Floats, Floats]:
        """Return (at, values) of one series in (start, end], ascending."""
        window = self.window(self._table.metric(series), end, end - start, step)
        mine = window.select(window.series == series)
        known = np.isfinite(mine.values)
        return mine.times[known], mine.values[known]

    def span(self) -> tuple[float, float] | None:
        """Return the first time stamp that is held and the last, None if there is nothing."""
        if self._newest == -inf:
            return None
        return max(self._oldest, self._newest - self.seconds), self._newest

    def close(self) -> None:
        """There is nothing to let go of."""
