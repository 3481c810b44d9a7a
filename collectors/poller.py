"""Poller: visits every target at its own period, and lets none harm another.

One task per target: phase, period, time-out, back-off with jitter, and a faster rate for a while
when the target itself asks for it. Transitions are logged, ticks are not. What comes home is
checked (`intake`), completed (`inventory`, `watchers`) and handed to the sinks.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from collectors.intake import Bounds, checked
from collectors.inventory import Inventory
from collectors.source import Source
from collectors.watchers import Presence, Watcher
from fabrichealth.errors import FabricHealthError, SourceUnavailable
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

URGENT_SHARE = 0.05
"""At most this share of the targets (one at least) is watched more closely at a time."""

INVENTORY_PERIOD = 60.0

Sink = Callable[[list[Batch], list[Event]], None]


@dataclass
class _Followed:
    """One target under way."""

    source: Source
    watcher: Watcher
    task: asyncio.Task[None] | None = None
    failures: int = 0
    visited: bool = False
    urgent_until: float = 0.0
    urgent_period: float = 0.0
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
    _followed: dict[tuple[str, str], _Followed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.table)
        self._presence = Presence(self.table)
        self._slots = asyncio.Semaphore(self.limit)
        self._suspects = asyncio.Semaphore(self.limit)
        self._housekeeping: asyncio.Task[None] | None = None

    @property
    def targets(self) -> list[Source]:
        """The sources that are followed now."""
        return [followed.source for followed in self._followed.values()]

    @property
    def unvisited(self) -> int:
        """How many targets have not been tried yet."""
        return sum(not followed.visited for followed in self._followed.values())

    async def follow(self, sources: Iterable[Source]) -> None:
        """Follow these sources and no others; those already followed unchanged go on."""
        wanted = {(one.target.source, one.target.name): one for one in sources}
        for key, followed in list(self._followed.items()):
            new = wanted.get(key)
            unchanged = (
                new is not None
                and new.target == followed.source.target
                and new.settings == followed.source.settings
            )
            if unchanged:
                del wanted[key]
            else:
                await self._drop(key)
        for key, source in wanted.items():
            followed = _Followed(source, Watcher(*key, self.table))
            self._followed[key] = followed
            followed.task = asyncio.create_task(self._run(followed), name="/".join(key))
        if self._housekeeping is None:
            self._housekeeping = asyncio.create_task(self._tell_inventory())

    async def stop(self) -> None:
        """Stop all visits and let go of every target."""
        for key in list(self._followed):
            await self._drop(key)
        if self._housekeeping is not None:
            self._housekeeping.cancel()
            await asyncio.gather(self._housekeeping, return_exceptions=True)
            self._housekeeping = None

    async def visit(self, followed: _Followed) -> Poll | None:
        """Read a target once and hand on what came; None if nothing did."""
        source, began = followed.source, self.clock.now()
        gate = self._suspects if followed.failures else self._slots
        try:
            async with gate:
                began = self.clock.now()
                async with asyncio.timeout(source.settings.timeout / self.clock.speed):
                    poll = await source.read(began)
        except TimeoutError:
            self._failed(followed, began, f"no answer within {source.settings.timeout:g} s")
            return None
        except SourceUnavailable as wrong:
            self._failed(followed, began, str(wrong))
            return None
        except FabricHealthError as wrong:
            self._failed(followed, began, str(wrong))
            return None
        except Exception as wrong:
            log.exception("%s %s: fault of the source", source.target.source, source.target.name)
            self._failed(followed, began, f"{type(wrong).__name__}: {wrong}")
            return None
        return self._answered(followed, began, poll)

    async def _run(self, followed: _Followed) -> None:
        source = followed.source
        due = self.clock.now() + self.clock.phase(source.settings.period)
        while True:
            await self.clock.until(due)
            poll = await self.visit(followed)
            followed.visited = True
            if poll is not None:
                self._hurry(followed, poll)
            step = self._step(followed)
            due = max(due + step, self.clock.now() + 0.1 * step)

    def _step(self, followed: _Followed) -> float:
        """Return the seconds from one visit to the next."""
        period = followed.source.settings.period
        if followed.failures > PATIENCE:
            stretched = period * 2.0 ** min(followed.failures - PATIENCE, 16)
            return min(stretched, max(LONGEST_BACKOFF, period)) * self.clock.jitter(0.1)
        if self.clock.now() < followed.urgent_until:
            return min(period, followed.urgent_period)
        return period

    def _hurry(self, followed: _Followed, poll: Poll) -> None:
        """Raise a target's rate for a while, if it asks and the budget allows."""
        urgency = followed.source.urgent(poll)
        if urgency is None:
            return
        now = self.clock.now()
        hurried = sum(one.urgent_until > now for one in self._followed.values())
        budget = max(1, int(URGENT_SHARE * len(self._followed)))
        if hurried < budget or followed.urgent_until > now:
            followed.urgent_until = now + urgency.seconds
            followed.urgent_period = urgency.period

    def _answered(self, followed: _Followed, began: float, raw: Poll) -> Poll:
        source = followed.source
        now = self.clock.now()
        poll = checked(raw, self._bounds, self.table, now, source.settings.stale_after)
        poll = self.inventory.take(poll)
        if followed.failures:
            log.info(
                "%s %s answers again after %d failures",
                source.target.source, source.target.name, followed.failures,
            )  # fmt: skip
        followed.failures, followed.reason = 0, ""
        batches = [
            *poll.batches,
            followed.watcher.answered(poll, began, now - began),
            self._presence.note(source.target.subject, _key(source), True, began),
        ]
        self.sink(batches, poll.events)
        return poll

    def _failed(self, followed: _Followed, began: float, why: str) -> None:
        source = followed.source
        followed.failures += 1
        if followed.reason != why:
            log.warning("%s %s: %s", source.target.source, source.target.name, why)
        followed.reason = why
        now = self.clock.now()
        batches = [
            followed.watcher.failed(began, now - began),
            self._presence.note(source.target.subject, _key(source), False, began),
        ]
        self.sink(batches, [])

    async def _drop(self, key: tuple[str, str]) -> None:
        followed = self._followed.pop(key)
        if followed.task is not None:
            followed.task.cancel()
            await asyncio.gather(followed.task, return_exceptions=True)
        self._presence.forget(followed.source.target.subject, key)
        await followed.source.close()

    async def _tell_inventory(self) -> None:
        while True:
            batch = self.inventory.batch(self.clock.now())
            if len(batch):
                self.sink([batch], [])
            await self.clock.sleep(INVENTORY_PERIOD)


def _key(source: Source) -> tuple[str, str]:
    return source.target.source, source.target.name
