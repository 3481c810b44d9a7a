"""Finding: what a detector says of one thing at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabrichealth.kinds import Cause, IncidentKind, Severity
from fabrichealth.metric import Metric
from fabrichealth.model.place import Place, Port


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reading beside what it should be; `says` puts the comparison in words."""

    metric: Metric
    labels: Mapping[str, str]
    value: float
    expected: float | None
    unit: str
    at: float
    says: str

    def to_json(self) -> dict[str, Any]:
        """Return the object of contract 5, which the ledger keeps as well."""
        return {
            "metric": str(self.metric),
            "labels": dict(self.labels),
            "value": self.value,
            "expected": self.expected,
            "unit": self.unit,
            "at": self.at,
            "says": self.says,
        }


@dataclass(frozen=True, slots=True)
class Forecast:
    """When something is expected: unix seconds of the 10, 50 and 90 % quantile."""

    event: str
    """limit_reached, link_down, trip or empty."""
    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One opinion. Score 1.0 is the threshold of the detector's settings."""

    kind: IncidentKind
    about: Port | Place
    """The thing measured; incidents lift it to the culprit by the kind's row."""
    score: float
    since: float
    """First evidence counted, unix seconds."""
    at: float
    evidence: list[Evidence]
    because: str
    """One sentence: a number, its unit, compared with what."""
    causes: Mapping[Cause, float] = field(default_factory=dict)
    side: Port | None = None
    direction: str | None = None
    lane: str | None = None
    forecast: Forecast | None = None
    severity: Severity | None = None
    """Graver than the kind's least, where the finding says so."""
    victims: tuple[Place, ...] = ()
    """What this finding itself explains, beyond what the topology says."""
    signs: Mapping[str, bool] = field(default_factory=dict)
    """What the parts at both ends show, `symptom@device/port`: present or absent. What was not
    read is not in it. Those of all findings on one culprit speak jointly for cause and side."""
    grounds: tuple[str, ...] = ()
    """What it rests on, a word each: ropes, limits, units. One that is new after an operator's
    word is something he did not speak of, however grave it was already."""
    witnesses: tuple[str, ...] = ()
    """What else bears witness to the same, a word each: a level that falls beside a rope. A new one
    is no news to who deals with it (`ack`), but it is to who called it false."""
    detail: Mapping[str, float] = field(default_factory=dict)
    """Numbers a detector wants back at its next pass, in `view.before`."""

    @property
    def rank(self) -> Severity:
        """Severity, never below the kind's least."""
        return max(self.severity or self.kind.severity, self.kind.severity)
