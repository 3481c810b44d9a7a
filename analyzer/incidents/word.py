"""The operator's word on incidents: true, false or ack (events `verdict_*`, contract 4).

`ack` and `false` silence: nobody is told of the incident again, but it stays visible and keeps
its series. Silence holds for what it was when the word was said; if it becomes graver, it is
told of again, and so it is if it turns out to be something graver: a storm that is a deadlock. And
so it is if it rests on something new, as grave as it was: another rope of the same loop, a breaker
that was a little over its limit and is about to trip. What only bears witness to the same (the
level that falls while a rope is wet) is no news to who said `ack`; to who said `false` it is.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabrichealth.events import Event
from fabrichealth.kinds import KINDS, IncidentKind, Severity
from fabrichealth.model import Finding, Incident, Word

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
        was = grave_at(incident, said.at)
        graver = incident.severity > was[0] or incident.kind.gravity > was[1]
        since = [*incident.grounds.values()]
        since += incident.witnesses.values() if word == "false" else ()
        other = any(at > said.at for at in since)
        silent = word in SILENCES and not graver and not other
        incident.operator = Word(word, said.at, said.note, silent)
    return before != incident.operator


UNRELATED = frozenset({"loop", "branch", "feed", "rack"})
"""Types of culprits whose kinds are faults of their own: a loop whose pump wears may leak as well.

Of a link or port they are stages of one fault, which gravity orders."""


def grounds_of(finding: Finding) -> list[str]:
    """Return what a finding rests on, by name within its incident."""
    kind = finding.kind
    if finding.grounds or finding.witnesses:
        return [named(kind, ground) for ground in finding.grounds]
    return [str(kind)] if kind.culprit in UNRELATED else []


def witnesses_of(finding: Finding) -> list[str]:
    """Return what else bears witness to a finding, by name within its incident."""
    return [named(finding.kind, witness) for witness in finding.witnesses]


def named(kind: IncidentKind, what: str) -> str:
    """Return the name that a ground or witness has within its incident."""
    return f"{kind}: {what}"


def grave_at(incident: Incident, at: float) -> tuple[Severity, int]:
    """Return the severity, and the gravity of its kind, that an incident had reached at a moment.

    Before it began: what it began with.
    """
    steps = [step for step in incident.history if step.at <= at] or incident.history[:1]
    return (
        max((step.severity for step in steps), default=incident.severity),
        max((KINDS[step.kind].gravity for step in steps), default=incident.kind.gravity),
    )


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
