"""Maintenance: what turns a log into a store, in steps short enough to stand between appends.

In this order, and each step a transaction of its own, so that a kill costs nothing:

1. fold: a closed log file becomes chunks, metric by metric, and is deleted;
2. cook: hours that are complete become a value a minute and one every ten; readings that come
   later make their hour be done again; the chunks of an hour become one;
3. forget: what is older than its tier is kept goes, and while the store is larger than it may
   be, the oldest of the finest tier goes;
4. the database's log is moved into its file, and free pages are given back.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, inf

import numpy as np

from fabrichealth.metric import Metric
from fabrichealth.store.chunk import BLOCK, bodies, opened
from fabrichealth.store.database import LOG_BYTES, PAGE_BYTES, Chunk, Database, Place
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import gridded, merged, some_columns
from fabrichealth.store.head import Head, Segment
from fabrichealth.store.numbering import Numbering
from fabrichealth.store.progress import Progress
from fabrichealth.store.runs import Runs
from fabrichealth.store.settings import StoreSettings
from fabrichealth.store.tiers import MINUTES, RAW, STEPS, TENS, TIERS

STRIP = 64 * BLOCK
"""Series folded in one step."""

HOUR, DAY = 3600.0, 86_400.0

GRACE = 600.0
"""An hour is cooked when readings this much newer are folded: late targets had their chance."""

IDLE = 7200.0
"""An hour this old is cooked even if nothing newer came."""

COLUMNS = 256
"""Most columns of a chunk that is imported."""

DELETED_AT_ONCE = 500
FREE_SHARE = 0.25
PAGES_AT_ONCE = 2_000


class Maintenance:
    """Does the work of one store, one `step` at a time."""

    def __init__(
        self, database: Database, head: Head, numbering: Numbering, settings: StoreSettings
    ) -> None:
        self._database = database
        self._progress = Progress(database)
        self._head = head
        self._numbering = numbering
        self._settings = settings
        self._round: Iterator[None] | None = None
        self._added = 0
        self._settled: tuple[float, int] | None = None
        """Hour and chunks added so far when there was nothing left to do."""

    def step(self, now: float | None) -> bool:
        """Do one bounded piece of work; False when there is nothing to do.

        Raises:
            StoreReadOnly: the disk is full; the next call tries again.
        """
        if self._database.unsettled > LOG_BYTES:
            self._database.checkpoint()
            return True
        if self._round is None:
            self._round = self._work(self._newest() if now is None else now)
        try:
            next(self._round)
        except StopIteration:
            self._round = None
            return False
        except BaseException:
            self._round = None
            raise
        return True

    def put(self, metric: Metric, grid: Grid) -> None:
        """Keep a grid as chunks at once, past the head (for imports)."""
        number = self._numbering.number(metric)
        if number is None or not len(grid):
            return
        width = grid.times.shape[1]
        for column in range(0, width, COLUMNS):
            mine = slice(column, column + COLUMNS)
            part = grid if width <= COLUMNS else some_columns(grid, mine)
            with self._database.transaction():
                self._add(RAW, number, part)
                self._progress.add_imported(number)
                self._note_late(number, part)

    def _newest(self) -> float:
        newest = max((segment.newest for segment in self._head.segments), default=-inf)
        span = self._database.span() if newest == -inf else None
        return newest if span is None else span[1]

    def _work(self, now: float) -> Iterator[None]:
        for segment in self._head.segments[:-1]:
            yield from self._fold(segment)
        state = (now // HOUR, self._added)
        if self._settled != state:
            for metric in self._numbering.metrics:
                yield from self._cook(metric, now)
            yield from self._forget(now)
            self._settled = state
        yield from self._tidy()

    # Fold

    def _fold(self, segment: Segment) -> Iterator[None]:
        for number in sorted(segment.parts):
            if self._progress.folded(number) >= segment.last:
                continue
            runs = Runs.joined(list(segment.runs(number)))
            rank = self._numbering.rank[runs.series]
            strips = range(0, int(rank.max(initial=0)) + 1, STRIP)
            for start in strips:
                inside = (rank >= start) & (rank < start + STRIP)
                grid = gridded(runs if len(strips) == 1 else runs.within(inside))
                with self._database.transaction():
                    self._add(RAW, number, grid)
                    self._note_late(number, grid)
                    if start == strips[-1]:
                        self._progress.set_folded(number, segment.last)
                yield
        with self._database.transaction():
            self._progress.set_folded(0, segment.last)
        self._head.drop(segment)
        yield

    def _add(self, tier: int, number: int, grid: Grid, age: int | None = None) -> None:
        """Insert a grid as chunks (inside a transaction), the latest ones if no age is given."""
        if not len(grid):
            return
        self._added += 1
        self._database.add(
            [
                Chunk(tier, number, block, part.first, part.last, part.times.shape[1], body)
                for block, part, body in bodies(grid, self._numbering.rank[grid.series])
            ],
            age,
        )

    def _note_late(self, number: int, grid: Grid) -> None:
        cooked = self._progress.cooked(number)
        if cooked is not None and len(grid) and grid.first <= cooked:
            late = grid.times[grid.times <= cooked]
            self._progress.add_late(number, np.unique(np.ceil(late / HOUR) * HOUR).tolist())

    # Cook

    def _cook(self, metric: Metric, now: float) -> Iterator[None]:
        number = self._numbering.number(metric)
        span = None if number is None else self._database.span_of(RAW, number)
        if number is None or span is None:
            return
        for hour in self._progress.late(number):
            yield from self._cook_hour(metric, number, hour)
            with self._database.transaction():
                self._progress.clear_late(number, hour)
        first, last = span
        known = max(last - GRACE, now - IDLE)
        done = self._progress.cooked(number)
        hour = (ceil(first / HOUR) if done is None else round(done / HOUR) + 1) * HOUR
        while hour <= known:
            if done is not None and not self._database.places(RAW, number, hour - HOUR, hour):
                later = self._database.first_after(RAW, number, hour)
                if later is None:
                    return
                hour = max(hour, ceil(later / HOUR) * HOUR)
                if hour > known:
                    return
            yield from self._cook_hour(metric, number, hour)
            if hour % DAY == 0:
                yield from self._merge(TENS, number, hour - DAY, hour)
            with self._database.transaction():
                self._progress.set_cooked(number, hour)
            done = hour
            hour += HOUR

    def _cook_hour(self, metric: Metric, number: int, hour: float) -> Iterator[None]:
        """Write the tiers of one hour, block by block, in place of what they had of it.

        Chunks of readings that lie within the hour become one.
        """
        places = self._database.places(RAW, number, hour - HOUR, hour)
        for block, found in groupby(places, key=lambda place: place.block):
            chunks = list(found)
            inside = _mergeable(chunks, hour - HOUR, hour)
            grids = [opened(self._database.body(chunk.id)) for chunk in chunks]
            joined = merged([g for g, c in zip(grids, chunks, strict=True) if c in inside])
            others = [g for g, c in zip(grids, chunks, strict=True) if c not in inside]
            before = sum(c.age < min((i.age for i in inside), default=0) for c in chunks)
            readings = merged([*others[:before], joined, *others[before:]])
            readings = readings.between(hour - HOUR, hour)
            with self._database.transaction():
                for tier in (MINUTES, TENS):
                    fresh = readings.downsampled(STEPS[tier], metric.kind)
                    self._replace(tier, number, block, hour, fresh)
                if len(inside) > 1:
                    self._database.delete([place.id for place in inside])
                    self._add(RAW, number, joined, age=max(place.age for place in inside))
            yield

    def _replace(self, tier: int, number: int, block: int, hour: float, fresh: Grid) -> None:
        """Put an hour of a block into a tier (inside a transaction).

        What the tier had of that hour goes, unless its readings are gone: then it is completed.
        """
        old = self._database.places(tier, number, hour - HOUR, hour)
        old = [place for place in old if place.block == block]
        kept: list[Grid] = []
        for place in old:
            grid = opened(self._database.body(place.id))
            kept += [grid.between(-inf, hour - HOUR), grid.between(hour, inf)]
            if hour - HOUR < self._progress.horizon(RAW):
                kept.append(grid.between(hour - HOUR, hour))
        self._database.delete([place.id for place in old])
        self._add(tier, number, merged([*kept, fresh]))

    def _merge(self, tier: int, number: int, start: float, end: float) -> Iterator[None]:
        """Join the chunks that lie within (start, end], a block at a time."""
        places = self._database.places(tier, number, start, end)
        for _, found in groupby(places, key=lambda place: place.block):
            inside = _mergeable(list(found), start, end)
            if len(inside) < 2:
                continue
            grids = [opened(self._database.body(place.id)) for place in inside]
            with self._database.transaction():
                self._database.delete([place.id for place in inside])
                self._add(tier, number, merged(grids), age=max(place.age for place in inside))
            yield

    # Forget

    def _forget(self, now: float) -> Iterator[None]:
        retention = self._settings.retention
        kept = (retention.raw, retention.one_minute, retention.ten_minutes)
        for tier, seconds in zip(TIERS, kept, strict=True):
            before = now - seconds
            while seconds and (old := self._database.expired(tier, before, DELETED_AT_ONCE)):
                with self._database.transaction():
                    self._database.delete(old)
                    self._progress.raise_horizon(tier, before)
                yield
        for tier in TIERS:
            while self._too_large() and (oldest := self._database.oldest(tier, DELETED_AT_ONCE)):
                yield from self._make_room(tier, oldest)

    def _too_large(self) -> bool:
        used, _ = self._database.pages
        bound = self._settings.max_bytes
        return bound > 0 and used * PAGE_BYTES + self._head.size > bound

    def _make_room(self, tier: int, old: Sequence[tuple[int, float, int]]) -> Iterator[None]:
        """Delete the oldest chunks of a tier, no more than needed."""
        used, _ = self._database.pages
        excess = used * PAGE_BYTES + self._head.size - self._settings.max_bytes
        sizes = np.cumsum([size for _, _, size in old])
        gone = old[: int(np.searchsorted(sizes, excess)) + 1]
        with self._database.transaction():
            self._database.delete([number for number, _, _ in gone])
            self._progress.raise_horizon(tier, gone[-1][1])
        yield

    def _tidy(self) -> Iterator[None]:
        used, free = self._database.pages
        if free > PAGES_AT_ONCE and free > FREE_SHARE * used:
            self._database.shrink(PAGES_AT_ONCE)
            yield


def _mergeable(chunks: Sequence[Place], start: float, end: float) -> list[Place]:
    """Return chunks of one block within (start, end] that may become one, by age.

    None where another stands between them in age and time: it would lose its place.
    """
    inside = [place for place in chunks if place.first > start and place.last <= end]
    if not inside:
        return []
    first, last = min(place.first for place in inside), max(place.last for place in inside)
    ages = [place.age for place in inside]
    between = any(
        min(ages) <= place.age <= max(ages) and place.first <= last and place.last >= first
        for place in chunks
        if place not in inside
    )
    return [] if between else inside
