"""Captures of gNMI replies: JSON trees of OpenConfig, lists of notifications, SONiC's blobs."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from collectors.protocols.gnmi_paths import Step, bare, steps

ROOTS = {"interfaces", "components", "qos", "lldp"}
NANOSECOND = 1e-9


class Blob(NamedTuple):
    """What stands at a path, by a capture; `at` is its time stamp (unix seconds), 0 for none."""

    target: str
    path: tuple[Step, ...]
    value: Any
    at: float = 0.0


def documents(text: str) -> list[Any]:
    """Return the JSON documents of a text: one, or one a line; empty where there is none."""
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            return []
    return found


def blobs(document: Any) -> Iterator[Blob]:
    """Yield what a document holds: notifications as gnmic prints them, or the bare value."""
    if isinstance(document, list):
        for entry in document:
            yield from blobs(entry) if isinstance(entry, Mapping) else ()
    elif isinstance(document, Mapping) and isinstance(document.get("updates"), list):
        yield from _notification(document)
    elif isinstance(document, Mapping) and document:
        yield Blob("", (), document)


def is_openconfig(blob: Blob) -> bool:
    """Return whether a value is by OpenConfig's models: its path or its tree begins with one."""
    if blob.path:
        return blob.path[0].name in ROOTS
    return isinstance(blob.value, Mapping) and any(bare(str(name)) in ROOTS for name in blob.value)


def _notification(document: Mapping[str, Any]) -> Iterator[Blob]:
    stamp = document.get("timestamp")
    at = stamp * NANOSECOND if isinstance(stamp, int | float) and 0 < stamp < 1e20 else 0.0
    before = steps(str(document.get("prefix") or ""))
    target = str(document.get("target") or "")
    for update in document["updates"]:
        if not isinstance(update, Mapping):
            continue
        path = before + steps(str(update.get("Path") or update.get("path") or ""))
        held = update.get("values")
        for value in held.values() if isinstance(held, Mapping) else [update.get("val")]:
            if value is not None:
                yield Blob(target, path, value, at)
