"""The past that judging goes by: incidents that closed, repairs that were made, pages spent.

It lives in the ledger, bounded; who remembers nothing repeats a repair that did not help.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from fabrichealth.model import Incident, Place

REMEMBERED = 180 * 86_400.0
"""Seconds for which a closed incident counts: parts live for years, lots fail within months."""

MOST = 5000
"""Closed incidents kept, the newest."""


@dataclass(frozen=True, slots=True)
class Closed:
    """An incident that closed, unsuppressed."""

    incident: str
    kind: str
    culprit: str
    cause: str
    opened_at: float
    closed_at: float
    modules: tuple[str, ...] = ()
    """Serials of the link's modules at that time."""
    rested: Mapping[str, float] = field(default_factory=dict)
    """What it rested on, witnesses included, and since when; empty where its kind names nothing."""
    severity: int = 0
    """The highest that it reached."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Something done to what was ill."""

    at: float
    action: str
    culprit: str
    cause: str
    failed_at: float | None = None
    """When the fault was seen again; None as long as it stays away."""


@dataclass
class Past:
    """Everything remembered beyond what is open."""

    closed: list[Closed] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    spent: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By incident when it was told as a statistical page, and the chance that it was false."""

    def close(self, incident: Incident, cause: str, modules: Iterable[str]) -> None:
        """Remember an incident that closed."""
        closed_at = incident.closed_at or incident.last_seen
        kind, culprit = incident.kind.name, incident.culprit.id
        one = Closed(
            incident.incident, kind, culprit, cause, incident.opened_at, closed_at, tuple(modules),
            {**incident.grounds, **incident.witnesses}, int(incident.severity),
        )  # fmt: skip
        self.closed.append(one)

    def failed(self, culprit: Place, seen: float, settle: float, within: float) -> None:
        """Note that a fault was seen again after what was done to it."""
        for place, one in enumerate(self.repairs):
            again = one.at + settle < seen <= one.at + within
            if one.culprit == culprit.id and one.failed_at is None and again:
                self.repairs[place] = replace(one, failed_at=seen)

    def forget(self, now: float) -> None:
        """Let go of what is too old to count."""
        if self.closed and (len(self.closed) > MOST or self.closed[0].closed_at < now - REMEMBERED):
            self.closed = [one for one in self.closed if one.closed_at >= now - REMEMBERED][-MOST:]
        if self.repairs and self.repairs[0].at < now - REMEMBERED:
            self.repairs = [one for one in self.repairs if one.at >= now - REMEMBERED]

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        return {
            "closed": [asdict(one) for one in self.closed],
            "repairs": [asdict(one) for one in self.repairs],
            "spent": {name: list(paid) for name, paid in self.spent.items()},
        }


def past_of(plain: Mapping[str, Any]) -> Past:
    """Read back what `to_json` gave.

    Raises:
        TypeError, KeyError, ValueError: it is of another form.
    """
    return Past(
        [Closed(**{**one, "modules": tuple(one["modules"])}) for one in plain.get("closed", ())],
        [Repair(**one) for one in plain.get("repairs", ())],
        {str(name): (float(at), float(chance)) for name, (at, chance) in plain["spent"].items()}
        if "spent" in plain
        else {},
    )
