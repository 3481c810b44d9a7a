"""Ledger: what survives a restart of the judging: last findings, open incidents, counts.

One JSON file under `state:`, replaced atomically after each pass that changed it. A file that
cannot be read is set aside with a warning; judging then starts from the store alone.
"""

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson

from analyzer.kept_findings import finding_json, to_evidence, to_finding
from analyzer.past import Past, past_of
from analyzer.recovery.counting import Recoveries, recoveries_of
from fabrichealth.kinds import KINDS, Cause, Severity
from fabrichealth.model import (
    Alternative,
    Change,
    Earlier,
    Finding,
    Forecast,
    Incident,
    Owner,
    Place,
    Proof,
    Rung,
    Word,
)

log = logging.getLogger(__name__)

Row = TypeVar("Row")


@dataclass
class Ledger:
    """Everything that judging remembers beyond the store."""

    before: dict[str, list[Finding]] = field(default_factory=dict)
    """Last findings by detector."""
    incidents: list[Incident] = field(default_factory=list)
    """Open incidents."""
    merged: list[Incident] = field(default_factory=list)
    """Incidents that others explain for now; they go on once they are explained no longer."""
    opened: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Incidents opened by (kind, severity, domain)."""
    paged: dict[str, int] = field(default_factory=dict)
    """Incidents that became a page, by domain."""
    sequence: int = 0
    """Number of the last incident."""
    kept: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """By detector what its verdict series remember, such as states with their dwell."""
    renamed: set[tuple[float, str, str]] = field(default_factory=set)
    """Renames of ports (at, from, to) that findings and incidents have followed."""
    past: Past = field(default_factory=Past)
    """Incidents that closed, repairs, pages spent."""
    recoveries: Recoveries = field(default_factory=Recoveries)
    """How long recoveries took, and those that wait to be counted."""


def save(ledger: Ledger, path: Path) -> None:
    """Replace the file atomically; what it held before survives a crash in between."""
    text = orjson.dumps(
        {
            "sequence": ledger.sequence,
            "renamed": sorted(ledger.renamed),
            "kept": ledger.kept,
            "past": ledger.past.to_json(),
            "recoveries": ledger.recoveries.to_json(),
            "paged": ledger.paged,
            "opened": [[*key, count] for key, count in ledger.opened.items()],
            "before": {
                name: [finding_json(one) for one in found] for name, found in ledger.before.items()
            },
            "incidents": [_incident(one) for one in ledger.incidents],
            "merged": [_incident(one) for one in ledger.merged],
        },
        option=orjson.OPT_SERIALIZE_NUMPY,
    )
    draft = path.with_suffix(".draft")
    with draft.open("wb") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    draft.replace(path)


def _incident(one: Incident) -> dict[str, Any]:
    beyond = {"last_seen": one.last_seen, "answers": one.answers, "by_hand": one.by_hand,
              "signs": one.signs, "grounds": one.grounds, "witnesses": one.witnesses,
              "paged_at": one.paged_at}  # fmt: skip
    return {**one.to_json(), **beyond}


def load(path: Path) -> Ledger:
    """Return the ledger of a state folder; an empty one if there is none, or none to be read.

    A finding or an incident that this version cannot read (a kind it does not know, a field
    missing) is left out with a warning; the others stay.
    """
    try:
        plain = orjson.loads(path.read_bytes())
        before = {
            str(name): _readable(path, found, to_finding) for name, found in plain["before"].items()
        }
        incidents = _readable(path, plain["incidents"], to_incident)
        merged = _readable(path, plain.get("merged", ()), to_incident)
        opened = {(str(k), str(s), str(d)): int(n) for k, s, d, n in plain["opened"]}
        paged = {str(domain): int(n) for domain, n in plain.get("paged", {}).items()}
        renamed = {(float(at), str(a), str(b)) for at, a, b in plain.get("renamed", ())}
        kept = {
            str(name): {str(key): [float(one) for one in row] for key, row in rows.items()}
            for name, rows in plain.get("kept", {}).items()
        }
        past = past_of(plain.get("past", {}))
        recoveries = recoveries_of(plain.get("recoveries", {}))
        return Ledger(
            before, incidents, merged, opened, paged, int(plain["sequence"]), kept, renamed,
            past, recoveries,
        )  # fmt: skip
    except FileNotFoundError:
        return Ledger()
    except (OSError, *UNREADABLE) as wrong:
        aside = path.with_suffix(".unreadable")
        log.warning("%s: cannot be read (%s); set aside as %s", path, wrong, aside.name)
        try:
            path.replace(aside)
        except OSError as stuck:
            log.warning("%s: cannot be set aside either (%s)", path, stuck)
        return Ledger()


UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, OverflowError)


def _readable(path: Path, rows: Iterable[Any], read: Callable[[Any], Row]) -> list[Row]:
    """Return the rows that can be read; each of the others is a warning."""
    found: list[Row] = []
    for row in rows:
        try:
            found.append(read(row))
        except UNREADABLE as wrong:
            log.warning("%s: an entry cannot be read (%r); it is left out", path, wrong)
    return found


def to_incident(plain: Mapping[str, Any]) -> Incident:
    """Read an incident object of contract 5 back.

    Raises:
        KeyError: a kind or metric that this version does not know, or a field missing.
    """
    culprit = plain["culprit"]
    return Incident(
        incident=plain["incident"],
        kind=KINDS[plain["kind"]],
        severity=Severity[plain["severity"].upper()],
        opened_at=plain["opened_at"],
        confirmed_at=plain["confirmed_at"],
        closed_at=plain["closed_at"],
        last_seen=plain.get("last_seen", plain["closed_at"] or plain["opened_at"]),
        answers=bool(plain.get("answers", False)),
        by_hand=bool(plain.get("by_hand", False)),
        dark=bool(plain.get("dark", False)),
        domain=plain["domain"],
        history=[
            Change(step["at"], step["kind"], Severity[step["severity"].upper()])
            for step in plain["history"]
        ],
        culprit=Place(culprit["type"], culprit["id"]),
        side=culprit["side"],
        direction=culprit["direction"],
        lane=culprit["lane"],
        victims=[Place(one["type"], one["id"]) for one in plain["victims"]],
        path=list(plain["path"]),
        alternatives=[
            Alternative(
                Place(other["culprit"]["type"], other["culprit"]["id"]),
                other["share"],
                other["why_not"],
            )
            for other in plain["alternatives"]
        ],
        cause=Cause(plain["cause"]) if plain["cause"] else None,
        causes={Cause(one["cause"]): one["probability"] for one in plain["causes"]},
        signs=dict(plain.get("signs", {})),
        grounds=dict(plain.get("grounds", {})),
        witnesses=dict(plain.get("witnesses", {})),
        score=plain["score"],
        evidence=[to_evidence(line) for line in plain["evidence"]],
        because=plain["because"],
        forecast=None if plain["forecast"] is None else Forecast(**plain["forecast"]),
        action=plain["action"],
        safe_to_drain=plain["safe_to_drain"],
        safe_because=plain["safe_because"],
        data_quality=plain["data_quality"],
        suppressed_by=plain["suppressed_by"],
        suppressed_note=plain.get("suppressed_note"),
        owner=Owner(**plain.get("owner", {})),
        paged_at=plain.get("paged_at"),
        merged_into=plain.get("merged_into"),
        held_back=plain.get("held_back"),
        operator=_maybe(Word, plain.get("operator")),
        earlier=[Earlier(**one) for one in plain.get("earlier", ())],
        repair=[Rung(**one) for one in plain.get("repair", ())],
        proof=_maybe(Proof, plain.get("proof")),
    )


def _maybe(kind: Callable[..., Row], plain: Mapping[str, Any] | None) -> Row | None:
    return None if plain is None else kind(**plain)


def copy_of(incident: Incident) -> Incident:
    """Return an incident that later changes of the ledger's own leave alone."""
    return replace(
        incident,
        history=list(incident.history),
        victims=list(incident.victims),
        alternatives=list(incident.alternatives),
        signs=dict(incident.signs),
        grounds=dict(incident.grounds),
        witnesses=dict(incident.witnesses),
    )
