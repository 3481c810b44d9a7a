"""EmbeddedStore: time series of one machine, in a folder, without a server.

Readings arrive by target and are asked for by metric. So an append writes one entry to a log
(`head`), and from there they are folded, a metric at a time, into compressed chunks in a
database (`database`, `chunk`); `maintain` does that between appends, in steps of some tens of
milliseconds. Hours that are complete are also kept as one value a minute and one every ten.

One process writes (a lock file says so). Others open the same folder with `read_only=True` and
see every acknowledged batch at their next call. Objects may be used by several threads: reading
and maintaining wait for each other, appending for neither.
"""

import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fabrichealth.errors import StoreError, StoreReadOnly
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Ids, SeriesTable, Window
from fabrichealth.store.chunk import BLOCK
from fabrichealth.store.claim import claimed
from fabrichealth.store.database import Database
from fabrichealth.store.entry import entry
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import merged
from fabrichealth.store.head import Head, Segment
from fabrichealth.store.maintenance import Maintenance
from fabrichealth.store.names import Names
from fabrichealth.store.numbering import Numbering
from fabrichealth.store.progress import Progress
from fabrichealth.store.protocol import Latest, News
from fabrichealth.store.reading import Reading
from fabrichealth.store.settings import StoreSettings

log = logging.getLogger(__name__)

CACHE_BYTES = 256 * 2**20
"""Memory for decoded columns of metrics asked for repeatedly."""

SEGMENT_SECONDS = 320.0
SEGMENT_SAMPLES = 16_000_000
SEGMENT_ENTRIES = 8_192
"""A log file is closed when it spans this much time, or holds this much: 32 polls at 10 s."""


