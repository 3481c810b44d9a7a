"""Reading: joins chunks and log, finest tier first, into one grid of what was asked.

A writer and its readers do the same. The log is looked at before the database (`Head.refresh`
comes first): then whatever is folded between the two looks is found in either.
"""

from math import inf, isfinite

from fabrichealth.errors import StoreError
from fabrichealth.metric import Metric
from fabrichealth.store.chunk import BLOCK, opened
from fabrichealth.store.database import Database
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import gridded, merged
from fabrichealth.store.head import Head
from fabrichealth.store.news import Mark
from fabrichealth.store.numbering import Numbering
from fabrichealth.store.progress import Progress
from fabrichealth.store.recent import Recent, RecentColumns
from fabrichealth.store.runs import Runs
from fabrichealth.store.tiers import MINUTES, RAW, STEPS, TENS, TIERS

AHEAD_SECONDS = 600.0
"""A window of the past is read this much further than asked: a replay asks for the rest next."""

READ_AT_ONCE_BYTES = 5 * 2**20
"""And then so far that what is held of a metric fills about this: chunks hold hours."""

ATTEMPTS = 10
"""A reader lists the log files again when they changed under its eyes."""


class Reading:
    """Reads one store; the caller keeps others out meanwhile."""

    def __init__(
        self, database: Database, head: Head, numbering: Numbering, cache_bytes: int
    ) -> None:
        self._database = database
        self._progress = Progress(database)
        self._head = head
        self._numbering = numbering
        self._recent = RecentColumns(cache_bytes)

    def forget(self, metric: Metric) -> None:
        """Let go of what is kept of a metric."""
        self._recent.drop(metric)

    def columns(self, metric: Metric, start: float, end: float) -> Grid:
        """Return a grid that holds at least what was read in (start, end]."""
        number = self._numbering.number(metric)
        if number is None:
            return Grid.empty()
        seen, imported = self._head.last, self._progress.imported(number)
        kept = self._recent.get(metric)
        runs: list[Runs] | None = None
        if (
            kept is not None
            and kept.start <= start <= kept.stop
            and kept.imported == imported
            and self._progress.folded(number) <= kept.seen
        ):
            runs = self._head.runs(number, kept.seen)
        if kept is None or runs is None or kept.outweighed(runs):
            seconds = end - start
            if kept is not None:  # others of the pass will ask for as much as before
                seconds = max(seconds, kept.seconds)
            stop = self._stop(number, end, seconds, AHEAD_SECONDS)
            grid = self.raw(metric, end - seconds, stop).between(end - seconds, stop)
            kept = Recent.of(grid, end - seconds, stop, seconds, seen, imported)
        else:
            kept.seconds = max(kept.seconds, end - start)
            keep_after = end - kept.seconds
            kept.extend(runs, seen, keep_after)
            if end > kept.stop:
                held = max(kept.stop - kept.start, 1.0)
                ahead = max(AHEAD_SECONDS, READ_AT_ONCE_BYTES * held / max(kept.bytes, 1))
                stop = self._stop(number, end, kept.seconds, ahead)
                more = self.raw(metric, kept.stop, stop).between(kept.stop, stop)
                past = kept.used().between(keep_after, kept.stop)
                keep_after = max(kept.start, keep_after)
                grid = merged([past, more])
                kept = Recent.of(grid, keep_after, stop, kept.seconds, seen, imported)
        self._recent.put(metric, kept)
        return kept.used()

    def news(
        self, metric: Metric, start: float, end: float, mark: Mark | None
    ) -> tuple[Grid, float, Mark | None]:
        """Return what of (start, end] is new to one who knows all up to a mark, and the next one.

        The grid holds more: what is new is later than the moment given beside it. Some of that
        may be known already; without a mark, or where the log no longer holds what came after
        it, it is all there is.
        """
        number = self._numbering.number(metric)
        if number is None:
            return Grid.empty(), start, None
        imported, last = self._progress.imported(number), self._head.last
        folded = self._progress.folded(number)
        lost = mark is None or (folded > mark.entry and not 0 < self._head.first <= mark.entry + 1)
        if mark is None or lost or imported != mark.imported:
            begun = Mark(max(last, folded), end, imported)
            _, next_mark = begun.split(self._ahead(number, folded, end), begun.entry, end)
            return self._whole(metric, number, start, end), start, next_mark
        fresh, next_mark = mark.split(
            self._head.runs(number, mark.entry), max(last, mark.entry), end
        )
        held = self._database.span_of(RAW, number)
        if held is None or held[1] <= mark.until:
            return (Grid.empty() if fresh is None else gridded(fresh)), start, next_mark
        # imported, or folded ahead of its time
        grid, since = self.columns(metric, mark.until, end), max(mark.until, start)
        if fresh is not None:
            grid, since = merged([grid.between(since, end), gridded(fresh)]), start
        return grid, since, next_mark

    def _whole(self, metric: Metric, number: int, start: float, end: float) -> Grid:
        """Return what was read in (start, end], to one who will ask for what is new only.

        It is kept where it is kept already, and where a replay reads on.
        """
        if self._recent.get(metric) is not None or isfinite(
            self._stop(number, end, 0.0, AHEAD_SECONDS)
        ):
            return self.columns(metric, start, end)
        return self.raw(metric, start, end)

    def _ahead(self, number: int, folded: int, until: float) -> list[Runs]:
        """Return readings of the log that are later than `until`."""
        return [
            late
            for segment in self._head.segments
            if segment.newest > until
            for runs in segment.runs(number, folded)
            if (late := runs.after(until)) is not None
        ]

    def _stop(self, number: int, end: float, seconds: float, ahead: float) -> float:
        """Return how far to read when (.., end] is asked for: a little ahead, for replays."""
        beyond = end + max(seconds / 2, ahead)
        span = self._database.span_of(RAW, number)
        newest = max((segment.newest for segment in self._head.segments), default=-inf)
        newest = newest if span is None else max(newest, span[1])
        return inf if beyond >= newest else beyond

    def raw(
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
        number = self._numbering.number(metric)
        if number is None:
            return Grid.empty()
        for _ in range(ATTEMPTS):
            with self._database.transaction("DEFERRED"):
                folded = self._progress.folded(number)
                grids = self._chunks(number, start, end, block, series)
            if self._head.first <= folded + 1:
                break
            self._head.refresh()  # a listing made while files came and went
        else:
            raise StoreError(
                f"{self._head.folder}: log files are missing; were they deleted by hand?"
            )
        runs = self._head.runs(number, folded)
        if runs:
            joined = Runs.joined(runs) if len(runs) > 1 else runs[0]
            runs.clear()  # of a fleet they are a hundred megabytes
            grids.append(self._of_head(joined, block, series, roomy=not grids))
        return merged(grids)

    def _chunks(
        self,
        number: int,
        start: float,
        end: float,
        block: int | None,
        series: int | None,
        finest: int = RAW,
    ) -> list[Grid]:
        """Return the chunks around (start, end], earlier made first, coarser tiers before."""
        grids: list[Grid] = []
        finer = inf
        for tier in TIERS[finest:]:
            horizon = self._progress.horizon(tier)
            stop = min(end, finer)
            if stop > max(start, horizon):
                found = self._database.bodies(tier, number, max(start, horizon), stop, block)
                of_tier = [opened(body, series) for body in found]
                grids = [*(grid.between(horizon, stop) for grid in of_tier if len(grid)), *grids]
            finer = min(finer, horizon)
        return grids

    def _of_head(self, runs: Runs, block: int | None, series: int | None, *, roomy: bool) -> Grid:
        if series is not None:
            runs = runs.within(runs.series == series)
        elif block is not None:
            runs = runs.within(self._numbering.rank[runs.series] // BLOCK == block)
        return gridded(runs, roomy=roomy)

    def layered(
        self,
        metric: Metric,
        start: float,
        end: float,
        step: float,
        block: int | None = None,
        series: int | None = None,
    ) -> Grid:
        """Return one column per step from the tier that has them, and from readings after it."""
        number = self._numbering.number(metric)
        if number is None:
            return Grid.empty()
        tier = TENS if step >= STEPS[TENS] else MINUTES
        done = max(start, self._progress.cooked(number) or -inf)
        cooked = self._chunks(number, start, done, block, series, finest=tier)
        fresh = self.raw(metric, done, end, block, series).between(done, end)
        coarse = merged([*(grid.between(start, done) for grid in cooked), fresh])
        return coarse.downsampled(step, metric.kind)
