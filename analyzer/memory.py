"""Memory: the changes of slow metrics, kept from pass to pass.

A pass reads only what is new; after a restart the past is read again from the store, so memory
is derived and never saved. Samples that come late are taken as long as nothing newer of their
series was seen.
"""

from dataclasses import dataclass, field

import numpy as np

from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats, SeriesTable, Window
from fabrichealth.store.protocol import Store

GAP_PERIODS = 5.0
"""A step longer than so many of the series' own periods is a gap: nobody watched."""

SHORTEST_GAP = 60.0
"""No step shorter than this is a gap, whatever the period."""

OVERLAP = 120.0
"""Read so far back again at each pass: exporters' own time stamps come late."""

BLOCK = 3600.0
"""The past is read in blocks of this length after a start, so that memory stays bounded."""


@dataclass
class _Column:
    """A float column that grows at its end."""

    values: Floats = field(default_factory=lambda: np.empty(0))

    def fit(self, length: int) -> Floats:
        if len(self.values) < length:
            grown = np.full(length, np.nan)
            grown[: len(self.values)] = self.values
            self.values = grown
        return self.values


@dataclass
class _Past:
    """What is remembered of one metric; rows are places in `table.of(metric)`."""

    until: float = float("-inf")
    seen_at: _Column = field(default_factory=_Column)
    value: _Column = field(default_factory=_Column)
    first_at: _Column = field(default_factory=_Column)
    period: _Column = field(default_factory=_Column)
    entries: Floats = field(default_factory=lambda: np.empty((0, 5)))
    """row, at, step, before, after; ascending in time."""
    gaps: Floats = field(default_factory=lambda: np.empty((0, 3)))
    """row, start, end."""


class Memory:
    """Changes of the metrics asked for, each over its own span."""

    def __init__(self, store: Store, spans: dict[Metric, float]) -> None:
        self._store = store
        self._spans = spans
        self._pasts = {metric: _Past() for metric in spans}

    def advance(self, now: float) -> None:
        """Take in everything up to `now`."""
        held = self._store.span()
        for metric, span in self._spans.items():
            past = self._pasts[metric]
            if held is None:
                continue
            start = max(past.until - OVERLAP, now - span, held[0] - 1.0)
            while start < now:
                end = min(start + BLOCK, now)
                self._take(past, self._store.window(metric, end, end - start))
                start = end
            past.until = now
            past.entries = past.entries[past.entries[:, 1] > now - span]
            past.gaps = past.gaps[past.gaps[:, 2] > now - span]

    def changes(self, metric: Metric, until: float, seconds: float) -> Changes:
        """Return the changes of a metric in (until - seconds, until]."""
        past, table = self._pasts[metric], self._store.table
        start = until - seconds
        numbers = table.of(metric)[: len(past.seen_at.values)]
        with np.errstate(invalid="ignore"):
            known = np.flatnonzero(past.seen_at.values > start)
        place = np.full(len(numbers) + 1, -1)
        place[known] = np.arange(len(known))
        entries = past.entries
        inside = (entries[:, 1] > start) & (entries[:, 1] <= until)
        entries = entries[inside & (place[entries[:, 0].astype(np.intp)] >= 0)]
        seen_at = past.seen_at.values[known]
        watched = seen_at - np.maximum(past.first_at.values[known], start)
        gaps = past.gaps[past.gaps[:, 2] > start]
        rows = place[gaps[:, 0].astype(np.intp)]
        lost = np.maximum(gaps[:, 2] - np.maximum(gaps[:, 1], start), 0.0)
        np.subtract.at(watched, rows[rows >= 0], lost[rows >= 0])
        return Changes(
            metric,
            table,
            until,
            seconds,
            numbers[entries[:, 0].astype(np.intp)],
            entries[:, 1],
            entries[:, 2],
            entries[:, 3],
            entries[:, 4],
            numbers[known],
            np.maximum(watched, 0.0),
            seen_at,
            past.value.values[known],
        )

    def _take(self, past: _Past, window: Window) -> None:
        if not len(window):
            return
        table: SeriesTable = window.table
        numbers = table.of(window.metric)
        rows = np.searchsorted(numbers, window.series)
        seen_at, value = past.seen_at.fit(len(numbers)), past.value.fit(len(numbers))
        first_at, period = past.first_at.fit(len(numbers)), past.period.fit(len(numbers))
        with np.errstate(invalid="ignore"):
            old = window.times <= seen_at[rows][:, None]
        times = np.where(old, np.nan, window.times)
        times = np.concatenate([seen_at[rows][:, None], times], axis=1)
        values = np.concatenate([value[rows][:, None], window.values], axis=1)
        values = np.where(np.isfinite(times), values, np.nan)
        finite = np.isfinite(values)
        index = np.where(finite, np.arange(values.shape[1]), -1)
        before = np.full(values.shape, -1)
        before[:, 1:] = np.maximum.accumulate(index, axis=1)[:, :-1]
        own = np.where(np.isfinite(window.period), window.period, period[rows])
        period[rows] = own
        s, k = np.nonzero(finite & (before >= 0))
        p = before[s, k]
        step = times[s, k] - times[s, p]
        moved = values[s, k] != values[s, p]
        fresh = np.column_stack(
            [rows[s], times[s, k], step, values[s, p], values[s, k]]
        )[moved]  # fmt: skip
        if len(fresh):
            joined = np.concatenate([past.entries, fresh])
            past.entries = joined[np.argsort(joined[:, 1], kind="stable")]
        limit = np.fmax(GAP_PERIODS * own, SHORTEST_GAP)[s]
        long = step > np.where(np.isfinite(limit), limit, np.inf)
        if long.any():
            gap = np.column_stack([rows[s], times[s, p], times[s, k]])[long]
            past.gaps = np.concatenate([past.gaps, gap])
        any_new = finite[:, 1:].any(axis=1)
        last = values.shape[1] - 1 - np.argmax(finite[:, ::-1], axis=1)
        start = np.argmax(finite, axis=1)
        mine = rows[any_new]
        here = np.arange(len(rows))[any_new]
        first_at[mine] = np.fmin(first_at[mine], times[here, start[here]])
        seen_at[mine] = times[here, last[here]]
        value[mine] = values[here, last[here]]
