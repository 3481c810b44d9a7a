"""NetBox's REST pages: cables, front ports and interfaces, of any version's shape.

A page is `{"count", "next", "results": [..]}`. From 3.3 on a cable's ends are lists
(`a_terminations`), before they were single (`termination_a`, its kind beside it in
`termination_a_type`). Choices are `{"value", "label"}`, plain words in old versions. (NetBox REST
API, models dcim.cable, dcim.frontport, dcim.interface.)
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from fabrichealth.errors import MalformedReply

METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}
"""What a unit of length is worth."""

CONNECTED = "connected"
"""The one status of a cable that lies there; the others are planned and decommissioning."""


@dataclass(frozen=True, slots=True)
class End:
    """What a cable ends in: kind of object (interface, frontport, ..), its id, device, name."""

    kind: str
    id: int
    device: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable: both its ends, its type's name, and its length in metres where that is known."""

    id: int
    a: tuple[End, ...]
    b: tuple[End, ...]
    connected: bool
    type: str = ""
    length_m: float | None = None


@dataclass(frozen=True, slots=True)
class FrontPort:
    """A front port of a panel, and the rear port and position behind it."""

    id: int
    rear: int
    position: int


@dataclass(frozen=True, slots=True)
class Reached:
    """An interface, and the interfaces at the end of its path as NetBox itself followed it."""

    here: End
    there: tuple[End, ...]


Row = Cable | FrontPort | Reached


@dataclass(slots=True)
class Page:
    """One page: its rows, how many there are in all, and whether another is said to follow."""

    rows: list[Row] = field(default_factory=list)
    ids: tuple[int, ...] = ()
    """Ids of all results, those that are no row of ours among them."""
    count: int | None = None
    more: bool = False
    malformed: list[str] = field(default_factory=list)


def page(body: bytes | str) -> Page:
    """Read one page, or a bare list of its results.

    Raises:
        MalformedReply: it is no JSON, or has no results.
    """
    try:
        plain = json.loads(body)
    except (ValueError, RecursionError):
        raise MalformedReply("no JSON") from None
    if isinstance(plain, list) and plain:
        plain = {"results": plain}
    results = plain.get("results") if isinstance(plain, dict) else None
    if not isinstance(results, list):
        raise MalformedReply("JSON without a list of results")
    found = Page(count=_number(plain.get("count")), more=bool(plain.get("next")))
    ids = []
    for result in results:
        number = _number(result.get("id")) if isinstance(result, dict) else None
        row = _row(result, number) if number is not None else None
        if number is not None:
            ids.append(number)
        if row is not None:
            found.rows.append(row)
        else:
            found.malformed.append(str(result)[:200])
    found.ids = tuple(ids)
    return found


def _row(plain: Mapping[str, Any], number: int) -> Row | None:
    """Return what a result is, by its keys; None where it is nothing that we know."""
    if "a_terminations" in plain or "termination_a" in plain or "termination_a_id" in plain:
        status = _choice(plain.get("status")).lower()
        return Cable(
            number,
            _ends(plain, "a"),
            _ends(plain, "b"),
            status in {CONNECTED, "true", "1", ""},
            _choice(plain.get("type")).lower(),
            _length(plain.get("length"), _choice(plain.get("length_unit"))),
        )
    if "rear_port" in plain or "rear_ports" in plain:
        return _front(plain, number)
    if "connected_endpoints" in plain or "connected_endpoint" in plain:
        here = _named(plain, "interface", number)
        told = plain.get("connected_endpoints", plain.get("connected_endpoint"))
        kinds = _kind(plain.get("connected_endpoints_type", plain.get("connected_endpoint_type")))
        several = told if isinstance(told, list) else [told] if told else []
        there = (_named(one, kinds or "interface") for one in several)
        known = tuple(end for end in there if end is not None)
        if here is None or len(known) != len(several):
            return None
        return Reached(here, known if plain.get("connected_endpoints_reachable", True) else ())
    return None


def _front(plain: Mapping[str, Any], number: int) -> FrontPort | None:
    """Read a front port; from 4.5 on it lists its rear ports, of which one can be followed."""
    several = plain.get("rear_ports")
    if isinstance(several, list) and len(several) == 1 and isinstance(several[0], dict):
        rear, position = several[0].get("rear_port"), several[0].get("rear_port_position", 1)
    else:
        rear, position = plain.get("rear_port"), plain.get("rear_port_position", 1)
    known = _number(rear.get("id") if isinstance(rear, dict) else rear)
    place = _number(position)
    return FrontPort(number, known, place) if known is not None and place is not None else None


def _ends(plain: Mapping[str, Any], side: str) -> tuple[End, ...]:
    """Read the ends of one side of a cable; one that is not understood has no kind."""
    many = plain.get(f"{side}_terminations")
    if isinstance(many, list):
        return tuple(_listed(one) for one in many)
    kind = _kind(plain.get(f"termination_{side}_type"))
    number = _number(plain.get(f"termination_{side}_id"))
    inside = plain.get(f"termination_{side}")
    end = _named(inside, kind, number) if isinstance(inside, dict) else None
    return (end or End("", -1 if number is None else number),)


def _listed(plain: Any) -> End:
    if not isinstance(plain, dict):
        return End("", -1)
    number = _number(plain.get("object_id"))
    end = _named(plain.get("object"), _kind(plain.get("object_type")), number)
    return end or End("", -1 if number is None else number)


def _named(plain: Any, kind: str, number: int | None = None) -> End | None:
    """Return an object with a device; None where it has no id."""
    if not isinstance(plain, dict):
        return None
    own = _number(plain.get("id")) if number is None else number
    if own is None:
        return None
    device = plain.get("device")
    return End(kind, own, _called(device), _called(plain))


def _called(plain: Any) -> str:
    """Return the name of an object; a device may have none, and is then called by its display."""
    if not isinstance(plain, dict):
        return ""
    words: Iterable[Any] = (plain.get("name"), plain.get("display"), plain.get("display_name"))
    return next((word for word in words if isinstance(word, str) and word.strip()), "")


def _kind(plain: Any) -> str:
    """Return `interface` for `dcim.interface`."""
    return plain.rpartition(".")[2].lower() if isinstance(plain, str) else ""


def _choice(plain: Any) -> str:
    value = plain.get("value") if isinstance(plain, dict) else plain
    return str(value).strip() if isinstance(value, str | int) else ""


def _length(plain: Any, unit: str) -> float | None:
    try:
        length = float(plain) * METRES[unit.lower()]
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    return length if isfinite(length) and length >= 0 else None


def _number(plain: Any) -> int | None:
    if isinstance(plain, bool) or not isinstance(plain, int):
        return None
    return plain if 0 <= plain < 1 << 63 else None
