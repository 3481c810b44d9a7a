"""Forwarding: events that a collector's own sources bring, told to analyzers that keep a journal.

Device logs and jobs of a scheduler are no series, so that no shared store carries them; without
this a fleet whose collectors and analyzers are apart would judge without them. Each batch has a
key of its own (`Idempotency-Key`), by which an analyzer that took it and could not say so takes it
once. Telling never waits: what is to be sent is noted, and one task sends it.
"""

import asyncio
import itertools
import logging
import uuid
from collections import deque
from typing import Any

from fabrichealth.events import Event
from fabrichealth.runtime.peer import Peer, PeerError

log = logging.getLogger(__name__)

EVENTS = "/api/v1/events"
KEY = "Idempotency-Key"

AT_ONCE = 200
"""Events of one request."""

HELD = 20_000
"""Events that wait for an analyzer that is away; the oldest go first."""

RETRY = 5.0
"""Seconds between attempts while it does not answer."""

REFUSED = frozenset({400, 413})
"""What it will not take next time either."""


class Forwarding:
    """One analyzer; `tell` it of events, `run` sends until cancelled."""

    def __init__(self, peer: Peer, retry: float = RETRY, held: int = HELD) -> None:
        self.peer = peer
        self._retry = retry
        self._waiting: deque[dict[str, Any]] = deque(maxlen=held)
        self._news = asyncio.Event()
        self._sender, self._number = uuid.uuid4().hex, itertools.count()
        self._away = False
        self.lost = 0
        """Events that nobody will hear of: too many waited, or it refused them."""

    @property
    def name(self) -> str:
        """Whom it tells, as messages and metrics show it."""
        return self.peer.shown

    @property
    def up(self) -> bool:
        """Whether it took what it was told last."""
        return not self._away

    def tell(self, event: Event) -> None:
        """Note an event; it is sent soon."""
        if len(self._waiting) == self._waiting.maxlen:
            if not self.lost:
                log.error("%s: %d events wait, the oldest go", self.name, len(self._waiting))
            self.lost += 1
        self._waiting.append(event.to_json())
        self._news.set()

    async def run(self) -> None:
        """Send what is new, and again what was not heard."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                most = min(AT_ONCE, len(self._waiting))
                await self._send([self._waiting.popleft() for _ in range(most)])

    async def _send(self, batch: list[dict[str, Any]]) -> None:
        """Send one batch until it is taken, or refused for what it is."""
        key = {KEY: f"{self._sender}-{next(self._number)}"}
        while True:
            try:
                await self.peer.ask("POST", EVENTS, batch, key)
            except PeerError as wrong:
                if wrong.status in REFUSED:
                    log.error("%d events are not taken and left out: %s", len(batch), wrong)
                    self.lost += len(batch)
                    return
                if not self._away:
                    log.error("takes no events, tried again until it does: %s", wrong)
                self._away = True
                await asyncio.sleep(self._retry)
            else:
                if self._away:
                    log.warning("%s takes events again", self.name)
                self._away = False
                return
