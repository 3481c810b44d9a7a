"""Looking again and again, beside whoever draws: a target that hangs never holds up a key."""

import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from fabrichealth.cli._readings import Reading, readings
from fabrichealth.cli._watched import Seen, Watched
from fabrichealth.errors import FabricHealthError

AGAIN = 2.0
"""Seconds between two looks."""

STALLED = 60.0
"""Seconds for which the watched clock may stand still before it is told."""

TOLD = 60.0
"""Seconds for which it is told that what was away is back."""

LEAVING = 0.5
"""Seconds that whoever leaves waits for a look that has begun."""


class Now(NamedTuple):
    """What is known at present; handed from the thread that looks to the one that draws."""

    seen: Seen
    trouble: str = ""
    """Why what is seen is not of now; nothing while all is well."""
    since: float = 0.0
    """`time.monotonic()` when the trouble began, or when the last one ended."""
    away: float = 0.0
    """Seconds for which the last trouble lasted; 0 where there was none lately."""
    of: str = ""
    """The incident whose readings follow."""
    readings: tuple[Reading, ...] | None = None
    """None while they are not known, or cannot be had."""


class Following:
    """Looks at something in a thread; `now` is the newest that is known."""

    def __init__(self, watched: Watched, every: float = AGAIN) -> None:
        """Look once, and begin to follow.

        Raises:
            FabricHealthError: nothing can be seen at all.
        """
        self._watched, self._every = watched, every
        try:
            self.now = Now(watched.look())
        except FabricHealthError:
            watched.close()
            raise
        self._moved = time.monotonic()
        self._wanted: Mapping[str, Any] | None = None
        self._wake, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._follow, name="following", daemon=True)
        self._thread.start()

    def want(self, incident: Mapping[str, Any] | None) -> None:
        """Ask for the readings of an incident; they come with a later `now`."""
        before, self._wanted = self._wanted, incident
        if incident is not None and (before is None or before["incident"] != incident["incident"]):
            self._wake.set()

    def stop(self) -> None:
        """Follow no more, and let go of what was looked at; a look that hangs ends with us."""
        self._over.set()
        self._wake.set()
        self._thread.join(LEAVING)
        if not self._thread.is_alive():
            self._watched.close()

    def _follow(self) -> None:
        due = time.monotonic() + self._every
        while not self._over.is_set():
            woken = self._wake.wait(max(due - time.monotonic(), 0.0))
            self._wake.clear()
            if self._over.is_set():
                return
            if not woken or time.monotonic() >= due:
                due = time.monotonic() + self._every
                self._look()
            self._read()

    def _look(self) -> None:
        try:
            seen = self._watched.look()
        except FabricHealthError as wrong:
            self._trouble(str(wrong))
            return
        now = time.monotonic()
        if seen.at > self.now.seen.at:
            self._moved = now
        self.now = self.now._replace(seen=seen)
        if now - self._moved > STALLED:
            self._trouble("nothing new is written; is `fabrichealth run` up")
        elif self.now.trouble:
            self.now = self.now._replace(trouble="", since=now, away=now - self.now.since)
        elif self.now.away and now - self.now.since > TOLD:
            self.now = self.now._replace(away=0.0)

    def _trouble(self, why: str) -> None:
        since = self.now.since if self.now.trouble else time.monotonic()
        self.now = self.now._replace(trouble=why, since=since)

    def _read(self) -> None:
        """Read what is wanted; where it cannot be had, what is seen counts all the same."""
        wanted = self._wanted
        if wanted is None:
            return
        try:
            found = tuple(readings(wanted, self._watched.kept))
        except FabricHealthError:
            if self.now.of != wanted["incident"]:
                self.now = self.now._replace(of=wanted["incident"], readings=None)
            return
        self.now = self.now._replace(of=wanted["incident"], readings=found)
