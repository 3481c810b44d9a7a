"""Findings as the ledger keeps them between passes, written as JSON and read back."""

from collections.abc import Mapping
from typing import Any

from fabrichealth.catalogue import METRICS
from fabrichealth.kinds import KINDS, Cause, Severity
from fabrichealth.model import Evidence, Finding, Forecast, Place, Port, place_of


def to_evidence(plain: Mapping[str, Any]) -> Evidence:
    """Read a line of evidence back.

    Raises:
        KeyError: a metric that this version does not know, or a field missing.
    """
    return Evidence(
        METRICS[plain["metric"]],
        plain["labels"],
        float("nan") if plain["value"] is None else plain["value"],
        plain["expected"],
        plain["unit"],
        plain["at"],
        plain["says"],
    )


def finding_json(one: Finding) -> dict[str, Any]:
    """Return a finding as the ledger keeps it."""
    return {
        "kind": one.kind.name,
        "about": [*place_of(one.about)],
        "score": one.score,
        "since": one.since,
        "at": one.at,
        "evidence": [line.to_json() for line in one.evidence],
        "because": one.because,
        "causes": {cause.value: share for cause, share in one.causes.items()},
        "side": str(one.side) if one.side else None,
        "direction": one.direction,
        "lane": one.lane,
        "severity": None if one.severity is None else int(one.severity),
        "victims": [[*place] for place in one.victims],
        "signs": dict(one.signs),
        "grounds": list(one.grounds),
        "witnesses": list(one.witnesses),
        "detail": dict(one.detail),
        "forecast": None if one.forecast is None else _forecast(one.forecast),
    }


def _forecast(one: Forecast) -> dict[str, Any]:
    return {"event": one.event, "p10": one.p10, "p50": one.p50, "p90": one.p90}


def to_finding(plain: Mapping[str, Any]) -> Finding:
    """Read a finding back.

    Raises:
        KeyError: a kind that this version does not know, or a field missing.
    """
    type_, name = plain["about"]
    return Finding(
        kind=KINDS[plain["kind"]],
        about=Port.parse(name) if type_ == "port" else Place(type_, name),
        score=plain["score"],
        since=plain["since"],
        at=plain["at"],
        evidence=[to_evidence(line) for line in plain["evidence"]],
        because=plain["because"],
        causes={Cause(cause): share for cause, share in plain["causes"].items()},
        side=Port.parse(plain["side"]) if plain["side"] else None,
        direction=plain["direction"],
        lane=plain["lane"],
        severity=None if plain["severity"] is None else Severity(plain["severity"]),
        victims=tuple(Place(*place) for place in plain["victims"]),
        signs=plain.get("signs", {}),
        grounds=tuple(plain.get("grounds", ())),
        witnesses=tuple(plain.get("witnesses", ())),
        detail=plain["detail"],
        forecast=None if plain["forecast"] is None else Forecast(**plain["forecast"]),
    )
