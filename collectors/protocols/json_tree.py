"""A tree of JSON as leaves: the keys on the way to them (its shape), and their values.

The shape of a device's answer is the same from one visit to the next, so what follows from it can
be worked out once. Shapes are compared as lists, without any path being built.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from fabrichealth.errors import MalformedReply

OPEN, CLOSE = True, False
"""Marks around what a key holds, if that is not a leaf."""

DEEPEST = 40
"""Levels that are followed; what lies below them is no value of any device."""

Path = tuple[str, ...]
Shape = list[object]
"""Keys in order, each followed by OPEN, what it holds, and CLOSE where it is no leaf."""


def document(body: bytes | str) -> Any:
    """Return what a body holds.

    Raises:
        MalformedReply: it is no JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:  # has NaN and Infinity, which some agents print
        return json.loads(body)
    except (ValueError, RecursionError):
        start = body.lstrip()[:1]
        kind = "HTML" if start in {b"<", "<"} else "no JSON"
        raise MalformedReply(f"{kind}, where JSON was asked for") from None


def merge(tree: dict[str, Any], other: Mapping[str, Any]) -> None:
    """Put another tree into one; of two leaves at one place the first stays."""
    for key, value in other.items():
        if isinstance(value, Mapping) and isinstance(tree.get(key), dict):
            merge(tree[key], value)
        elif key not in tree:
            tree[key] = dict(value) if isinstance(value, Mapping) else value


def flattened(tree: Mapping[str, Any]) -> tuple[Shape, list[Any]]:
    """Return the shape of a tree and the values of its leaves, in order.

    A leaf is anything but an object or a list that holds something; items of a list are keyed by
    their number.
    """
    shape: Shape = []
    values: list[Any] = []
    _flatten(tree.items(), shape, values, 0)
    return shape, values


def paths(shape: Shape) -> Iterator[Path]:
    """Yield the keys on the way to each leaf, in the order of the values."""
    above: list[str] = []
    place = 0
    while place < len(shape):
        token = shape[place]
        place += 1
        if token is CLOSE:
            above.pop()
        elif place < len(shape) and shape[place] is OPEN:
            above.append(str(token))
            place += 1
        else:
            yield (*above, str(token))


def _flatten(items: Any, shape: Shape, values: list[Any], depth: int) -> None:
    for key, value in items:
        shape.append(key)
        kind = type(value)
        if kind is dict and value and depth < DEEPEST:
            shape.append(OPEN)
            _flatten(value.items(), shape, values, depth + 1)
            shape.append(CLOSE)
        elif kind is list and value and depth < DEEPEST:
            shape.append(OPEN)
            _flatten(((f"{n}", item) for n, item in enumerate(value)), shape, values, depth + 1)
            shape.append(CLOSE)
        else:
            values.append(value)
