"""gNMI paths and the trees below them (gNMI specification 0.10, sections 2.2 to 2.4; RFC 7951).

A value is a scalar at a leaf, or JSON of everything below a path. Both become leaves: a path
without its keys (`/interfaces/interface/state/oper-status`), the values of its keys in order, and a
scalar. Prefixes of modules (`openconfig-interfaces:`) are left out.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LIST_KEYS = ("name", "index", "interface-id", "id", "lane-number", "severity")
"""Keys of OpenConfig's lists, in the order in which an entry is asked for one."""

DEEPEST = 40
"""Levels below a path; the models have a dozen."""

_ELEMENT = re.compile(r"(?P<name>[^/\[\]]+)(?P<keys>(?:\[[^\]]*\])*)")
_KEYS = re.compile(r"\[([^=\]]*)(?:=((?:\\.|[^\]\\])*))?\]")

Scalar = str | float | bool


class Step(NamedTuple):
    """One element of a path: its name, and the values of its keys."""

    name: str
    keys: tuple[str, ...] = ()


class LeafValue(NamedTuple):
    """A leaf: where it is, the values of the keys on the way, and what it says."""

    path: str
    keys: tuple[str, ...]
    value: Scalar


def bare(name: str) -> str:
    """Return a name without the prefix of its module."""
    return name.rpartition(":")[2]


def steps(path: str) -> tuple[Step, ...]:
    """Return the elements of a path as text, such as `/a/b[name=x]/c`."""
    return tuple(
        Step(
            bare(found["name"]),
            tuple((value or "").replace("\\", "") for _, value in _KEYS.findall(found["keys"])),
        )
        for found in _ELEMENT.finditer(path)
    )


def schema(path: str) -> str:
    """Return a path without its keys."""
    return "".join(f"/{step.name}" for step in steps(path))


def leaves(path: tuple[Step, ...], value: Any) -> Iterator[LeafValue]:
    """Yield the leaves at and below a path; `value` is a scalar or decoded JSON."""
    where = "".join(f"/{step.name}" for step in path)
    yield from _below(where, tuple(key for step in path for key in step.keys), value, 0)


def _below(where: str, keys: tuple[str, ...], value: Any, depth: int) -> Iterator[LeafValue]:
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _below(f"{where}/{bare(str(name))}", keys, inner, depth + 1)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, Mapping):  # an entry of a list, or of one without a key
                key = _key(entry)
                more = keys if key is None else (*keys, key)
                yield from _below(where, more, entry, depth + 1)
    elif isinstance(value, str | int | float):
        yield LeafValue(where, keys, value)


def _key(entry: Mapping[Any, Any]) -> str | None:
    said = {bare(str(name)): value for name, value in entry.items()}
    for name in LIST_KEYS:
        if isinstance(said.get(name), str | int):
            return str(said[name])
    return None
