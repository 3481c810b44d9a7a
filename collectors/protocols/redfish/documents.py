"""Redfish's bodies (DSP0266): what type a resource is of, what is embedded in it, where it leads.

A resource says its type in `@odata.type` (`#Sensor.v1_7_0.Sensor`) and its place in `@odata.id`.
An expanded collection holds its members whole; a capture may be one body or a map from place to
body.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from collectors.protocols import json_tree
from fabrichealth.errors import MalformedReply

Body = dict[str, Any]

ROOT = "/redfish/v1"
DEEPEST = 12
"""Levels at which embedded resources are looked for."""

_TYPE = re.compile(r"#?(\w+)(?:\.v?([\d_.]+))?(?:\.\w+)*")

MARKS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"Temperatures"}), "Thermal"),
    (frozenset({"Fans", "Redundancy"}), "Thermal"),
    (frozenset({"PowerControl"}), "Power"),
    (frozenset({"MetricValues"}), "MetricReport"),
    (frozenset({"ReadingType"}), "Sensor"),
    (frozenset({"Reading", "ReadingUnits"}), "Sensor"),
    (frozenset({"DetectorState"}), "LeakDetector"),
    (frozenset({"PumpSpeedPercent"}), "Pump"),
    (frozenset({"FlowLitersPerMinute"}), "CoolantConnector"),
    (frozenset({"Events"}), "Event"),
)
"""Types of bodies that do not say theirs, by names that no other has."""


def document(body: bytes | str, content_type: str = "") -> Any:
    """Return what a body holds: an object, or what else JSON may be.

    Raises:
        MalformedReply: it is no JSON; the message says what it is instead.
    """
    try:
        return json_tree.document(body)
    except MalformedReply as wrong:
        said = content_type.partition(";")[0].strip()
        shown = f" ({said})" if said and said.isprintable() else ""
        raise MalformedReply(f"{wrong}{shown}") from None


def resource_type(body: Mapping[str, Any]) -> str:
    """Return the type of a resource without its version, empty if nothing tells it."""
    return _typed(body)[0] or _marked(body)


def version(body: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the version of a resource's schema, `(1, 7, 0)`; empty if it does not say."""
    said = _typed(body)[1]
    return tuple(int(part) for part in re.split(r"[_.]", said) if part.isdigit())


def place(uri: object) -> str:
    """Return where a resource is: its path without host, query, fragment or slash at the end."""
    if not isinstance(uri, str) or not uri.startswith(("/", "http:", "https:")):
        return ""
    try:
        path = urlsplit(uri).path
    except ValueError:
        return ""
    return path.rstrip("/") if len(path) < 2000 else ""


def fragment(uri: object) -> tuple[str, ...]:
    """Return the names behind a `#` of a URI: those of a JSON pointer (RFC 6901)."""
    if not isinstance(uri, str) or "#" not in uri:
        return ()
    names = uri.partition("#")[2].strip("/").split("/")
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in names if name)


def last(path: str) -> str:
    """Return the last name of a place."""
    return path.rpartition("/")[2]


def parent(path: str) -> str:
    """Return the place above a place."""
    return path.rpartition("/")[0]


def link(body: Mapping[str, Any], *names: str) -> str:
    """Return where a property leads, `{"@odata.id": ..}`, empty if nowhere."""
    found: Any = body
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return place(found.get("@odata.id")) if isinstance(found, Mapping) else ""


def members(body: Mapping[str, Any]) -> list[str]:
    """Return the places of a collection's members on this page, each once."""
    listed = body.get("Members")
    items = listed if isinstance(listed, list) else []
    found = [link(one) for one in items if isinstance(one, Mapping)]
    return list(dict.fromkeys(path for path in found if path))


def next_page(body: Mapping[str, Any]) -> str:
    """Return the path and query of a collection's next page, empty if this is the last."""
    uri = body.get("Members@odata.nextLink") or body.get("@odata.nextLink")
    if not isinstance(uri, str) or not place(uri):
        return ""
    parts = urlsplit(uri)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def is_collection(body: Mapping[str, Any]) -> bool:
    """Return whether a body lists others."""
    return "Members" in body or _typed(body)[0].endswith("Collection")


def resources(found: Any, at: str = "") -> Iterator[tuple[str, Body]]:
    """Yield every resource that a document holds with its place, the outer ones first.

    `at` is the place of the document itself where it does not say; a resource without any place
    has the empty one.
    """
    yield from _resources(found, at, 0)


def _resources(found: Any, at: str, depth: int) -> Iterator[tuple[str, Body]]:
    if depth > DEEPEST:
        return
    if isinstance(found, list):
        for one in found:
            yield from _resources(one, "", depth + 1)
        return
    if not isinstance(found, dict):
        return
    said = found.get("@odata.id")
    own = place(said) or at
    whole = not depth or (own and "#" not in str(said) and len(found) > len({"@odata.id"}))
    if whole and (own or resource_type(found)):
        yield own, found
    for key, value in found.items():
        if isinstance(value, dict | list) and key not in {"Links", "Oem", "Actions"}:
            yield from _resources(value, place(key) if key.startswith(ROOT) else "", depth + 1)


def _typed(body: Mapping[str, Any]) -> tuple[str, str]:
    said = body.get("@odata.type")
    found = _TYPE.fullmatch(said) if isinstance(said, str) and len(said) < 200 else None
    return (found[1], found[2] or "") if found else ("", "")


def _marked(body: Mapping[str, Any]) -> str:
    return next((name for marks, name in MARKS if marks <= body.keys()), "")
