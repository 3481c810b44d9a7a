"""Truths from verdicts: what operators said of a site's incidents, as truth lines (contract 6)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabrichealth.events import Event

DECIDES = {"verdict_true": True, "verdict_false": False}
"""`ack` says that somebody is at it, not whether it is real."""


@dataclass
class Said:
    """The incidents of a span, by what was said of them."""

    truths: list[dict[str, Any]] = field(default_factory=list)
    """Truth lines of those called true."""
    false: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    """Nobody said anything of these, though somebody was told of them."""


def said_of(
    incidents: Iterable[Mapping[str, Any]], events: Sequence[Event], start: float, end: float
) -> Said:
    """Return what is known of the incidents open within [start, end]; the last word counts.

    One that turned out to be another is that other, and what was said of it was said of that.
    """
    every = {one["incident"]: one for one in incidents}
    words: dict[str, Event] = {}
    for event in sorted(events, key=lambda one: one.at):
        if event.kind in DECIDES:
            words[_whole(event.scope.get("incident", ""), every)] = event
    found = Said()
    for one in every.values():
        if _whole(one["incident"], every) != one["incident"]:
            continue
        closed = one["closed_at"]
        if one["opened_at"] > end or (closed is not None and closed < start):
            continue
        word = words.get(one["incident"])
        if word is None:
            counts = one["severity"] in {"page", "ticket"} and one["suppressed_by"] is None
            found.unjudged += [one["incident"]] if counts else []
        elif DECIDES[word.kind]:
            found.truths.append(truth_of(one, word, end))
        else:
            found.false.append(one["incident"])
    return found


def truth_of(incident: Mapping[str, Any], word: Event, end: float) -> dict[str, Any]:
    """Return the truth line of an incident that was called true.

    What the operator found out (`culprit`, `side`, `cause`) wins over what was guessed; what
    nobody found out is not made truth: cause and side count only where they were said.
    """
    accused = incident["culprit"]
    name = str(word.more.get("culprit", accused["id"]))
    culprit = {"type": accused["type"] if name == accused["id"] else _type(name), "id": name}
    if side := word.more.get("side"):
        culprit["side"] = str(side)
    truth: dict[str, Any] = {
        "kind": incident["kind"],
        "also_kinds": sorted({step["kind"] for step in incident["history"]} - {incident["kind"]}),
        "culprit": culprit,
        "victims": incident["victims"],
        "from": incident["opened_at"],
        "until": end if incident["closed_at"] is None else incident["closed_at"],
        "must_page": incident["severity"] == "page",
        "note": " ".join(filter(None, (incident["incident"], word.note))),
    }
    if cause := word.more.get("cause"):
        truth["cause"] = str(cause)
    return truth


def _whole(name: str, incidents: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the incident that one turned out to be, itself as a rule."""
    met = {name}
    while True:
        other = str(incidents.get(name, {}).get("merged_into"))
        if other not in incidents or other in met:
            return name
        met.add(other)
        name = other


def _type(name: str) -> str:
    if "--" in name:
        return "link"
    return "port" if "/" in name else "device"
