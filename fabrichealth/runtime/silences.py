"""Silences of an Alertmanager read as maintenance (its API v2, `GET /api/v2/silences`).

Whoever silences a rack in Alertmanager says that work goes on there; the analyzer should know it as
if `fabrichealth event maintenance` had said so. Taken are silences whose matchers all name places,
by name or by an expression that names of the topology match; one that is about an incident, a
severity or a cause as well is narrower than its place, and stays Alertmanager's own affair. So does
one whose expression names nothing (`.*`): all the fabric is nobody's place of work.
"""

import logging
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from fabrichealth.events import Event
from fabrichealth.topology import Topology

log = logging.getLogger(__name__)

PLACES = ("domain", "rack", "device", "port", "link", "loop", "branch", "feed")
"""Names of matchers that name a place; they are the keys of an event's scope."""

MOST_NAMES = 200
"""Names that one silence may stand for."""

LONGEST = 200
"""Letters kept of who made it, and of the comment."""

MARK = "silence"
"""Key of our events that holds the whole id of their silence."""

ANY_ALERT = frozenset({".*", ".+", "Fabric.*", "Fabric.+"})

PLAIN = re.compile(r"(?:[\w.\-/:|*+?\[\]()]|\\[.\-/|*+?\[\]()]){1,500}")
"""Expressions that are tried on names: alternatives, sets and stars."""

SLOW = re.compile(r"\)[*+?]|[*+?][*+?]|(?:[*+].*){4}|\[[^\]]*(?:\[|--|\|\|)")
"""Those of them that repeat a group, or that Python may read otherwise than Alertmanager."""


class TooWide(ValueError):
    """A silence stands for more names than anybody works at."""


class Silence(NamedTuple):
    """One silence that is active now."""

    id: str
    start: float
    end: float
    scopes: tuple[Mapping[str, str], ...]
    says: str
    """Who made it, and the comment."""


def silences(body: bytes, topology: Topology, wide: set[str] | None = None) -> list[Silence]:
    """Return the active silences that are maintenance, of an answer's body.

    `wide` keeps the ids of those that are too wide, so that each is told once.

    Raises:
        ValueError: it is not what an Alertmanager answers; one row of another form is left out.
    """
    rows = orjson.loads(body)
    if not isinstance(rows, list):
        raise ValueError("a list of silences is wanted")
    told = set() if wide is None else wide
    return [found for row in rows if (found := _silence(row, topology, told)) is not None]


def _silence(row: Any, topology: Topology, wide: set[str]) -> Silence | None:
    try:
        if row["status"]["state"] != "active":
            return None
        name, start, end = str(row["id"]), _time(row["startsAt"]), _time(row["endsAt"])
        scopes = scopes_of(row["matchers"], topology)
        said = [" ".join(str(row.get(key, "")).split()) for key in ("createdBy", "comment")]
    except TooWide as wrong:
        if name not in wide:
            wide.add(name)
            log.warning("silence %s is not taken for maintenance: %s", name[:LONGEST], wrong)
        return None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    if not (name and scopes and start < end):
        return None
    says = ": ".join(part[:LONGEST] for part in said if part)
    return Silence(name, start, end, scopes, _encodable(says))


def _time(text: Any) -> float:
    """Return unix seconds of a time as RFC 3339 has it.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(text, str):
        raise ValueError(f"not a time: {text!r}")
    return datetime.fromisoformat(text).timestamp()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def scopes_of(matchers: Any, topology: Topology) -> tuple[Mapping[str, str], ...]:
    """Return what a silence's matchers name: one scope, or one for each name that fits.

    Raises:
        TooWide: they name more than anybody works at.

    Empty where they name no place, or anything else beside.
    """
    found: list[dict[str, str]] = [{}]
    for one in matchers:
        name, value = one["name"], one["value"]
        if not isinstance(value, str) or one.get("isEqual", True) is not True:
            return ()
        if name == "alertname" and one.get("isRegex") and value in ANY_ALERT:
            continue  # about alerts of ours, whichever
        if name not in PLACES:
            return ()
        names = _names(name, value, topology) if one.get("isRegex") else [value]
        if len(found) * len(names) > MOST_NAMES:
            raise TooWide(
                f"it stands for {len(found) * len(names)} places, more than {MOST_NAMES}; name "
                "their rack or domain instead"
            )
        found = [{**scope, name: each} for scope in found for each in names if each]
    return tuple(scope for scope in found if scope)


def _names(key: str, pattern: str, topology: Topology) -> list[str]:
    """Return the names of a kind that an expression of Alertmanager's matches, whole."""
    known: Mapping[str, Iterable[str]] = {
        "domain": topology.domains, "rack": topology.racks, "device": topology.devices,
        "link": topology.links, "loop": topology.loops, "feed": topology.feeds,
    }  # fmt: skip
    if not PLAIN.fullmatch(pattern) or SLOW.search(pattern) or not re.search(r"\w", pattern):
        return []
    try:
        fits = re.compile(pattern)
    except re.error:
        return []
    return [name for name in known.get(key, ()) if fits.fullmatch(name)]


class Taken:
    """Which silences stand as maintenance, and what their coming and going says as events."""

    def __init__(self, told: Iterable[Mapping[str, Any]]) -> None:
        """`told` are the events in the journal, oldest first: what an earlier life has said."""
        self._ends: dict[str, float] = {}
        for plain in told:
            if name := plain.get(MARK):
                if plain.get("kind") == "maintenance_start":
                    until = plain.get("until")
                    self._ends[name] = until if isinstance(until, float) else 0.0
                else:
                    self._ends.pop(name, None)

    def news(self, active: Iterable[Silence], now: float) -> list[Event]:
        """Return what is to be said of the silences that are active, and of those no more so."""
        events: list[Event] = []
        seen = {one.id: one for one in active}
        for one in seen.values():
            known = self._ends.get(one.id)
            if known == one.end:
                continue
            if known is not None and one.end < known:
                events.append(_end(one.id, now))  # shortened: the longer one is over
            self._ends[one.id] = one.end
            events += [_start(one, scope, now) for scope in one.scopes]
        for name in [name for name in self._ends if name not in seen]:
            if self._ends.pop(name) > now:  # it expired before its time
                events.append(_end(name, now))
        return events


def _named(silence: str) -> str:
    return f"silence-{silence[:8]}"


def _start(one: Silence, scope: Mapping[str, str], now: float) -> Event:
    more = {"until": one.end, MARK: one.id}
    # it is active: a start that is still to come is told by a clock that is ahead of ours
    return Event(min(one.start, now), "maintenance_start", scope, _named(one.id), one.says, more)


def _end(silence: str, now: float) -> Event:
    return Event(now, "maintenance_end", {}, _named(silence), "", {MARK: silence})
