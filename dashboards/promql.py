"""PromQL as a tree, typed: what `promql_parser` gives, without its loose ends.

Grafana's own variables are filled before (`check.substituted`): no grammar takes them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import promql_parser


@dataclass(frozen=True)
class Selector:
    """Series of one metric; `window` in seconds makes it a range."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]
    """Label, one of `= != =~ !~`, value."""
    window: float = 0.0
    offset: float = 0.0


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: float


@dataclass(frozen=True)
class Text:
    """A literal in quotes."""

    value: str


@dataclass(frozen=True)
class Call:
    """A function of its arguments."""

    name: str
    arguments: "tuple[Node, ...]"


@dataclass(frozen=True)
class Aggregate:
    """Series brought together by the labels that stay; `parameter` is topk's and quantile's."""

    name: str
    of: "Node"
    labels: frozenset[str]
    without: bool
    parameter: float | None


@dataclass(frozen=True)
class Binary:
    """Two sides joined; `on` is None where all labels must agree, else those that must."""

    operator: str
    left: "Node"
    right: "Node"
    on: frozenset[str] | None
    ignoring: frozenset[str]
    many: str
    """`left` or `right` side that has many series for one of the other's; else empty."""
    brought: frozenset[str]
    """Labels that `group_left` brings over from the other side."""


Node = Selector | Number | Text | Call | Aggregate | Binary


def parsed(query: str) -> Node:
    """Return the tree of a query without variables.

    Raises:
        ValueError: it is no PromQL, or its types do not fit.
    """
    return _node(promql_parser.parse(query))


_MATCHES = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}


def _node(found: Any) -> Node:
    kind = type(found).__name__
    if kind not in _READ:
        raise ValueError(f"{found.prettify()}: boards do not use {kind}")
    return _READ[kind](found)


def _minus(found: Any) -> Binary:
    return Binary("*", Number(-1.0), _node(found.expr), None, frozenset(), "", frozenset())


def _selector(found: Any, window: float) -> Selector:
    matchers = tuple(
        (one.name, _MATCHES[str(one.op).rpartition(".")[2]], one.value)
        for one in found.matchers.matchers
    )
    offset = found.offset.total_seconds() if found.offset else 0.0
    return Selector(found.name, tuple(sorted(matchers)), window, offset)


def _aggregate(found: Any) -> Aggregate:
    modifier = found.modifier
    without = modifier is not None and str(modifier.type).endswith("Without")
    parameter = found.param.val if type(found.param).__name__ == "NumberLiteral" else None
    labels = frozenset(modifier.labels if modifier else ())
    return Aggregate(str(found.op), _node(found.expr), labels, without, parameter)


def _binary(found: Any) -> Binary:
    modifier = found.modifier
    matching = modifier.matching if modifier else None
    labels = frozenset(matching.labels) if matching else frozenset()
    on = matching is not None and str(matching.type).endswith("Include")
    card = str(modifier.card).rpartition(".")[2] if modifier else ""
    many = {"ManyToOne": "left", "OneToMany": "right"}.get(card, "")
    brought = frozenset(modifier.group_labels) if many and modifier.group_labels else frozenset()
    return Binary(
        str(found.op),
        _node(found.lhs),
        _node(found.rhs),
        labels if on else None,
        frozenset() if on else labels,
        many,
        brought,
    )


_READ: Mapping[str, Callable[[Any], Node]] = {
    "ParenExpr": lambda found: _node(found.expr),
    "NumberLiteral": lambda found: Number(found.val),
    "StringLiteral": lambda found: Text(found.val),
    "UnaryExpr": _minus,
    "VectorSelector": lambda found: _selector(found, 0.0),
    "MatrixSelector": lambda found: _selector(found.vector_selector, found.range.total_seconds()),
    "Call": lambda found: Call(found.func.name, tuple(map(_node, found.args))),
    "AggregateExpr": _aggregate,
    "BinaryExpr": _binary,
}
