"""Every target of a site once: devices over their protocols, captures from disk."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from collectors.intake import Bounds, checked
from collectors.source import Source
from collectors.visit import guarded, visited
from fabrichealth.cli._captures import in_order, taken_at
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Poll, SeriesTable
from fabrichealth.runtime.clock import Clock
from fabrichealth.target_rows import TargetRow

AT_ONCE = 64


@dataclass(frozen=True)
class Visit:
    """What came of a target: its polls with their times (unix seconds), or why none did.

    The newest poll happened now; of captures only the seconds between them are their own.
    """

    source: Source
    polls: tuple[tuple[float, Poll], ...] = ()
    failures: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Source and target."""
        return f"{self.source.target.source} {self.source.target.name}"


async def visits(
    sources: Sequence[Source],
    rows: Sequence[TargetRow],
    table: SeriesTable,
    told: Callable[[float], None] = lambda done: None,
) -> list[Visit]:
    """Visit every target once, some at a time; each source is closed afterwards.

    `told` is called with how many were visited so far.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    bounds, clock = Bounds(table), Clock()
    visited_yet = count(1)

    async def one(source: Source, row: TargetRow) -> Visit:
        async with gate:
            try:
                if row.capture is not None:
                    return _captured(source, row.capture, bounds, clock.now())
                at = clock.now()
                return Visit(source, ((at, await visited(source, bounds, clock, at)),))
            except SourceUnavailable as wrong:
                return Visit(source, failures=[str(wrong)])
            finally:
                await source.close()
                told(next(visited_yet))

    return await asyncio.gather(*(one(*pair) for pair in zip(sources, rows, strict=True)))


def _captured(source: Source, path: Path, bounds: Bounds, now: float) -> Visit:
    """Read the polls of a capture in order; one that cannot be read costs itself."""
    found: list[tuple[float, Poll]] = []
    failures: list[str] = []
    for files in in_order(path):
        try:
            with guarded(files):
                at = taken_at(source, files)
                poll = source.captured(files, at)
                stale = source.settings.stale_after
                found.append((at, checked(poll, bounds, source.table, at, stale)))
        except SourceUnavailable as wrong:
            failures.append(str(wrong))
    last = max((at for at, _ in found), default=0.0)
    return Visit(source, tuple((now - last + at, poll) for at, poll in found), failures)
