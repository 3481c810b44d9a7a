"""Where a daemon's readings go, and where questions are answered from."""

import asyncio

import numpy as np

from fabrichealth.catalogue.watchers import DROPPED_SAMPLES, SPOOLED_SAMPLES
from fabrichealth.model import Batch
from fabrichealth.runtime.clock import Clock
from fabrichealth.runtime.committer import Committer
from fabrichealth.store.engine import AnyEngine
from fabrichealth.store.protocol import Store


class Stores:
    """The store that a daemon writes to, and the same or another one that it reads.

    On a server the two have numbers of their own: what is read there, of all collectors, does not
    fill the table of those that one collector polls.
    """

    def __init__(self, engine: AnyEngine, clock: Clock, *, answers: bool) -> None:
        """`answers` says whether the daemon is asked for series.

        Raises:
            StoreError: the store cannot be used.
        """
        self._clock = clock
        self.writer = engine.writer()
        self.reader: Store | None = None
        if answers:
            self.reader = engine.reader() if engine.shared else self.writer
        self.committer = Committer(self.writer, clock, maintain=self._maintain)

    def watched(self, part: str) -> Batch:
        """Return what waits for the store and what it lost; `part` names this writer of several."""
        table = self.writer.table
        series = table.intern_all([(SPOOLED_SAMPLES, ()), (DROPPED_SAMPLES, ())])
        dropped = self.committer.dropped + self.writer.dropped
        values = np.array([float(self.writer.spooled), float(dropped)])
        return Batch(table.clock("watchers", f"store{part}"), self._clock.now(), series, values)

    async def close(self) -> None:
        """Let go of both."""
        await asyncio.to_thread(self.writer.close)
        if self.reader is not None and self.reader is not self.writer:
            self.reader.close()

    def _maintain(self) -> None:
        """Let the store keep house; what is too old is told by our clock, not by a device's."""
        self.writer.maintain(now=self._clock.now())
