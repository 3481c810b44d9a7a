"""Told: what a scorer needs of one incident object (contract 5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from fabrichealth.kinds import Severity


@dataclass(frozen=True, slots=True)
class Told:
    """One incident; times in unix seconds, `closed` infinite while it is open."""

    incident: str
    kind: str
    severity: Severity
    culprit: str
    side: str | None
    opened: float
    confirmed: float
    """When it became a ticket or a page; when it opened if it never did."""
    closed: float
    counted_from: float | None
    """The first entry of its history that is a ticket or graver."""
    victims: tuple[str, ...] = ()
    cause: str | None = None
    causes: tuple[tuple[str, float], ...] = ()
    """Causes with their probabilities, the likeliest first."""
    suppressed: bool = False
    joined: bool = False
    """Whether it turned out to be one with another incident, which goes on."""
    because: str = ""

    @property
    def pages(self) -> bool:
        """Whether somebody was woken."""
        return self.severity is Severity.PAGE and not self.suppressed

    @property
    def counts(self) -> bool:
        """Whether it is false when nothing was wrong: a page or a ticket, not suppressed."""
        return self.severity >= Severity.TICKET and not self.suppressed

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Told":
        """Read an incident object as `replay --json` prints it."""
        culprit, opened = plain["culprit"], float(plain["opened_at"])
        history = plain["history"]
        graver = [
            float(step["at"])
            for step in history
            if Severity[step["severity"].upper()] >= Severity.TICKET
        ]
        confirmed, closed = plain["confirmed_at"], plain["closed_at"]
        return cls(
            incident=plain["incident"],
            kind=plain["kind"],
            severity=Severity[plain["severity"].upper()],
            culprit=culprit["id"],
            side=culprit["side"],
            opened=opened,
            confirmed=opened if confirmed is None else float(confirmed),
            closed=inf if closed is None else float(closed),
            counted_from=min(graver, default=None),
            victims=tuple(one["id"] for one in plain["victims"]),
            cause=plain["cause"],
            causes=tuple((one["cause"], one["probability"]) for one in plain["causes"]),
            suppressed=plain["suppressed_by"] is not None,
            joined=plain.get("merged_into") is not None,
            because=plain["because"],
        )
