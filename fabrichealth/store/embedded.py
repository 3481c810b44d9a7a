"""EmbeddedStore: time series of one machine, in a folder, without a server.

Readings arrive by target and are asked for by metric. So an append writes one entry to a log
(`head`), and from there they are folded, a metric at a time, into compressed chunks in a
database (`database`, `chunk`); `maintain` does that between appends, in steps of some tens of
milliseconds. Hours that are complete are also kept as one value a minute and one every ten.

One process writes (a lock file says so). Others open the same folder with `read_only=True` and
see every acknowledged batch at their next call. Objects may be used by several threads: reading
and maintaining wait for each other, appending for neither.
"""

import fcntl
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fabrichealth.errors import StoreError, StoreReadOnly
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Ids, SeriesTable, Window
from fabrichealth.store.chunk import BLOCK, opened
from fabrichealth.store.database import Database
from fabrichealth.store.grid import Grid, Runs, merged
from fabrichealth.store.head import Head, Segment, entry
from fabrichealth.store.maintenance import Maintenance
from fabrichealth.store.numbering import Numbering
from fabrichealth.store.protocol import Latest
from fabrichealth.store.recent import Recent, RecentColumns
from fabrichealth.store.settings import StoreSettings
from fabrichealth.store.tiers import RAW, STEPS, TENS, TIERS

CACHE_BYTES = 256 * 2**20
"""Memory for decoded columns of metrics asked for repeatedly."""

SEGMENT_SECONDS = 320.0
SEGMENT_SAMPLES = 16_000_000
SEGMENT_ENTRIES = 8_192
"""A log file is closed when it spans this much time, or holds this much: 32 polls at 10 s."""

AHEAD_SECONDS = 600.0
"""A window of the past is read this much further than asked: a replay asks for the rest next."""

