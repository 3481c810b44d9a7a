"""Events: what was done to the fabric, and what its logs said (contract 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

EVENT_KINDS = frozenset(
    {
        "maintenance_start", "maintenance_end", "boot", "firmware_upgrade", "config_change",
        "part_touched", "part_replaced", "repair_start", "repair_end", "link_drained",
        "link_returned", "port_renamed", "job_start", "job_end", "job_pending", "job_cancelled",
        "drill_start", "drill_end", "verdict_true", "verdict_false", "verdict_ack", "device_log",
    }
)  # fmt: skip

OF_THE_WHOLE_SITE = frozenset(
    {"job_start", "job_end", "job_pending", "job_cancelled", "drill_start", "drill_end"}
)
"""Kinds that say something without a scope; any other says it of nothing."""

SCOPE_KEYS = (
    "domain",
    "rack",
    "device",
    "port",
    "link",
    "loop",
    "branch",
    "feed",
    "job",
    "incident",
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event; several scope keys mean that all hold. Known from its `at` on."""

    at: float
    kind: str
    scope: Mapping[str, str] = field(default_factory=dict)
    id: str = ""
    note: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of its kind: `code`, `text`, `fatal`, `from`, `to`, `accelerators`, .."""

    @property
    def of_nothing(self) -> bool:
        """Whether it lacks the scope its kind needs; an end may give the id of its start."""
        ends = self.kind.endswith("_end") and bool(self.id)
        return not self.scope and not ends and self.kind not in OF_THE_WHOLE_SITE

    def to_json(self) -> dict[str, Any]:
        """Return the object of contract 4."""
        plain: dict[str, Any] = {"at": self.at, "kind": self.kind, "scope": dict(self.scope)}
        if self.id:
            plain["id"] = self.id
        if self.note:
            plain["note"] = self.note
        return {**plain, **self.more}


def parse(plain: Mapping[str, Any]) -> Event:
    """Read one event object; keys it does not know are kept in `more`.

    Raises:
        ValueError: `at` is no number, `kind` or a scope value no text, or a text cannot be
            written as UTF-8, so that no journal would keep it; the message says which.
    """
    for key, value in plain.items():
        if not (_encodable(key) and _encodable(value)):
            raise ValueError(f"event with half a character (a lone surrogate) in {key!r}")
    at = plain.get("at")
    if isinstance(at, bool) or not isinstance(at, int | float) or not abs(at) < 1e12:
        raise ValueError(f"event without a usable `at` (unix seconds): {at!r}")
    kind = plain.get("kind")
    if not isinstance(kind, str):
        raise ValueError(f"event without a `kind`: {kind!r}")
    scope = plain.get("scope", {})
    if not isinstance(scope, Mapping) or not all(isinstance(v, str) for v in scope.values()):
        raise ValueError(f"event scope must map words to names: {scope!r}")
    rest = {k: v for k, v in plain.items() if k not in {"at", "kind", "scope", "id", "note"}}
    return Event(
        float(at),
        kind,
        {str(k): v for k, v in scope.items()},
        str(plain.get("id", "")),
        str(plain.get("note", "")),
        rest,
    )


def _encodable(value: object) -> bool:
    """Return whether every text in a value of JSON can be written as UTF-8."""
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, Mapping):
        return all(_encodable(key) and _encodable(one) for key, one in value.items())
    return not isinstance(value, list) or all(map(_encodable, value))
