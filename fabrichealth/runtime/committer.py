"""Committer: gathers batches and hands them to the store once a second (group commit).

The store blocks, so it works in a thread. A store that is full drops what comes, counted and
said once; when it takes again, that is said too.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from fabrichealth.errors import StoreError
from fabrichealth.model import Batch
from fabrichealth.runtime.clock import Clock
from fabrichealth.store.protocol import Store

log = logging.getLogger(__name__)


class Committer:
    """Appends what it was given, at most `every` seconds later."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        every: float = 1.0,
        maintain: Callable[[], object] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._every = every
        self._maintain = maintain
        """The store's own housekeeping, called after each commit in the same thread."""
        self._waiting: list[Batch] = []
        self._refusing = False
        self.dropped = 0
        """Samples lost because the store did not take them."""

    def add(self, batches: list[Batch]) -> None:
        """Queue batches for the next commit."""
        self._waiting.extend(batches)

    async def run(self) -> None:
        """Commit until cancelled, then commit what is left."""
        try:
            while True:
                await self._clock.sleep(self._every)
                await self.flush()
        finally:
            with contextlib.suppress(StoreError):
                self._store.append(self._taken())

    async def flush(self) -> None:
        """Commit now; returns when the store has acknowledged."""
        batches = self._taken()
        if not batches:
            return
        try:
            await asyncio.to_thread(self._commit, batches)
        except StoreError as wrong:
            self.dropped += sum(len(batch) for batch in batches)
            if not self._refusing:
                log.error("store takes nothing: %s", wrong)
            self._refusing = True
        else:
            if self._refusing:
                log.warning("store takes readings again; %d samples were lost", self.dropped)
            self._refusing = False

    def _commit(self, batches: list[Batch]) -> None:
        self._store.append(batches)
        if self._maintain is not None:
            self._maintain()

    def _taken(self) -> list[Batch]:
        batches, self._waiting = self._waiting, []
        return batches
