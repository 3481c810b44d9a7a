"""SharedStore: the store's protocol on a server that others use as well.

Writing goes through the spool, so that a server that is away loses nothing. Reading asks the engine
for a span of one metric and keeps it, so that a pass asks only for what is new.
"""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fabrichealth.catalogue.ports import LINK_INFO, PORT_INFO
from fabrichealth.errors import StoreError
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Ids, Labels, SeriesTable, Window
from fabrichealth.store.grid import Grid
from fabrichealth.store.protocol import Latest, News
from fabrichealth.store.remote.delivery import Delivery
from fabrichealth.store.remote.kept import GivesColumns, Kept
from fabrichealth.store.remote.settings import RemoteSettings

log = logging.getLogger(__name__)

CACHE_BYTES = 512 * 2**20
"""Memory for columns of metrics asked for repeatedly."""

REQUEST_SAMPLES = 50_000
"""Samples in one request: about 8 MB unpacked, where VictoriaMetrics takes 32; and while the server
works on one the next is encoded."""

NEAR = 300.0
"""Newest values are looked for within so many seconds first."""

NAMES_EVERY = 60.0
"""Seconds between two looks for new links, which are told of as often."""

SPAN_EVERY = 60.0

WRITE_ONLY = "store: opened to write only; give store.read"


