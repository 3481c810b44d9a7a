"""Incident: one cause, with its victims, as the contract writes it."""

from dataclasses import asdict, dataclass, field

from fabrichealth.kinds import Cause, IncidentKind, Severity
from fabrichealth.model.finding import Evidence, Forecast
from fabrichealth.model.owner import Owner
from fabrichealth.model.place import Place
from fabrichealth.model.remedy import Earlier, Proof, Rung, Word


@dataclass(frozen=True, slots=True)
class Change:
    """A change of kind or severity."""

    at: float
    kind: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class Alternative:
    """A culprit considered and not chosen."""

    culprit: Place
    share: float
    why_not: str


@dataclass(slots=True)
class Incident:
    """One open or closed incident; its id stays, its kind is the gravest it reached."""

    incident: str
    kind: IncidentKind
    severity: Severity
    opened_at: float
    culprit: Place
    because: str
    action: str
    confirmed_at: float | None = None
    closed_at: float | None = None
    last_seen: float = 0.0
    """When its cause was last present; becomes `closed_at`."""
    domain: str | None = None
    side: str | None = None
    direction: str | None = None
    lane: str | None = None
    history: list[Change] = field(default_factory=list)
    victims: list[Place] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    alternatives: list[Alternative] = field(default_factory=list)
    cause: Cause | None = None
    causes: dict[Cause, float] = field(default_factory=dict)
    signs: dict[str, bool] = field(default_factory=dict)
    """What its findings have shown so far, as `Finding.signs`."""
    grounds: dict[str, float] = field(default_factory=dict)
    """What its findings have rested on so far, as `Finding.grounds`, and since when."""
    witnesses: dict[str, float] = field(default_factory=dict)
    """What else has borne witness so far, as `Finding.witnesses`, and since when."""
    score: float = 0.0
    evidence: list[Evidence] = field(default_factory=list)
    forecast: Forecast | None = None
    safe_to_drain: bool | None = None
    safe_because: str | None = None
    data_quality: str = "good"
    suppressed_by: str | None = None
    suppressed_note: str | None = None
    """What who announced the work said of it."""
    owner: Owner = field(default_factory=Owner)
    paged_at: float | None = None
    """When it first was a page and not suppressed."""
    merged_into: str | None = None
    """The incident that turned out to be the same; what is told of it goes on there."""
    held_back: str | None = None
    """Why it is no page though a finding asked for one: see `analyzer.incidents.restraint`."""
    operator: Word | None = None
    earlier: list[Earlier] = field(default_factory=list)
    """The same link or part before, newest last."""
    repair: list[Rung] = field(default_factory=list)
    """What to try, in this order."""
    proof: Proof | None = None
    answers: bool = False
    """Of a device that is cut off: its own agent goes on answering, so it does not restart."""
    by_hand: bool = False
    """Of a device that is dark: all its cables are disabled by configuration, by somebody."""
    dark: bool = False
    """Its culprit is down at this moment; false once it is back, though the incident is open."""

    def to_json(self) -> dict[str, object]:
        """Return the object of contract 5, ready for `json.dumps`."""
        return {
            "incident": self.incident,
            "kind": self.kind.name,
            "severity": str(self.severity),
            "opened_at": self.opened_at,
            "confirmed_at": self.confirmed_at,
            "closed_at": self.closed_at,
            "domain": self.domain,
            "history": [
                {"at": step.at, "kind": step.kind, "severity": str(step.severity)}
                for step in self.history
            ],
            "culprit": {
                "type": self.culprit.type,
                "id": self.culprit.id,
                "side": self.side,
                "direction": self.direction,
                "lane": self.lane,
            },
            "victims": [place._asdict() for place in self.victims],
            "path": self.path,
            "alternatives": [
                {"culprit": other.culprit._asdict(), "share": other.share, "why_not": other.why_not}
                for other in self.alternatives
            ],
            "cause": self.cause.value if self.cause else None,
            "causes": [
                {"cause": cause.value, "probability": round(share, 4)}
                for cause, share in sorted(self.causes.items(), key=lambda pair: -pair[1])
            ],
            "score": self.score,
            "evidence": [one.to_json() for one in self.evidence],
            "because": self.because,
            "forecast": (
                None
                if self.forecast is None
                else {
                    "event": self.forecast.event,
                    "p10": self.forecast.p10,
                    "p50": self.forecast.p50,
                    "p90": self.forecast.p90,
                }
            ),
            "action": self.action,
            "safe_to_drain": self.safe_to_drain,
            "safe_because": self.safe_because,
            "dark": self.dark,
            "data_quality": self.data_quality,
            "suppressed_by": self.suppressed_by,
            "suppressed_note": self.suppressed_note,
            "owner": self.owner._asdict(),
            "merged_into": self.merged_into,
            "held_back": self.held_back,
            "operator": None if self.operator is None else asdict(self.operator),
            "earlier": [asdict(one) for one in self.earlier],
            "repair": [asdict(rung) for rung in self.repair],
            "proof": None if self.proof is None else asdict(self.proof),
        }
