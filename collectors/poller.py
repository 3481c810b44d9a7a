"""Poller: visits every target at its own period, and lets none harm another.

One task per target: phase, period, time-out, back-off with jitter, and a faster rate for a while
where there is something to see (`close_watch`). Transitions are logged, ticks are not. What comes
home is checked (`intake`), completed (`inventory`, `watchers`) and handed to the sinks.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf

from collectors.close_watch import CloseWatch
from collectors.intake import Bounds
from collectors.inventory import Inventory
from collectors.source import Source
from collectors.visit import visited
from collectors.watchers import Presence, Watcher
from fabrichealth.config import CloseWatch as CloseWatchSettings
from fabrichealth.errors import SourceUnavailable
from fabrichealth.events import Event
from fabrichealth.model import Batch, Poll, SeriesTable
from fabrichealth.runtime.clock import Clock

log = logging.getLogger(__name__)

LIMIT = 512
"""Visits at the same time; targets that failed last time have a limit of their own."""

PATIENCE = 3
"""Failures in a row before the period is stretched."""

LONGEST_BACKOFF = 60.0
"""A failing target is tried at least this often, or once in its own period."""

INVENTORY_PERIOD = 60.0
"""Ports and links are told of this often."""

NEWS_PERIOD = 5.0
"""New ones are told of after so many seconds already."""

NEWS_SHARE = 0.05
"""But no more of the time than this is spent on it: a large fabric is laid out for seconds."""

MOST_DOUBTS = 20
"""Lines about cabling in one go; a wrong topology file has thousands."""

LONGEST_PHASE = 60.0
"""First visits are spread over a period, but nobody waits longer than this for one."""

PARTING = 2.0
"""Seconds that a visit under way has to end, and a source to let go, when its target goes."""

Sink = Callable[[list[Batch], list[Event]], None]


@dataclass
class _Followed:
    """One target under way."""

    source: Source
    watcher: Watcher
    task: asyncio.Task[None] | None = None
    gone: bool = False
    """Followed no more; what a visit under way still brings is nobody's."""
    failures: int = 0
    visited: bool = False
    awaited: float = inf
    """Until when its first visit may be under way (unix seconds)."""
    reason: str = ""
    """What the last failure said; empty while it answers."""


