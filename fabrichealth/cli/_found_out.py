"""What operators found out: the cause, culprit and side that a verdict named.

The analyzer goes by the word alone; whoever reads of the incident later wants to know what it was.
"""

from collections.abc import Mapping
from typing import Any

from fabrichealth.cli._truths import DECIDES
from fabrichealth.events import Event, parse
from fabrichealth.store.protocol import Journal

FACTS = ("cause", "culprit", "side")


class FoundOut:
    """What was found out of each incident, read from a journal as it grows."""

    def __init__(self) -> None:
        self._position = 0
        self._last: dict[str, Event] = {}

    def follow(self, journal: Journal) -> None:
        """Take what the journal holds since; the last word on an incident counts."""
        while entries := journal.since(self._position, "event"):
            self._position = entries[-1].position
            for entry in entries:
                if entry.body.get("kind") in DECIDES:
                    self._note(parse(entry.body))

    def joined(self, incident: Mapping[str, Any]) -> dict[str, Any]:
        """Return an incident object, with `found` where anything was found out."""
        said = self._last.get(incident["incident"])
        facts = {fact: str(said.more[fact]) for fact in FACTS if fact in said.more} if said else {}
        return {**incident, "found": facts} if facts else dict(incident)

    def _note(self, event: Event) -> None:
        name = event.scope.get("incident", "")
        before = self._last.get(name)
        if before is None or event.at >= before.at:
            self._last[name] = event
