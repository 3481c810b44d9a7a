"""Truth: what was wrong in a labelled history, one JSON object a line (contract 6)."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fabrichealth.kinds import KINDS, IncidentKind, Severity

HOLD_DOWN = 30 * 60.0
"""Of a kind that this version does not know."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One thing that was wrong from `began` until `ended` (unix seconds; it may lie beyond)."""

    kind: str
    culprit: str
    began: float
    ended: float
    also_kinds: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    """Other culprits that are accepted, by id."""
    side: str | None = None
    cause: str | None = None
    victims: tuple[str, ...] = ()
    evident: float | None = None
    """When the effect first crosses its warning limit."""
    limit_at: float | None = None
    """When the link reaches its error limit."""
    must_page: bool | None = None
    note: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that an incident on it may have."""
        return (self.kind, *self.also_kinds)

    @property
    def culprits(self) -> tuple[str, ...]:
        """The ids that may be accused."""
        return (self.culprit, *self.also)

    @property
    def is_minor(self) -> bool:
        """Whether it is of a kind that is but watched, so that watch and info incidents count."""
        rows = [KINDS[name] for name in self.kinds if name in KINDS]
        return any(row.severity < Severity.TICKET for row in rows)

    @property
    def open_until(self) -> float:
        """The last moment at which an incident on it may have begun: its end and the hold-down."""
        row: IncidentKind | None = KINDS.get(self.kind)
        return self.ended + (row.hold_down if row else HOLD_DOWN)

    @property
    def due(self) -> float:
        """The moment from which the delay counts."""
        return self.began if self.evident is None else self.evident


def truths(lines: Iterable[str]) -> list[Truth]:
    """Read the lines of a `truth.jsonl`; `{"quiet": true}` alone gives none.

    Raises:
        ValueError: a line is no truth; the message says its number and what is wrong. One truth
            less would make its incidents false, so that a file counts whole or not at all.
    """
    found: list[Truth] = []
    quiet = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            plain = _object(line)
            if plain.get("quiet") is True:
                quiet = True
            else:
                found.append(_parsed(plain))
        except (ValueError, RecursionError) as wrong:
            raise ValueError(f"line {number}: not a truth ({wrong})") from None
    if quiet and found:
        raise ValueError('{"quiet": true} stands beside truths; keep one or the others')
    if not (quiet or found):
        raise ValueError('holds no truth; write {"quiet": true} where nothing is wrong')
    return found


def _object(line: str) -> dict[str, Any]:
    plain = json.loads(line)
    if not isinstance(plain, dict):
        raise ValueError("an object is wanted")
    return plain


def _parsed(plain: Mapping[str, Any]) -> Truth:
    culprit = plain.get("culprit")
    if not isinstance(culprit, Mapping):
        raise ValueError("`culprit` must be an object with type and id")
    began, ended = _moment(plain, "from"), _moment(plain, "until")
    if began is None or ended is None:
        raise ValueError("`from` and `until` are needed, in unix seconds")
    must_page = plain.get("must_page")
    return Truth(
        kind=_word(plain.get("kind"), "kind"),
        culprit=_word(culprit.get("id"), "culprit.id"),
        began=began,
        ended=ended,
        also_kinds=tuple(_word(one, "also_kinds") for one in _list(plain, "also_kinds")),
        also=_ids(plain, "also"),
        side=_maybe(culprit.get("side"), "culprit.side"),
        cause=_maybe(plain.get("cause"), "cause"),
        victims=_ids(plain, "victims"),
        evident=_moment(plain, "evident"),
        limit_at=_moment(plain, "limit_at"),
        must_page=must_page if isinstance(must_page, bool) else None,
        note=str(plain.get("note", "")),
    )


def _word(value: object, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"`{key}` must be a name, not {value!r}")
    return value


def _maybe(value: object, key: str) -> str | None:
    return None if value is None else _word(value, key)


def _moment(plain: Mapping[str, Any], key: str) -> float | None:
    value = plain.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"`{key}` must be unix seconds, not {value!r}")
    return float(value)


def _list(plain: Mapping[str, Any], key: str) -> list[Any]:
    value = plain.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"`{key}` must be a list, not {value!r}")
    return value


def _ids(plain: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the ids of places, written `{"type", "id"}` or as the id alone."""
    return tuple(
        _word(one.get("id") if isinstance(one, Mapping) else one, key) for one in _list(plain, key)
    )
