"""Pushed: what a service tells of its own accord, kept until the next visit.

A stream that breaks off is begun again at a later visit, behind the last event that came; the waits
grow as long as it keeps breaking. One that is silent for long, without even a heartbeat, is begun
again at once: its far end may have gone without a word.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from collectors.maps.columns import Columns
from collectors.protocols.redfish import documents, reports
from collectors.protocols.redfish.server_sent import EventStream
from collectors.redfish.service import Service
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Reason

MOST_KEPT = 2000
"""Events that are kept between two visits; the oldest go first."""

FIRST_WAIT, LONGEST_WAIT = 5.0, 600.0
"""Seconds before a stream that broke off is begun again."""


QUIET = 900.0
"""Seconds for which a stream may be silent."""


class Stream(Protocol):
    """A stream of bytes that begins when it is read."""

    def chunks(self, last_id: str, quiet: float) -> AsyncIterator[bytes]:
        """Yield bytes, behind the event of this id, until so many seconds of silence."""
        ...


class Pushed:
    """The stream of one service."""

    def __init__(self, stream: Callable[[str], Stream]) -> None:
        self._stream = stream
        self._told = EventStream()
        self._kept: deque[tuple[float, str]] = deque(maxlen=MOST_KEPT)
        self._task: asyncio.Task[None] | None = None
        self._again_at = 0.0
        self._wait = FIRST_WAIT
        self._came = 0

    def listen(self, path: str) -> None:
        """Listen to a stream, unless it is listened to, or broke off just now."""
        now = asyncio.get_running_loop().time()
        if self._task is not None and not self._task.done():
            return
        if now >= self._again_at:
            self._task = asyncio.create_task(self._hear(path))

    def take(self, service: Service, at: float, columns: Columns) -> None:
        """Hand over what came since the last visit, and count what was lost."""
        lost = self._told.dropped + max(self._came - len(self._kept), 0)
        if lost:
            columns.refuse(Reason.FAILED, "event", {"device": service.device}, f"{lost} lost")
        self._told.dropped = self._came = 0
        kept = list(self._kept)
        self._kept.clear()
        now = asyncio.get_running_loop().time()
        for came, text in kept:
            try:
                body = documents.document(text)
            except MalformedReply as wrong:
                columns.refuse(Reason.MALFORMED, "event", {"device": service.device}, str(wrong))
                continue
            if isinstance(body, dict):
                _hand(body, service, at - (now - came), columns)

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _hear(self, path: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                heard = loop.time()
                async for chunk in self._stream(path).chunks(self._told.last_id, QUIET):
                    heard = loop.time()
                    events = self._told.feed(chunk)
                    self._kept.extend((heard, text) for text in events)
                    self._came += len(events)
                    self._wait = FIRST_WAIT
                if loop.time() - heard < QUIET:
                    break  # the service ended it
                self._told = EventStream(self._told.last_id, self._told.dropped)
        except SourceUnavailable:
            pass  # readings come by asking as well; it is tried again
        finally:
            self._told = EventStream(self._told.last_id, self._told.dropped)
            self._again_at = loop.time() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)


def _hand(body: dict[str, Any], service: Service, at: float, columns: Columns) -> None:
    """Hand over what came at `at` (unix seconds)."""
    if "MetricValues" in body:
        service.report(body, at, pushed=True)
    else:
        service.hear(reports.messages(body), at, columns)
