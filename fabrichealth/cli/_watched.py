"""What the live view looks at: a running daemon by its API, or a site's store and journal."""

import argparse
import http.client
import math
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from fabrichealth.cli._domain_states import DomainState, domain_states
from fabrichealth.cli._found_out import FoundOut
from fabrichealth.cli._incidents import LOCAL, request, rows
from fabrichealth.cli._newest import RECENT, AtDaemon, InStore, Newest
from fabrichealth.cli._picture import Pictures, layout
from fabrichealth.cli._site import load
from fabrichealth.errors import FabricHealthError, SourceUnavailable
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.journal import SqliteJournal

PATIENCE = 5.0
"""Seconds for an answer: who looks at the screen waits for it."""

PICTURED = 10.0
"""Seconds between two looks at all links and devices, which cost the daemon most."""


@dataclass(frozen=True)
class Seen:
    """One look."""

    at: float
    """The watched clock (unix seconds): a daemon's now, or a store's newest reading."""
    incidents: tuple[Mapping[str, Any], ...]
    """Those that are open."""
    domains: tuple[DomainState, ...] | None
    """None where no series are kept, so that nothing is known of them."""
    lacks: str = ""
    """What keeps a daemon from being ready; nothing where all is well."""


class _Pictured(NamedTuple):
    """When all was looked at, and what the watched clock showed then."""

    when: float
    """`time.monotonic`"""
    at: float
    pace: float
    """Watched seconds a second: a demo's time runs faster."""
    domains: tuple[DomainState, ...] | None

    def clock(self) -> float:
        """Return what the watched clock shows now."""
        return self.at + self.pace * (time.monotonic() - self.when)


class Watched(Protocol):
    """Something that can be looked at again and again."""

    name: str
    kept: Newest

    def look(self) -> Seen:
        """Return what is now.

        Raises:
            FabricHealthError: nothing can be seen at present.
        """
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class DaemonWatched:
    """A daemon, by its API; the layout is asked for again when it no longer fits."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.name: str = asked.url or LOCAL
        self.kept: Newest = AtDaemon(asked)
        self._asked = asked
        self._layout: Mapping[str, Any] | None = None
        self._pictured = _Pictured(-math.inf, 0.0, 1.0, None)

    def look(self) -> Seen:
        """Return what the daemon answers.

        Raises:
            SourceUnavailable: it does not, or not to us, or what answers is no daemon of ours.
        """
        try:
            found = rows(self._asked, "/api/v1/incidents?open=true", PATIENCE)
            if time.monotonic() >= self._pictured.when + PICTURED:
                self._picture()
            now = self._pictured
            return Seen(now.clock(), tuple(found), now.domains, self._lacks())
        except (LookupError, TypeError, ValueError) as wrong:
            raise SourceUnavailable(
                f"{self.name}: answers as no daemon of this version does ({wrong!r}); check --url"
            ) from None

    def _picture(self) -> None:
        """Look at all links and devices."""
        picture, when, before = (
            rows(self._asked, "/api/v1/picture", PATIENCE)[0], time.monotonic(), self._pictured
        )  # fmt: skip
        pace = (picture["at"] - before.at) / (when - before.when) if before.at else 1.0
        self._pictured = _Pictured(when, picture["at"], pace, self._domains(picture))

    def _domains(self, picture: Mapping[str, Any]) -> tuple[DomainState, ...] | None:
        """Return how the domains do; asks for the layout where what is known does not fit."""
        if "links" not in picture:
            return None
        if self._layout is not None and self._layout["version"] == picture["layout"]:
            with suppress(ValueError):
                return tuple(domain_states(self._layout, picture))
        self._layout = rows(self._asked, "/api/v1/layout", PATIENCE)[0]
        try:
            return tuple(domain_states(self._layout, picture))
        except ValueError:  # it grew between our two questions
            picture = rows(self._asked, "/api/v1/picture", PATIENCE)[0]
            return tuple(domain_states(self._layout, picture))

    def _lacks(self) -> str:
        """Return why the daemon says that it is not ready."""
        wanted = request(f"{self.name.rstrip('/')}/-/ready", self._asked.token_file)
        try:
            with urllib.request.urlopen(wanted, timeout=PATIENCE):  # noqa: S310 - http(s) only
                return ""
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.read(200).decode("utf-8", "replace").strip()
        except (OSError, http.client.HTTPException):
            return ""  # it answered a moment ago; the next look tells

    def close(self) -> None:
        """Nothing is held open."""


class SiteWatched:
    """A site, by what its daemon writes."""

    def __init__(self, asked: argparse.Namespace) -> None:
        setup = load(asked.config)
        self.name = str(asked.config)
        self._topology = setup.topology
        self._store = setup.store.reader()
        self.kept: Newest = InStore(self._store)
        try:
            self._journal = SqliteJournal.open(StatePaths(setup.site.state).journal, read_only=True)
        except FabricHealthError:
            self._store.close()
            raise
        self._found, self._position = FoundOut(), 0
        self._known: dict[str, dict[str, Any]] = {}
        self._layout = layout(self._topology)
        self._pictures = Pictures(self._store, self._topology)

    def look(self) -> Seen:
        """Return what is kept.

        Raises:
            StoreError: store or journal cannot be read.
        """
        self._found.follow(self._journal)
        while entries := self._journal.since(self._position, "incident"):
            self._position = entries[-1].position
            self._known |= {entry.body["incident"]: entry.body for entry in entries}
        # what is over is not asked for again, and histories are long
        self._known = {name: one for name, one in self._known.items() if one["closed_at"] is None}
        self._store.refresh()
        span = self._store.span()
        at = span[1] if span else 0.0
        self.kept = InStore(self._store)
        domains = domain_states(self._layout, self._pictures.at(at, RECENT))
        found = tuple(self._found.joined(one) for one in self._known.values())
        return Seen(at, found, tuple(domains))

    def close(self) -> None:
        """Let go of store and journal."""
        self._journal.close()
        self._store.close()


def watched(asked: argparse.Namespace) -> Watched:
    """Return what `--config` or `--url` names.

    Raises:
        SiteError: the site file is wrong.
        StoreError: the site has no store or journal yet.
    """
    return DaemonWatched(asked) if asked.config is None else SiteWatched(asked)
