"""Event files: JSON lines, read whole or followed as they grow."""

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabrichealth.cli._scope_names import written
from fabrichealth.errors import SiteError
from fabrichealth.events import EVENT_KINDS, Event, parse
from fabrichealth.topology import Topology

log = logging.getLogger(__name__)


FEW = 6
"""So many complaints of one sort are told one by one; of more the count and the first are told."""

FIRST = 3

LONGEST = 160
"""Letters of a complaint among the first: a wrong file may have lines of megabytes."""

ALL_WRITTEN = ("device", "rack", "link", "domain", "loop", "feed")
"""Of these a topology file names every one; ports and branches are often known by reading alone."""


class _Complaints:
    """What is wrong with the lines of one file, of one sort; a wrong file has as many as lines."""

    def __init__(self, path: Path, many: str) -> None:
        self._path = path
        self._many = many
        """What is said of them together, after their count: what they are and what to do."""
        self._first: list[tuple[str, str]] = []
        self._count = 0

    def add(self, where: str, what: str) -> None:
        """Note one: where in the file it stands (`:7`; empty: anywhere), and what is wrong."""
        self._count += 1
        if self._count <= FEW:
            self._first.append((where, what))

    def tell(self) -> None:
        """Warn of each, or of all in one line."""
        if self._count <= FEW:
            for where, what in self._first:
                log.warning("%s%s: %s", self._path, where, what)
            return
        first = [f"{where.replace(':', 'line ', 1)}: {what}" for where, what in self._first[:FIRST]]
        short = (one if len(one) <= LONGEST else f"{one[:LONGEST]}.." for one in first)
        told = "; ".join(one.removeprefix(": ").strip() for one in short)
        log.warning("%s: %d %s (the first: %s)", self._path, self._count, self._many, told)


class EventsFile:
    """A file of events that is followed as it grows; each event in it is news once."""

    def __init__(
        self, path: Path, known: Iterable[Mapping[str, Any]], topology: Topology | None = None
    ) -> None:
        self._path = path
        self._topology = topology or Topology()
        self._known = {_written(plain) for plain in known}
        """What an earlier run has read of it already, from the journal."""
        self._offset = 0
        self._missing = False

    def news(self) -> list[Event]:
        """Return the events that were written since; a file that is missing is told once."""
        try:
            events, self._offset = read_from(self._path, self._offset)
        except SiteError as wrong:
            if not self._missing:
                log.warning("%s; maintenance written there is not known", wrong)
            self._missing = True
            return []
        self._missing = False
        fresh = []
        for event in events:
            plain = _written(event.to_json())
            if plain not in self._known:
                self._known.add(plain)
                fresh.append(event)
        warn_of_strangers(fresh, self._topology, self._path)
        return fresh


def _written(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, sort_keys=True)


def warn_of_strangers(events: Sequence[Event], topology: Topology, path: Path) -> None:
    """Say once of each name in a scope that the topology does not have it; nothing without one."""
    if not topology.devices or not events:
        return
    names = written(topology)
    known = {key: names[key] for key in ALL_WRITTEN}
    told: set[tuple[str, str]] = set()
    strangers = _Complaints(
        path, "names in scopes are not in the topology; check whether both are of this site"
    )
    for event in events:
        for key, name in event.scope.items():
            if key in known and name not in known[key] and (key, name) not in told:
                told.add((key, name))
                what = f"{event.kind} of {key} {name}, which is not in the topology; check the name"
                strangers.add("", what)
    strangers.tell()


def read_events(path: Path) -> list[Event]:
    """Return the events of a file, by time; a line that is none costs itself only.

    Raises:
        SiteError: the file cannot be read.
    """
    events, _ = read_from(path, 0, growing=False)
    return sorted(events, key=lambda event: event.at)


def without_incidents(events: Iterable[Event]) -> list[Event]:
    """Return the events of things, not those of incidents.

    A replay numbers what it finds anew: its i7 is not the i7 that somebody gave a verdict on.
    """
    return [event for event in events if "incident" not in event.scope]


def read_from(path: Path, offset: int, *, growing: bool = True) -> tuple[list[Event], int]:
    """Return the events after a byte offset, and the offset after the last whole line.

    The last line of a file that is `growing` counts once its end is written. A file that became
    shorter was replaced, and is read from its beginning.

    Raises:
        SiteError: the file cannot be read.
    """
    try:
        with path.open("rb") as handle:
            if os.fstat(handle.fileno()).st_size < offset:
                offset = 0
            handle.seek(offset)
            text = handle.read()
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be read ({wrong.strerror}); check events:") from None
    whole = text[: text.rfind(b"\n") + 1] if growing else text
    found: list[Event] = []
    wrong_lines = _Complaints(path, "lines are no events and are skipped; check that it is a file "
                                    "of events, JSON objects one a line")  # fmt: skip
    of_nothing = _Complaints(path, "events without a scope do nothing; name racks, devices, links")
    unknown: dict[str, int] = {}
    for number, line in enumerate(whole.splitlines(), start=1):
        if not line.strip():
            continue
        where = f":{number}" if offset == 0 else f" after byte {offset}"
        try:
            event = _event(line)
        except (ValueError, RecursionError) as wrong:
            wrong_lines.add(where, f"not an event ({wrong}); line skipped")
            continue
        if event.kind not in EVENT_KINDS:
            unknown[event.kind] = unknown.get(event.kind, 0) + 1
            continue
        if event.of_nothing:
            what = f"{event.kind} without a scope does nothing; name a rack, device or link"
            of_nothing.add(where, what)
        found.append(event)
    kinds = _Complaints(path, "kinds of events are unknown and their events skipped; check them")
    for kind, count in unknown.items():
        kinds.add("", f"{count} events of unknown kind {kind!r} skipped")
    for complaints in (wrong_lines, of_nothing, kinds):
        complaints.tell()
    return found, offset + len(whole)


def _event(line: bytes) -> Event:
    """Read one line.

    Raises:
        ValueError, RecursionError: it is no event; the message says why.
    """
    plain = json.loads(line)
    if not isinstance(plain, dict):
        raise ValueError("an object is wanted")
    return parse(plain)
