"""Memory: the changes of slow metrics, kept from pass to pass.

A pass reads only what is new; after a restart the past is read again from the store, so memory
is derived and never saved, and equals what it would have been. Samples that come late are taken
as long as nothing newer of their series was seen.
"""

from collections.abc import Callable, Mapping

import numpy as np

from analyzer.aligned import OVERLAP, Reads
from analyzer.remembered import AFTER, AT, BEFORE, ROW, STEP, UNSEEN, Remembered, take
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats

LEAD = 3600.0
"""After a start the past is read from so long before the span, so that what the span begins
with (the value before its first change, the period) is known as if there had been no restart;
of series read less than once in ten minutes a gap at that very place may not be seen as one."""

BLOCK = 1800.0
"""The past is read in blocks of this length after a start, so that memory stays bounded."""


class Memory:
    """Changes of the metrics asked for, each over its own span (seconds)."""

    def __init__(self, store: Reads, spans: Mapping[Metric, float]) -> None:
        self._store = store
        self._spans = dict(spans)
        self._pasts = {metric: Remembered() for metric in spans}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that are remembered."""
        return tuple(self._pasts)

    def advance(self, now: float) -> None:
        """Take in everything up to `now`."""
        held = self._store.span()
        if held is None:
            return
        for metric, span in self._spans.items():
            past = self._pasts[metric]
            start = max(past.until - OVERLAP, now - span - LEAD, held[0] - 1.0)
            if now - start > BLOCK:
                past.mark = None
            # the mark is taken before older blocks are read: what comes meanwhile is news
            news = self._store.news(metric, now, min(now - start, BLOCK), past.mark)
            while start < now - BLOCK:
                end = min(start + BLOCK, now - BLOCK)
                take(past, self._store.window(metric, end, end - start))
                start = end
            take(past, news.window)
            past.until, past.mark = now, news.mark
            past.forget(now - span)

    def move_back(self, by: Callable[[Metric], Floats], now: float) -> None:
        """Move what is remembered back by so many seconds: of each series of a metric, by place.

        What was known ahead of its time then is let go; it comes again.
        """
        for metric, past in self._pasts.items():
            past.move_back(by(metric)[: len(past.value)], now)

    def slowest(self, now: float, fresh: float) -> float:
        """Return the longest period (seconds) of what answered within `fresh` of its own; 0: none.

        Of all metrics that are remembered; infinity where none is, for then nobody knows.
        """
        found = 0.0 if self._pasts else np.inf
        for past in self._pasts.values():
            with np.errstate(invalid="ignore"):
                answers = now - past.seen_at <= fresh * past.period
            found = max(found, float(past.period[answers].max(initial=0.0)))
        return found

    def changes(self, metric: Metric, until: float, seconds: float) -> Changes:
        """Return the changes of a metric in (until - seconds, until].

        Raises:
            KeyError: nobody asked for this metric to be remembered.
        """
        past, table = self._pasts[metric], self._store.table
        start = until - seconds
        numbers = table.of(metric)[: len(past.value)]
        with np.errstate(invalid="ignore"):
            known = np.flatnonzero(past.seen_at > start)
        place = np.full(len(numbers) + 1, -1)
        place[known] = np.arange(len(known))
        entries = past.entries[np.searchsorted(past.entries[:, AT], start, "right") :]
        gaps = past.gaps[past.gaps[:, 2] > start]
        gap_row = place[gaps[:, 0].astype(np.intp)]
        gaps, gap_row = gaps[gap_row >= 0], gap_row[gap_row >= 0]
        return Changes(
            metric,
            table,
            until,
            seconds,
            numbers[entries[:, ROW].astype(np.intp)],
            entries[:, AT],
            entries[:, STEP],
            entries[:, BEFORE],
            entries[:, AFTER],
            entries[:, UNSEEN] > 0,
            numbers[known],
            np.maximum(past.first_at[known], start),
            past.seen_at[known],
            past.value[known],
            past.period[known],
            gap_row,
            gaps[:, 1],
            gaps[:, 2],
        )