ATTEMPTS = 10
"""A reader lists the log files again when they changed under its eyes."""


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
        self._claim = -1 if read_only else _claimed(folder)
        try:
            self._database = Database(folder / "store.sqlite", write=not read_only)
            self._database.load_names(self._table)
            self._head = Head(folder, write=not read_only)
        except BaseException:
            self._release()
            raise
        self._numbering = Numbering(self._table)
        self._recent = RecentColumns(cache_bytes)
        self._maintenance = Maintenance(self._database, self._head, self._numbering, settings)
        self._next = max((segment.last for segment in self._head.segments), default=0) + 1
        self._next = max(self._next, self._database.folded(0) + 1)
        self._started = inf

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

        Values that are not finite are no readings and are left out.

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
                segment.append(entry(self._next, batches, self._numbering.metric))
            except IndexError:
                raise StoreError(
                    f"{self._folder}: a batch holds a series that the table does not know"
                ) from None
            except OSError as wrong:
                raise StoreReadOnly(
                    f"{self._folder}: cannot be written ({wrong.strerror}); make room, writing"
                    " resumes by itself"
                ) from None
            self._next += 1
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
            self._recent.drop(metric)

    def maintain(self, budget: float = 0.05, now: float | None = None) -> bool:
        """Fold, downsample, forget: for about `budget` seconds; return whether more is waiting.

        To be called by the owner about once a second, between appends or in another thread:
        an append waits for it only to bring in new names.
        `now` (unix seconds, default: the newest time stamp held) decides what is too old.

        Raises:
            StoreReadOnly: the disk is full.
        """
        started = perf_counter()
        with self._writing, self._lock:
            self._must_write()
            self._rotate()
        while True:
            with self._lock:
                if not self._maintenance.step(now):
                    return False
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
                self._database.load_names(self._table)
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
                grid = self._layered(metric, start, until, step)
            else:
                grid = self._columns(metric, start, until)
            return grid.window(metric, self._table, until, seconds)

    def latest(self, metric: Metric, until: float, within: float) -> Latest:
        """Return the newest value of each series in (until - within, until]."""
        near = self.window(metric, until, min(within, SEGMENT_SECONDS))
        series, values, at = near.series, near.last, near.last_at
        if within > SEGMENT_SECONDS and len(series) < len(self._table.of(metric)):
            with self._lock:
                missing = np.setdiff1d(self._table.of(metric), series)
                blocks = set((self._numbering.rank[missing] // BLOCK).tolist())
                start = until - within
                grid = merged(
                    [self._raw(metric, start, until, block) for block in sorted(blocks)]
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
            block = int(self._numbering.rank[series]) // BLOCK
            if step:
                grid = self._layered(metric, start, end, step, block, series)
            else:
                grid = self._raw(metric, start, end, block, series)
            return _line(grid.between(start, end))

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

    # Reading

    def _columns(self, metric: Metric, start: float, end: float) -> Grid:
        """Return a grid that holds at least what was read in (start, end]."""
        number = self._database.number(metric)
        if number is None:
            return Grid.empty()
        seen, imported = self._head.last, self._database.imported(number)
        kept = self._recent.get(metric)
        if kept is None or not (
            kept.start <= start <= kept.stop
            and kept.imported == imported
            and self._database.folded(number) <= kept.seen
        ):
            stop = self._stop(number, end, end - start)
            grid = self._raw(metric, start, stop).between(start, stop)
            kept = Recent.of(grid, start, stop, end - start, seen, imported)
        else:
            kept.seconds = max(kept.seconds, end - start)
            keep_after = end - kept.seconds
            kept.extend(self._head.runs(number, kept.seen), seen, keep_after)
            if end > kept.stop:
                stop = self._stop(number, end, kept.seconds)
                more = self._raw(metric, kept.stop, stop).between(kept.stop, stop)
                past = kept.used().between(keep_after, kept.stop)
                keep_after = max(kept.start, keep_after)
                grid = merged([past, more])
                kept = Recent.of(grid, keep_after, stop, kept.seconds, seen, imported)
        self._recent.put(metric, kept)
        return kept.used()

    def _stop(self, number: int, end: float, seconds: float) -> float:
        """Return how far to read when (.., end] is asked for: a little ahead, for replays."""
        ahead = end + max(seconds / 2, AHEAD_SECONDS)
        span = self._database.span_of(RAW, number)
        newest = max((segment.newest for segment in self._head.segments), default=-inf)
        newest = newest if span is None else max(newest, span[1])
        return inf if ahead >= newest else ahead

    def _raw(
        self,
        metric: Metric,
        start: float,
        end: float,
        block: int | None = None,
        series: int | None = None,
    ) -> Grid:
        """Return what is held of a metric, a block or a series of it around (start, end].

        From the finest tier there is: before the horizon of the readings themselves, one value
        a minute, and before that one every ten.
        """
        number = self._database.number(metric)
        if number is None:
            return Grid.empty()
        for _ in range(ATTEMPTS):
            with self._database.transaction("DEFERRED"):
                folded = self._database.folded(number)
                grids = self._chunks(number, start, end, block, series)
            if self._head.first <= folded + 1:
                break
            self._head.refresh()  # a listing made while files came and went
        else:
            raise StoreError(f"{self._folder}: log files are missing; were they deleted by hand?")
        runs = self._head.runs(number, folded)
        if runs:
            grids.append(self._of_head(Runs.joined(runs), block, series))
        return merged(grids)

    def _chunks(
        self, number: int, start: float, end: float, block: int | None, series: int | None
    ) -> list[Grid]:
        """Return the chunks around (start, end], earlier made first, coarser tiers before."""
        grids: list[Grid] = []
        finer = inf
        for tier in TIERS:
            horizon = self._database.horizon(tier)
            stop = min(end, finer)
            if stop > max(start, horizon):
                found = self._database.bodies(tier, number, max(start, horizon), stop, block)
                of_tier = [opened(body, series) for body in found]
                grids = [*(grid.between(horizon, stop) for grid in of_tier if len(grid)), *grids]
            finer = min(finer, horizon)
        return grids

    def _of_head(self, runs: Runs, block: int | None, series: int | None) -> Grid:
        if series is not None:
            runs = runs.within(runs.series == series)
        elif block is not None:
            runs = runs.within(self._numbering.rank[runs.series] // BLOCK == block)
        return Grid.of(runs)

    def _layered(
        self,
        metric: Metric,
        start: float,
        end: float,
        step: float,
        block: int | None = None,
        series: int | None = None,
    ) -> Grid:
        """Return one column per step from the tier that has them, and from readings after it."""
        number = self._database.number(metric)
        if number is None:
            return Grid.empty()
        tier = TENS if step >= STEPS[TENS] else TENS - 1
        done = max(start, self._database.cooked(number) or -inf)
        cooked = [
            opened(body, series) for body in self._database.bodies(tier, number, start, done, block)
        ]
        fresh = self._raw(metric, done, end, block, series).between(done, end)
        coarse = merged([*(g.between(start, done) for g in cooked if len(g)), fresh])
        return coarse.downsampled(step, metric.kind)

    # Writing

    def _must_write(self) -> None:
        if self._read_only:
            raise StoreError(f"{self._folder}: opened to read only")

    def _keep_names(self) -> None:
        """Save names that the table learnt since; numbers are useless without them."""
        if self._database.names_missing(self._table):
            with self._lock:
                self._database.save_names(self._table)
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


def _line(grid: Grid) -> tuple[Floats, Floats]:
    """Return (at, values) of a grid of one series; of equal times the higher clock stays."""
    there = ~np.isnan(grid.values)
    at = grid.times[grid.clock][there]
    values = grid.values[there]
    order = np.argsort(at, kind="stable")
    at, values = at[order], values[order]
    last = np.append(at[1:] != at[:-1], True) if len(at) else np.zeros(0, bool)
    return at[last], values[last]


def _claimed(folder: Path) -> int:
    """Return the descriptor of the lock file, which dies with the process.

    Raises:
        StoreError: another process has it, or the folder cannot be written.
    """
    path = folder / "lock"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    except OSError as wrong:
        raise StoreError(f"{path}: cannot be opened ({wrong.strerror}); check the rights") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise StoreError(
            f"{folder}: another process writes to this store; stop it, or open it to read only"
        ) from None
    return file
