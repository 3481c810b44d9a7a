"""Delivery: what was appended, on its way to a server, by a thread of its own.

A request is on disk before anybody is told that it is kept, and goes from there when the server
has taken it. One that the server refuses is halved until what is wrong stands alone: that is
dropped, counted and told, the rest is kept.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from fabrichealth.errors import StoreError
from fabrichealth.store.remote.http import Refused
from fabrichealth.store.remote.spool import Spool

log = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0
"""Seconds between attempts while the server takes nothing."""

PARTING = 5.0
"""Seconds that are given to what waits when we end; the rest is sent after the next start."""

TOO_LARGE = 413

PATIENCE = 200
"""Parts of one request that are tried alone; beyond that the rest of it is dropped at once."""

Halves = Callable[[bytes], tuple[tuple[bytes, int], ...]]


class Sends(Protocol):
    """How a request reaches the server."""

    def __call__(self, body: bytes) -> None:
        """Send; raises `Refused` or `Unavailable`."""
        ...


class Delivery:
    """Sends the requests of a spool in order."""

    def __init__(self, spool: Spool, send: Sends, halves: Halves) -> None:
        self._spool = spool
        self._send = send
        self._halves = halves
        self._news = threading.Condition()
        self._closing = False
        self._silent = ""
        """Why the server takes nothing; empty while it does."""
        self._refused = 0
        self._told = ""
        self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)
        self._thread.start()

    @property
    def spooled(self) -> int:
        """Samples that wait on disk."""
        return self._spool.samples

    @property
    def dropped(self) -> int:
        """Samples that were lost: refused, or gone because the spool was full."""
        return self._refused + self._spool.dropped

    def put(self, body: bytes, samples: int) -> None:
        """Keep a request and send it soon.

        Raises:
            StoreReadOnly: the disk is full.
        """
        self._spool.put(body, samples)
        with self._news:
            self._news.notify_all()

    def flush(self, seconds: float) -> None:
        """Wait until everything was sent.

        Raises:
            StoreError: the server did not take it in time.
        """
        until = time.monotonic() + seconds
        with self._news:
            while self._spool.samples:
                left = until - time.monotonic()
                if left <= 0:
                    raise StoreError(self._silent or f"not all was taken within {seconds:g} s")
                self._news.wait(min(left, 0.1))

    def close(self) -> None:
        """Give what waits a last moment, and stop."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        self._thread.join(PARTING)
        self._spool.close()

    def _run(self) -> None:
        wait = FIRST_WAIT
        while True:
            request = self._spool.oldest()
            if request is None:
                with self._news:
                    self._news.notify_all()
                    if self._closing:
                        return
                    if not self._spool.samples:
                        self._news.wait(1.0)
                continue
            path, body, samples = request
            try:
                self._deliver(body, samples)
            except StoreError as silent:
                self._spool.given_back()
                self._fell_silent(str(silent))
                with self._news:
                    if self._closing:
                        return
                    self._news.wait_for(lambda: self._closing, wait)
                wait = min(2 * wait, LONGEST_WAIT)
                continue
            self._spool.done(path)
            self._speaks()
            wait = FIRST_WAIT

    def _deliver(self, body: bytes, samples: int) -> None:
        """Send a request, what is refused of it in ever smaller parts."""
        parts, tries = [(body, samples)], 0
        while parts:
            part, many = parts.pop()
            try:
                self._send(part)
            except Refused as wrong:
                tries += wrong.status != TOO_LARGE
                smaller = self._halves(part) if tries <= PATIENCE else ()
                if smaller:
                    parts.extend(reversed(smaller))
                    continue
                self._refused += many
                if str(wrong) != self._told:
                    log.error("%s; %d samples dropped, the others are kept", wrong, many)
                self._told = str(wrong)

    def _fell_silent(self, why: str) -> None:
        if not self._silent:
            log.error("%s; readings wait on disk until it takes them", why)
        self._silent = why

    def _speaks(self) -> None:
        if self._silent:
            log.warning("store takes readings again; %d samples wait, sent in order", self.spooled)
        self._silent = ""
