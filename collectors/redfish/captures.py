"""Captures of Redfish: bodies, maps from place to body, and streams of pushed events."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collectors.captures import captured
from collectors.protocols.redfish import documents, reports
from collectors.protocols.redfish.documents import Body, place, resource_type
from collectors.protocols.redfish.server_sent import EventStream
from fabrichealth.errors import MalformedReply

TIMED = ("Timestamp", "EventTimestamp", "ReadingTime", "DateTime")
"""Properties that say when what stands beside them was so."""

MOST_DEPTH = 20


@dataclass(slots=True)
class Bodies:
    """What files hold, by place."""

    resources: dict[str, Body] = field(default_factory=dict)
    reports: list[Body] = field(default_factory=list)
    events: list[Body] = field(default_factory=list)
    wrong: dict[str, str] = field(default_factory=dict)
    """What is no resource, by file or place, and why."""

    @property
    def found(self) -> bool:
        """Whether there is anything of Redfish."""
        return bool(self.resources or self.reports or self.events)


def bodies(files: Iterable[Path]) -> Bodies:
    """Return what is in files.

    Raises:
        SourceUnavailable: one of them cannot be read.
    """
    found = Bodies()
    for file in captured(files):
        stem = file.path.name.partition(".")[0]
        try:
            told = documents.document(file.text)
        except MalformedReply as broken:
            pushed = EventStream().feed(file.text.encode() + b"\n\n")
            if not pushed:
                found.wrong[file.path.name] = str(broken)
            for text in pushed:
                _take(found, text, "")
            continue
        _place(found, told, stem)
    return found


def moment(files: Iterable[Path]) -> float | None:
    """Return the newest time stamp in files, unix seconds; None where there is none."""
    found = bodies(files)
    stamps: list[float] = []
    for one in (*found.resources.values(), *found.reports, *found.events):
        _stamps(one, stamps, 0)
    return max(stamps, default=None)


def _take(found: Bodies, text: str, stem: str) -> None:
    try:
        _place(found, documents.document(text), stem)
    except MalformedReply as broken:
        found.wrong[stem or "event"] = str(broken)


def _place(found: Bodies, told: Any, stem: str) -> None:
    for path, body in documents.resources(told):
        said = body.get("__content_type")
        if isinstance(said, str):  # how a map says that a place answered something else
            found.wrong[path] = f"no JSON ({said.partition(';')[0]})"
            continue
        of = resource_type(body)
        if of == "MetricReport":
            found.reports.append(body)
        elif of == "Event":
            found.events.append(body)
        elif of or path:
            own = body.get("Id")
            name = own if isinstance(own, str) and own else stem
            found.resources.setdefault(path or place(f"/{name}"), body)


def _stamps(node: Any, found: list[float], depth: int) -> None:
    if depth > MOST_DEPTH:
        return
    if isinstance(node, Mapping):
        for key in TIMED:
            when = reports.moment(node.get(key))
            if when is not None:
                found.append(when)
    items = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    for one in items:
        _stamps(one, found, depth + 1)
