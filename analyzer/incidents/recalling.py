"""Recalling: what was called false stays so for a while, though its incident closed meanwhile.

A rope that is broken is wet again and again, and each dry spell of a hold-down ends its incident.
Who said `false` of it spoke of that rope at that place: as long as nothing else joins it, and it is
no graver than it was, an incident that opens anew is silent from the start. It stays visible, and
its own word, or a newer one on the same ground, counts instead.

That is so of what stands there and is known to be wrong, or not to matter: a rope, a supply that is
spare. Of what happens (a storm, a burst, a pump that stops, a breaker that is about to trip, a
level that falls) the word holds for that incident: the next one of the same port or loop is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.incidents.word import SAYS, named
from analyzer.past import Closed
from fabrichealth.events import Event
from fabrichealth.kinds import COOLING_LEAK, POWER_SUPPLY_FAILED
from fabrichealth.model import Incident, Word

FALSE_HOLDS = 7 * 86_400.0
"""Seconds: until then a sensor can be replaced; a year later it may well be right."""


STANDS = (named(COOLING_LEAK, "rope "), named(POWER_SUPPLY_FAILED, ""))
"""How grounds begin that are sensors and units; all others are something that happens."""


@dataclass(frozen=True)
class Earlier:
    """The newest word on one ground at one place, and how grave it was."""

    event: Event
    severity: int


Words = Mapping[tuple[str, str], Earlier]
"""By (culprit, ground)."""


def said_earlier(closed: Sequence[Closed], said: Mapping[str, Event], since: float) -> Words:
    """Return what was said since a moment of the grounds of incidents that closed."""
    found: dict[tuple[str, str], Earlier] = {}
    spoken = [(said[one.incident], one) for one in closed if one.incident in said]
    for event, one in sorted(spoken, key=lambda pair: pair[0].at):
        for ground, at in one.rested.items():
            if event.at >= since and at <= event.at:
                found[one.culprit, ground] = Earlier(event, one.severity)
    return found


def recall(incident: Incident, earlier: Words) -> bool:
    """Bring an incident of which nobody spoke to what was said before; return whether it changed.

    Only grounds that stand there count: what happens may be real the next time.
    """
    before = incident.operator
    rests = [*incident.grounds, *incident.witnesses]
    words = [earlier.get((incident.culprit.id, ground)) for ground in rests]
    known = [one for one in words if one is not None and _is_false(one, incident)]
    stands = all(ground.startswith(STANDS) for ground in rests)
    if rests and stands and len(known) == len(rests):
        event = max((one.event for one in known), key=lambda event: event.at)
        note = f"said of {event.scope['incident']}"
        note += f": {event.note}" if event.note else ""
        incident.operator = Word("false", event.at, note, silent=True)
    elif before is not None and before.at < incident.opened_at:
        incident.operator = replace(before, silent=False)
    return before != incident.operator


def _is_false(one: Earlier, incident: Incident) -> bool:
    return SAYS[one.event.kind] == "false" and incident.severity <= one.severity