@dataclass
class Poller:
    """Follows targets until stopped; `sink` takes what they say."""

    table: SeriesTable
    clock: Clock
    inventory: Inventory
    sink: Sink
    limit: int = LIMIT
    close_watch: CloseWatchSettings = field(default_factory=CloseWatchSettings)
    _followed: dict[tuple[str, str], _Followed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.table)
        self._presence = Presence(self.table)
        self.closely = CloseWatch(self.table, self.close_watch)
        self._watchers: dict[tuple[str, str], Watcher] = {}
        self._slots = asyncio.Semaphore(self.limit)
        self._suspects = asyncio.Semaphore(self.limit)
        self._housekeeping: asyncio.Task[None] | None = None
        self._doubted: set[str] = set()
        self._begun = False

    @property
    def targets(self) -> list[Source]:
        """The sources that are followed now."""
        return [followed.source for followed in self._followed.values()]

    @property
    def unvisited(self) -> int:
        """How many targets have not been tried yet, of those that still have the time for it.

        One that hangs is not waited for beyond its own time-out, one that a reload brings not at
        all: who was ready once stays so.
        """
        now, every = self.clock.now(), self._followed.values()
        many = 0 if self._begun else sum(not one.visited and one.awaited >= now for one in every)
        self._begun = self._begun or (not many and bool(every))
        return many

    def clocks(self) -> dict[int, float]:
        """Return each clock that the targets write by, and the longest period of its writers."""
        found: dict[int, float] = {}
        for followed in self._followed.values():
            source = followed.source
            presence = self._presence.clock(source.target.subject)
            for clock in (source.clock, followed.watcher.clock, presence):
                found[clock] = max(found.get(clock, 0.0), source.settings.period)
        return found

    async def follow(self, sources: Iterable[Source]) -> None:
        """Follow these sources and no others; those already followed unchanged go on."""
        wanted = {_key(one): one for one in sources}
        changed = []
        for key, followed in self._followed.items():
            new = wanted.get(key)
            if new is not None and _same(new, followed.source):
                del wanted[key]
                await _closed(new)
            else:
                changed.append(key)
        await asyncio.gather(*map(self._drop, changed))
        for key, source in wanted.items():
            # counts of refusals go on when a target's settings change
            watcher = self._watchers.setdefault(key, Watcher(*key, self.table))
            followed = self._followed[key] = _Followed(source, watcher)
            self.closely.follow(source)
            followed.task = asyncio.create_task(self._run(followed), name="/".join(key))
        if self._housekeeping is None:
            self._housekeeping = asyncio.create_task(self._tell_inventory())

    async def stop(self) -> None:
        """Stop all visits and let go of every target."""
        await asyncio.gather(*map(self._drop, list(self._followed)))
        if self._housekeeping is not None:
            self._housekeeping.cancel()
            await asyncio.gather(self._housekeeping, return_exceptions=True)
            self._housekeeping = None

    async def visit(self, followed: _Followed) -> Poll | None:
        """Read a target once and hand on what came; None if nothing did."""
        source = followed.source
        async with self._suspects if followed.failures else self._slots:
            began = self.clock.now()
            try:
                poll = await visited(source, self._bounds, self.clock, began)
            except SourceUnavailable as wrong:
                if not followed.gone:
                    self._failed(followed, began, wrong)
                return None
        if followed.gone:
            return None
        return self._answered(followed, began, poll)

    async def _run(self, followed: _Followed) -> None:
        source = followed.source
        spread = min(source.settings.period, LONGEST_PHASE)
        due = self.clock.now() + self.clock.phase(spread)
        followed.awaited = due + source.settings.timeout
        while not followed.gone:
            await self.clock.until(due)
            try:
                await self.visit(followed)
            except Exception:
                # what goes wrong after the visit costs this visit, never the target
                log.exception("%s %s: visit lost", source.target.source, source.target.name)
            followed.visited = True
            step, now = self._step(followed), self.clock.now()
            # a wall clock that was set back must not silence the target until it is caught up
            due = min(max(due + step, now + 0.1 * step), now + step)

    def _step(self, followed: _Followed) -> float:
        """Return the seconds from one visit to the next."""
        period = followed.source.settings.period
        if followed.failures > PATIENCE:
            stretched = period * 2.0 ** min(followed.failures - PATIENCE, 16)
            return min(stretched, max(LONGEST_BACKOFF, period)) * self.clock.jitter(0.1)
        followed.source.paced = self.closely.period(followed.source, self.clock.now())
        return followed.source.paced

    def _answered(self, followed: _Followed, began: float, checked: Poll) -> Poll:
        source = followed.source
        poll = self.inventory.take(checked)
        if followed.failures:
            log.info(
                "%s %s answers again after %d failures",
                source.target.source, source.target.name, followed.failures,
            )  # fmt: skip
        followed.failures, followed.reason = 0, ""
        now = self.clock.now()
        batches = [
            *poll.batches,
            followed.watcher.answered(poll, began, now - began),
            self._presence.note(source.target.subject, _key(source), True, began),
        ]
        self.sink(batches, poll.events)
        self.closely.answered(source, poll, now, now - began)
        return poll

    def _failed(self, followed: _Followed, began: float, wrong: SourceUnavailable) -> None:
        source, why = followed.source, str(wrong)
        followed.failures += 1
        if followed.reason != why:
            log.warning("%s %s", source.target.source, why, exc_info=wrong.__cause__)
        followed.reason = why
        now = self.clock.now()
        self.closely.failed(source, now)
        batches = [
            followed.watcher.failed(began, now - began),
            self._presence.note(source.target.subject, _key(source), False, began),
        ]
        self.sink(batches, [])

    async def _drop(self, key: tuple[str, str]) -> None:
        followed = self._followed.pop(key)
        followed.gone = True
        if followed.task is not None:
            followed.task.cancel()
            _, stuck = await asyncio.wait({followed.task}, timeout=PARTING)
            if stuck:
                log.error("%s %s: does not stop; left behind", *key)
        self._presence.forget(followed.source.target.subject, key)
        self.closely.forget(followed.source)
        await _closed(followed.source)

    async def _tell_inventory(self) -> None:
        while True:
            began = self.clock.now()
            batch = self.inventory.batch(began)
            if len(batch):
                self.sink([batch], [])
            self._tell_doubts()
            due = began + INVENTORY_PERIOD
            pause = max(NEWS_PERIOD, (self.clock.now() - began) / NEWS_SHARE)
            await self.clock.sleep(min(pause, INVENTORY_PERIOD))
            while self.clock.now() < due and not self.inventory.has_news:
                await self.clock.sleep(min(NEWS_PERIOD, max(due - self.clock.now(), 0.1)))

    def _tell_doubts(self) -> None:
        """Log what is new about cabling that cannot be as it is told; each once."""
        fresh = [one for one in self.inventory.doubts if one not in self._doubted]
        self._doubted = set(self.inventory.doubts)
        for one in fresh[:MOST_DOUBTS]:
            log.warning("cabling: %s", one)
        if len(fresh) > MOST_DOUBTS:
            log.warning("cabling: %d more; see topology --diff", len(fresh) - MOST_DOUBTS)


def _same(one: Source, other: Source) -> bool:
    return one.target == other.target and one.settings == other.settings


async def _closed(source: Source) -> None:
    """Let a source go; one that hangs or fails at it holds up nobody."""
    try:
        async with asyncio.timeout(PARTING):
            await source.close()
    except Exception:
        log.exception("%s %s: fault of the source when closed", *_key(source))


def _key(source: Source) -> tuple[str, str]:
    return source.target.source, source.target.name
