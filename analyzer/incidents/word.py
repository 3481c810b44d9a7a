"""The operator's word on incidents: true, false or ack (events `verdict_*`, contract 4).

`ack` and `false` silence: nobody is told of the incident again, but it stays visible and keeps
its series. Silence holds for what it was when the word was said; if it becomes graver, it is
told of again.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabrichealth.events import Event
from fabrichealth.kinds import Severity
from fabrichealth.model import Incident, Word

SAYS = {"verdict_true": "true", "verdict_false": "false", "verdict_ack": "ack"}

SILENCES = frozenset({"false", "ack"})


def words(events: Iterable[Event]) -> dict[str, Event]:
    """Return the last word said of each incident, by its id; events come oldest first."""
    return {
        event.scope["incident"]: event
        for event in events
        if event.kind in SAYS and "incident" in event.scope
    }


def heed(incident: Incident, said: Event | None) -> bool:
    """Bring an incident to what was said of it; return whether that changed.

    A word that is forgotten with the events of last month stays said.
    """
    before = incident.operator
    if said is not None:
        word = SAYS[said.kind]
        silent = word in SILENCES and incident.severity <= severity_at(incident, said.at)
        incident.operator = Word(word, said.at, said.note, silent)
    return before != incident.operator


def severity_at(incident: Incident, at: float) -> Severity:
    """Return how grave an incident was at a moment; what it began with, before it began."""
    reached = [step.severity for step in incident.history if step.at <= at]
    return max(reached or [step.severity for step in incident.history[:1]] or [incident.severity])


@dataclass(frozen=True)
class Record:
    """How often incidents of each kind were called true and false."""

    true: Counter[str]
    false: Counter[str]

    def chance_false(self, kind: str) -> float:
        """Return the chance that an incident of a kind is false, by what was said of others."""
        said = self.true[kind] + self.false[kind]
        return (self.false[kind] + PRIOR_FALSE) / (said + PRIOR_FALSE + PRIOR_TRUE)


PRIOR_FALSE, PRIOR_TRUE = 0.5, 9.5
"""Before anybody said anything: one in twenty is false, and ten verdicts outweigh that belief."""


def record(said: dict[str, Event], kinds: Sequence[tuple[str, str]]) -> Record:
    """Return what was said by kind; `kinds` are (incident, kind) of all that are remembered."""
    true: Counter[str] = Counter()
    false: Counter[str] = Counter()
    for name, kind in kinds:
        word = SAYS[said[name].kind] if name in said else ""
        true[kind] += word == "true"
        false[kind] += word == "false"
    return Record(true, false)
