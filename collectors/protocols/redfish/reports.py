"""Metric reports (DSP0268, MetricReport) and events (Event), asked for or pushed.

A report names each value by the property that it is of, a URI with a JSON pointer behind `#`, and
gives it as text. An event names the resource that it arose from.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from collectors.protocols.redfish.documents import fragment, place

EARLIEST = 946_684_800.0
"""Unix seconds of the year 2000: what is dated before comes of a clock that was never set."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)")

MOST_TEXT = 400


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a report: of which resource and property, what, and when (unix seconds)."""

    path: str
    pointer: tuple[str, ...]
    name: str
    value: Any
    at: float | None


@dataclass(frozen=True, slots=True)
class Message:
    """One record of an event: what happened to whom, and when (unix seconds)."""

    code: str
    """Message id without its registry's version: `Environmental.LeakDetectedCritical`."""
    text: str
    severity: str
    origin: str
    """Place of the resource that it arose from, empty if it does not say."""
    at: float | None


def moment(said: object) -> float | None:
    """Return a time stamp (ISO 8601 with its zone) as unix seconds, None for what is none."""
    if not isinstance(said, str) or not _TIME.fullmatch(said):
        return None
    try:
        found = datetime.fromisoformat(said).astimezone(UTC).timestamp()
    except (ValueError, OverflowError):
        return None
    return found if found >= EARLIEST else None


def values(report: Mapping[str, Any]) -> list[Value]:
    """Return the values of a report, in its order; rows that name no property are left out."""
    rows = report.get("MetricValues")
    whole = moment(report.get("Timestamp"))
    found = []
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, Mapping):
            continue
        uri = row.get("MetricProperty")
        name = row.get("MetricId")
        path = place(uri)
        if path:
            when = moment(row.get("Timestamp"))
            found.append(
                Value(
                    path,
                    fragment(uri),
                    name if isinstance(name, str) else "",
                    row.get("MetricValue"),
                    whole if when is None else when,
                )
            )
    return found


def messages(event: Mapping[str, Any]) -> list[Message]:
    """Return the records of an event."""
    rows = event.get("Events")
    items = rows if isinstance(rows, list) else []
    return [_message(row) for row in items if isinstance(row, Mapping)]


def _message(row: Mapping[str, Any]) -> Message:
    said = _text(row.get("MessageId"))
    parts = [part for part in said.split(".") if not part.isdigit()]
    origin = row.get("OriginOfCondition")
    uri = origin.get("@odata.id") if isinstance(origin, Mapping) else origin
    return Message(
        ".".join(parts) or _text(row.get("EventType")) or "unnamed",
        _text(row.get("Message")),
        _text(row.get("MessageSeverity")) or _text(row.get("Severity")),
        place(uri),
        moment(row.get("EventTimestamp")),
    )


def _text(value: Any) -> str:
    return " ".join(value.split())[:MOST_TEXT] if isinstance(value, str) else ""
