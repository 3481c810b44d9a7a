"""Remedies: what an incident says beyond its fault: what helps, what was before, who judged it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """What an operator said of an incident (events `verdict_*`)."""

    says: str
    """`true` (a real fault), `false` (a false alarm) or `ack` (known, being dealt with)."""
    at: float
    note: str = ""
    silent: bool = False
    """Nobody is told of it any more; until it becomes graver than it was when this was said, or
    rests on something that it did not rest on then."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the repair ladder, the first to try first."""

    action: str
    """As repair events name it: reseat clean replug insert replace .."""
    does: str
    """The same for a person: what is taken into the hands, at which end."""
    success: float
    """Probability that it ends the fault: what is known of it before, and what was seen here."""
    tried: int = 0
    worked: int = 0
    """How often this site did it for this cause, and how often the fault stayed away."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An incident that closed before on the same link, or on a part that is now in this one."""

    incident: str
    kind: str
    culprit: str
    opened_at: float
    closed_at: float
    same: str
    """What is the same: `link`, or `module SERIAL`."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The error-free window after which a repaired link may be trusted again."""

    limit: float
    """The error ratio that it must be shown to keep."""
    bits: float
    """So many without an error show it with 95 % confidence: ln 20 / limit."""
    seconds: float
    """How long the link needs to carry them."""
    clean_from: float | None = None
    """Since when it carries them without an error; None while it errs."""