class EmbeddedStore:
    """See `fabrichealth.store.protocol.Store`; `open` is the way in."""

    def __init__(
        self, folder: Path, settings: StoreSettings, *, read_only: bool, cache_bytes: int
    ) -> None:
        self._folder = folder
        self._writing = threading.RLock()
        self._lock = threading.RLock()  # whoever needs both takes `_writing` first
        self._read_only = read_only
        self._table = SeriesTable()
        self._claim = -1 if read_only else claimed(folder)
        try:
            self._database = Database(folder / "store.sqlite", write=not read_only)
            self._names = Names(self._database)
            self._names.load(self._table)
            self._head = Head(folder, write=not read_only)
        except BaseException:
            self._release()
            raise
        self._numbering = Numbering(self._table)
        self._reading = Reading(self._database, self._head, self._numbering, cache_bytes)
        self._maintenance = Maintenance(self._database, self._head, self._numbering, settings)
        self._next = max((segment.last for segment in self._head.segments), default=0) + 1
        self._next = max(self._next, Progress(self._database).folded(0) + 1)
        self._started = inf
        self._full = False
        self._no_numbers = 0

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        read_only: bool = False,
        settings: StoreSettings | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> Self:
        """Open the store in a folder; the writer creates it if it is not there.

        Raises:
            StoreError: another process writes to it, a newer version wrote it, there is none to
                read, or the folder cannot be used.
        """
        if not read_only:
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as wrong:
                raise StoreError(f"{path}: cannot be the store's folder ({wrong})") from None
        return cls(path, settings or StoreSettings(), read_only=read_only, cache_bytes=cache_bytes)

    @property
    def table(self) -> SeriesTable:
        """Names of series and clocks; a reader must not add to it."""
        return self._table

    def append(self, batches: Sequence[Batch]) -> None:
        """Keep batches; when this returns they survive a kill -9 of this process.

        Values that are not finite are no readings: they are left out and count as dropped.

        Raises:
            StoreReadOnly: the disk is full; nothing of this call was kept, a later one tries again.
            StoreError: opened to read only, or a number is not in the table.
        """
        with self._writing:
            self._must_write()
            batches = [batch for batch in batches if len(batch)]
            if not batches:
                return
            self._keep_names()
            try:
                segment = self._open_segment()
                added = entry(self._next, batches, self._numbering.metric)
                segment.append(added)
            except IndexError:
                raise StoreError(
                    f"{self._folder}: a batch holds a series that the table does not know"
                ) from None
            except OSError as wrong:
                raise StoreReadOnly.because(self._folder, wrong) from None
            self._next += 1
            lost = sum(map(len, batches)) - sum(many for _, _, many in added.parts)
            if lost and not self._no_numbers:
                log.warning(
                    "%d values are no numbers and are left out; further ones are counted", lost
                )
            self._no_numbers += lost
            if self._started == inf:
                self._started = segment.newest

    def append_columns(
        self,
        metric: Metric,
        series: Ids,
        clock: NDArray[np.int64],
        clocks: Ids,
        times: Floats,
        values: Floats,
    ) -> None:
        """Keep a past at once: `values[r, k]` (NaN is absent) of `series[r]`, straight in chunks.

        It was read at `times[clock[r], k]` by `clocks[clock[r]]`; `series` and `clocks` ascend,
        time lines ascend from the left and end in NaN. For imports: against readings of the
        same (clock, at, series) that came by `append` and are not folded yet, these lose.

        Raises:
            StoreReadOnly: the disk is full; part of this call may be kept.
            StoreError: opened to read only.
        """
        with self._writing, self._lock:
            self._must_write()
            self._keep_names()
            self._maintenance.put(metric, Grid(series, clock, clocks, times, values))
            self._reading.forget(metric)

    def maintain(self, budget: float = 0.05, now: float | None = None) -> bool:
        """Fold, downsample, forget: for about `budget` seconds; return whether more is waiting.

        To be called by the owner about once a second, between appends or in another thread:
        an append waits for it only to bring in new names.
        `now` (unix seconds, default: the newest time stamp held) decides what is too old. On a
        full disk it logs so, once, and tries again at the next call.

        Raises:
            StoreError: opened to read only, or the database is broken.
        """
        started = perf_counter()
        with self._writing, self._lock:
            self._must_write()
            self._rotate()
        while True:
            with self._lock:
                try:
                    more = self._maintenance.step(now)
                except StoreReadOnly as full:
                    if not self._full:
                        log.warning("%s", full)
                    self._full = True
                    return False
                if not more:
                    return False
                self._full = False
            if perf_counter() - started >= budget:
                return True

    def fold_now(self) -> None:
        """Close the open log file, whatever its size, so that `maintain` folds all there is."""
        with self._writing, self._lock:
            self._must_write()
            if self._head.segments and self._head.segments[-1].samples:
                self._start_segment()

    def refresh(self) -> None:
        """Learn series, clocks and readings that the writing process has added."""
        with self._lock:
            if self._read_only:
                self._head.refresh()
                self._names.load(self._table)
                self._numbering.learn()

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        """Return all samples of a metric in (until - seconds, until], right-aligned in polls.

        With `step` (60 or 600) one column per step: the last value of counters and infos, the
        mean of gauges, stamped with the newest poll of the step.
        """
        with self._lock:
            self.refresh()
            start = until - seconds
            if step:
                grid = self._reading.layered(metric, start, until, step)
            else:
                grid = self._reading.columns(metric, start, until)
            return grid.window(metric, self._table, until, seconds)

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        """Return what of (until - seconds, until] is new since a mark, and the next mark."""
        with self._lock:
            self.refresh()
            grid, since, after = self._reading.news(metric, until - seconds, until, mark)
            return News(grid.window(metric, self._table, until, until - since), after)

    def latest(self, metric: Metric, until: float, within: float) -> Latest:
        """Return the newest value of each series in (until - within, until]."""
        near = self.window(metric, until, min(within, SEGMENT_SECONDS))
        series, values, at = near.series, near.last, near.last_at
        if within > SEGMENT_SECONDS and len(series) < len(self._table.of(metric)):
            with self._lock:
                missing = np.setdiff1d(self._table.of(metric), series)
                rank = self._numbering.rank
                # a name that is just new has no number yet, and nothing was read of it
                blocks = set((rank[missing[missing < len(rank)]] // BLOCK).tolist())
                start = until - within
                grid = merged(
                    [self._reading.raw(metric, start, until, block) for block in sorted(blocks)]
                ).between(start, until)
                far = grid.window(metric, self._table, until, within)
            fill = far.select(np.isin(far.series, missing))
            series = np.concatenate([series, fill.series])
            order = np.argsort(series)
            values = np.concatenate([values, fill.last])[order]
            at = np.concatenate([at, fill.last_at])[order]
            series = series[order]
        return Latest(series, values, at)

    def one(self, series: int, start: float, end: float, step: float = 0) -> tuple[Floats, Floats]:
        """Return (at, values) of one series in (start, end], ascending, from the finest tier."""
        with self._lock:
            self.refresh()
            metric = self._table.metric(series)
            if series >= len(self._numbering.rank):
                return np.empty(0), np.empty(0)
            block = int(self._numbering.rank[series]) // BLOCK
            if step:
                grid = self._reading.layered(metric, start, end, step, block, series)
            else:
                grid = self._reading.raw(metric, start, end, block, series)
            return grid.between(start, end).line()

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp held, or None if there is nothing."""
        with self._lock:
            self.refresh()
            spans = [(part.oldest, part.newest) for part in self._head.segments if part.samples]
            chunks = self._database.span()
            spans += [] if chunks is None else [chunks]
            if not spans:
                return None
            return min(first for first, _ in spans), max(last for _, last in spans)

    @property
    def spooled(self) -> int:
        """Nothing waits: what was appended is in the store."""
        return 0

    @property
    def dropped(self) -> int:
        """Samples that were no numbers; nothing else that was appended is lost."""
        return self._no_numbers

    @property
    def size(self) -> int:
        """Bytes in files: the database with its log, and the head."""
        with self._lock:
            return sum(part.stat().st_size for part in self._folder.iterdir() if part.is_file())

    def close(self) -> None:
        """Let go of the files; everything acknowledged is safe."""
        with self._lock:
            self._head.close()
            self._database.close()
            self._release()

    # Writing

    def _must_write(self) -> None:
        if self._read_only:
            raise StoreError(f"{self._folder}: opened to read only")

    def _keep_names(self) -> None:
        """Save names that the table learnt since; numbers are useless without them."""
        if self._names.missing(self._table):
            with self._lock:
                self._names.save(self._table)
                self._numbering.learn()

    def _open_segment(self) -> Segment:
        if not self._head.segments:
            return self._head.start(self._next)
        return self._head.segments[-1]

    def _rotate(self) -> None:
        """Close the newest log file when it has grown enough, by starting another."""
        if not self._head.segments:
            return
        segment = self._head.segments[-1]
        grown = (
            segment.newest - self._started >= SEGMENT_SECONDS
            or segment.samples >= SEGMENT_SAMPLES
            or segment.last - segment.first >= SEGMENT_ENTRIES
        )
        if grown and segment.samples:
            with suppress(OSError):  # no room: the open file serves on
                self._start_segment()

    def _start_segment(self) -> None:
        self._head.start(self._next)
        self._started = inf

    def _release(self) -> None:
        if self._claim >= 0:
            os.close(self._claim)
            self._claim = -1