class Reads(GivesColumns, Protocol):
    """What is asked of an engine; each call may raise `StoreError`."""

    def stepped(self, metric: Metric, start: float, end: float, step: float) -> Grid:
        """Return one column a step, as `Grid.downsampled` would."""
        ...

    def one(self, metric: Metric, labels: Labels, start: float, end: float) -> Grid:
        """Return at least what was read of one series in (start, end]."""
        ...

    def learn(self, metric: Metric) -> None:
        """Take note of the names that a metric's series have now."""
        ...

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp held."""
        ...

    def close(self) -> None:
        """Let go of the connections."""
        ...


class Encodes(Protocol):
    """How batches become a request."""

    def body(self, batches: Sequence[Batch]) -> bytes:
        """Return one request."""
        ...


@dataclass(frozen=True)
class _Mark:
    """How far one reader has read one metric; when it read the whole span last."""

    until: float
    whole: float


class SharedStore:
    """See `fabrichealth.store.protocol.Store`."""

    def __init__(
        self,
        table: SeriesTable,
        settings: RemoteSettings,
        reads: Reads | None,
        encodes: Encodes | None = None,
        delivery: Delivery | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """Without `reads` it only takes, without `delivery` it only gives."""
        self._table = table
        self._settings = settings
        self._reader = reads
        self._encodes = encodes
        self._delivery = delivery
        self._no_numbers = 0
        self._lock = threading.RLock()
        self._kept = (
            None if reads is None else Kept(reads, settings.lateness, settings.reread, cache_bytes)
        )
        self._newest: dict[Metric, tuple[float, float, Latest]] = {}
        """(until, within, values) of the last question."""
        self._named = float("-inf")
        self._spanned: tuple[float, tuple[float, float] | None] = (float("-inf"), None)

    @property
    def table(self) -> SeriesTable:
        """Names of series and clocks; numbers are this process's own."""
        return self._table

    # Writing

    @property
    def spooled(self) -> int:
        """Samples that wait on disk for the server."""
        return 0 if self._delivery is None else self._delivery.spooled

    @property
    def dropped(self) -> int:
        """Samples that were lost on the way to the server, or were no numbers."""
        return self._no_numbers + (0 if self._delivery is None else self._delivery.dropped)

    def append(self, batches: Sequence[Batch]) -> None:
        """Keep batches; when this returns they are on disk, and on their way.

        Values that are not finite are no readings: they are left out and count as dropped.

        Raises:
            StoreReadOnly: the spool's disk is full; of this call the first requests may be kept.
            StoreError: opened to read only.
        """
        if self._delivery is None or self._encodes is None:
            raise StoreError("store: opened to read only")
        finite = [one for batch in batches if len(one := _finite(batch))]
        lost = sum(map(len, batches)) - sum(map(len, finite))
        if lost and not self._no_numbers:
            log.warning("%d values are no numbers and are left out; further ones are counted", lost)
        self._no_numbers += lost
        if not finite:
            return
        for request in _requests(finite):
            self._delivery.put(self._encodes.body(request), sum(map(len, request)))
        with self._lock:
            if self._kept is not None:
                self._kept.clear()
            self._newest.clear()
            self._spanned = (float("-inf"), None)

    def maintain(self, budget: float = 0.05, now: float | None = None) -> bool:
        """Leave the housekeeping to the engine."""
        return False

    def flush(self, seconds: float = 10.0) -> None:
        """Wait until the server has all that was appended.

        Raises:
            StoreError: it does not take it in time.
        """
        if self._delivery is not None:
            self._delivery.flush(seconds)

    # Reading

    @property
    def _reads(self) -> Reads:
        if self._reader is None:
            raise StoreError(WRITE_ONLY)
        return self._reader

    def _columns(self, metric: Metric, start: float, until: float) -> Grid:
        """Return what was read in (start, until]; columns that are known are not read again."""
        if self._kept is None:
            raise StoreError(WRITE_ONLY)
        return self._kept.columns(metric, start, until)

    def refresh(self) -> None:
        """Learn links and ports that are new; other names come with their readings."""
        with self._lock:
            if time.monotonic() >= self._named + NAMES_EVERY:
                for metric in (LINK_INFO, PORT_INFO):
                    self._reads.learn(metric)
                self._named = time.monotonic()

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        """Return all samples of a metric in (until - seconds, until], right-aligned in polls."""
        with self._lock:
            start = until - seconds
            if step:
                grid = self._reads.stepped(metric, start, until, step)
            else:
                grid = self._columns(metric, start, until)
            return grid.window(metric, self._table, until, seconds)

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        """Return what of (until - seconds, until] is new since a mark, and the next mark."""
        with self._lock:
            start, whole = until - seconds, until
            if isinstance(mark, _Mark) and until < mark.whole + self._settings.reread:
                start, whole = max(start, mark.until - self._settings.lateness), mark.whole
            grid = self._columns(metric, start, until)
            return News(grid.window(metric, self._table, until, until - start), _Mark(until, whole))

    def latest(self, metric: Metric, until: float, within: float) -> Latest:
        """Return the newest value of each series in (until - within, until].

        Those that fell silent longer ago than a few minutes are looked for once; after that only
        what is new is read.
        """
        with self._lock:
            start, known = until - within, None
            held = self._newest.get(metric)
            if held is not None and held[0] <= until and held[1] >= within:
                known, start = held[2], max(start, held[0] - self._settings.lateness)
            near = self._newest_of(metric, max(start, until - NEAR), until)
            parts = [near] if known is None else [known, near]
            if start < until - NEAR:
                parts[-1:] = [self._newest_of(metric, start, until - NEAR), near]
            found = _newer(parts)
            self._newest[metric] = (until, within, found)
            there = found.at > until - within
            return Latest(found.series[there], found.values[there], found.at[there])

    def one(self, series: int, start: float, end: float, step: float = 0) -> tuple[Floats, Floats]:
        """Return (at, values) of one series in (start, end], ascending."""
        with self._lock:
            metric, labels = self._table.metric(series), self._table.labels(series)
            grid = self._reads.one(metric, labels, start, end).between(start, end)
            if len(grid):
                grid = grid.rows(grid.series == series)
            return (grid.downsampled(step, metric.kind) if step else grid).line()

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp held, as of a minute ago at most.

        A store that is empty is asked each time: who judges reads nothing before there is a span.
        """
        with self._lock:
            if self._spanned[1] is None or time.monotonic() >= self._spanned[0] + SPAN_EVERY:
                self._spanned = (time.monotonic(), self._reads.span())
            return self._spanned[1]

    def close(self) -> None:
        """Send what waits, for a moment, and let go of the server; the rest stays on disk."""
        if self._delivery is not None:
            self._delivery.close()
        with self._lock:
            if self._reader is not None:
                self._reader.close()

    def _newest_of(self, metric: Metric, start: float, end: float) -> Latest:
        grid = self._reads.columns(metric, start, end).between(start, end)
        window = grid.window(metric, self._table, end, end - start)
        return Latest(window.series, window.last, window.last_at)


def _requests(batches: Sequence[Batch]) -> Iterator[Sequence[Batch]]:
    """Yield batches as many at a time as a request holds."""
    first, samples = 0, 0
    for place, batch in enumerate(batches):
        if samples and samples + len(batch) > REQUEST_SAMPLES:
            yield batches[first:place]
            first, samples = place, 0
        samples += len(batch)
    yield batches[first:]


def _finite(batch: Batch) -> Batch:
    there = np.isfinite(batch.values)
    if there.all():
        return batch
    return Batch(batch.clock, batch.at, batch.series[there], batch.values[there])


def _newer(parts: Sequence[Latest]) -> Latest:
    """Return of each series its newest value; of equal times that of the later part."""
    series: Ids = np.concatenate([part.series for part in parts])
    values = np.concatenate([part.values for part in parts])
    at = np.concatenate([part.at for part in parts])
    order = np.lexsort((np.arange(len(at)), at, series))
    last = np.ones(len(order), bool)
    last[:-1] = series[order][1:] != series[order][:-1]
    chosen = order[last]
    return Latest(series[chosen], values[chosen], at[chosen])
