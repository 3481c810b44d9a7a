"""Spans: what is told by a start and an end (a maintenance, a drill), as the time it takes.

An end ends what bears its id, else what has its very scope, unless both have an id: the product's
own command makes up an id for a start and none for an end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from fabrichealth.events import Event


@dataclass(frozen=True, slots=True)
class Span:
    """A time (unix seconds) in which something goes on in a scope."""

    start: float
    end: float
    scope: Mapping[str, str]
    id: str
    note: str = ""

    @property
    def name(self) -> str:
        """Its id, else the first name of its scope."""
        return self.id or next(iter(self.scope.values()), "")


def spans(events: Iterable[Event], what: str, longest: float = inf) -> list[Span]:
    """Return every `what` (maintenance, drill) that events in order of time tell of.

    One that nobody ended is over at its start's `until` (unix seconds), else after `longest`
    seconds.
    """
    found: list[Span] = []
    for event in events:
        if event.kind == f"{what}_start":
            end = _until(event, event.at + longest)
            found.append(Span(event.at, end, event.scope, event.id, event.note))
        elif event.kind == f"{what}_end":
            for place in _ended(found, event):
                found[place] = replace(found[place], end=event.at)
    return found


def _ended(found: Sequence[Span], event: Event) -> list[int]:
    """Return which of those that go on an end ends, by their places."""
    going = [place for place, one in enumerate(found) if one.start <= event.at < one.end]
    mine = [place for place in going if event.id and found[place].id == event.id]
    return mine or [
        place
        for place in going
        if found[place].scope == event.scope and not (event.id and found[place].id)
    ]


def _until(start: Event, otherwise: float) -> float:
    """Return when a start says that it will be over; one that says nothing usable is ignored."""
    until = start.more.get("until")
    if isinstance(until, bool) or not isinstance(until, int | float) or not until > start.at:
        return otherwise
    return float(until)
