"""InfluxQL that asks what a PromQL query asks, where InfluxQL can.

An InfluxDB holds measurement `fabric`, labels as tags, one field a metric (contract 8). Each node
of the query becomes a subquery with one column, `v`, by the tags that its answer carries. InfluxQL
has no joins: two sides meet only where both carry the same tags, so that one GROUP BY holds both; a
join that only brings facts is left away, and with it what it would have narrowed. What it cannot
say is refused, and its panel is left out by name.

Every form was tried on InfluxDB 1 (`tests/dashboards/test_influxql.py`).
"""

from dataclasses import dataclass, replace

from dashboards.meaning import meaning, metric_of
from dashboards.promql import Aggregate, Binary, Call, Node, Number, Selector, Text
from fabrichealth.metric import PREFIX, Kind
from fabrichealth.store.remote.line_protocol import MEASUREMENT


class Untranslatable(ValueError):
    """InfluxQL cannot say this."""


def over_time(node: Node) -> str:
    """Return the statement for lines: points by time and tags.

    Raises:
        Untranslatable: InfluxQL cannot say it.
    """
    return _Asker("$timeFilter", "time($__interval)").ask(_without_zero(node)).text


RECENT = "15m"
"""How old a value may be that is called the present one: what fell silent leaves the rows."""


def newest(node: Node) -> str:
    """Return the statement for rows: the newest values by tags, of the most only where asked.

    Raises:
        Untranslatable: InfluxQL cannot say it.
    """
    kept, most = _without_most(node)
    asker = _Asker(f"time > ${{__to}}ms - {RECENT} AND time <= ${{__to}}ms", "")
    found = asker.ask(_without_zero(kept))
    if most is None or not found.tags:
        return found.text
    which = "top" if most.name == "topk" else "bottom"
    tags = ", ".join(_quoted(found.tags))
    return f'SELECT {which}("v", {tags}, {most.parameter:g}) AS "v" FROM ({found.text})'


def is_of_the_most(node: Node) -> bool:
    """Return whether a query asks for the largest or smallest few: InfluxQL has that for rows."""
    return _without_most(node)[1] is not None


def _without_most(node: Node) -> tuple[Node, Aggregate | None]:
    if isinstance(node, Aggregate) and node.name in {"topk", "bottomk"}:
        return node.of, node
    return node, None


def _without_zero(node: Node) -> Node:
    """Drop `or vector(0)`: a panel says itself what it shows where there is nothing."""
    if isinstance(node, Binary) and node.operator == "or":
        right = node.right
        if isinstance(right, Call) and right.name == "vector":
            return node.left
    return node


def _quoted(tags: tuple[str, ...]) -> list[str]:
    return [f'"{tag}"' for tag in tags]


@dataclass(frozen=True)
class _Subquery:
    """A SELECT that yields column `v`, by tags."""

    text: str
    tags: tuple[str, ...]

    def named(self, name: str) -> str:
        """Return the statement with its column called so; a filter selects `v` itself."""
        plain = self.text.startswith('SELECT "v"')
        old, new = ('"v"', f'"v" AS "{name}"') if plain else ('AS "v"', f'AS "{name}"')
        return self.text.replace(old, new, 1)


_OVER = {
    "avg_over_time": "mean",
    "max_over_time": "max",
    "min_over_time": "min",
    "last_over_time": "last",
    "sum_over_time": "sum",
    "count_over_time": "count",
}
_TOGETHER = {"sum": "sum", "max": "max", "min": "min", "avg": "mean", "count": "count"}
_COMPARED = {"==": "=", "!=": "!=", ">": ">", "<": "<", ">=": ">=", "<=": "<="}
_OTHERWISE = {"==": "!=", "!=": "=", ">": "<=", "<": ">=", ">=": "<", "<=": ">"}


@dataclass(frozen=True)
class _Asker:
    """Makes subqueries over a span, by buckets of time or of the newest values."""

    span: str
    bucket: str
    """`time(..)`, or nothing for the newest."""

    def ask(self, node: Node) -> _Subquery:
        """Return a node as a subquery."""
        match node:
            case Selector():
                return self._field("last", node)
            case Call():
                return self._call(node)
            case Aggregate():
                return self._aggregate(node)
            case Binary():
                return self._binary(node)
            case Number() | Text():
                raise Untranslatable("a number alone")

    def select(self, column: str, source: str, tags: tuple[str, ...], *only: str) -> str:
        """Return a statement with a column as `v`, where conditions hold."""
        where = " AND ".join([*only, self.span])
        groups = ", ".join([*filter(None, [self.bucket]), *_quoted(tags)])
        by = f" GROUP BY {groups}" if groups else ""
        fill = " fill(none)" if self.bucket else ""
        return f'SELECT {column} AS "v" FROM {source} WHERE {where}{by}{fill}'

    def _filter(self, source: str, condition: str, tags: tuple[str, ...]) -> _Subquery:
        by = f" GROUP BY {', '.join(_quoted(tags))}" if tags else ""
        where = f"{condition} AND {self.span}"
        return _Subquery(f'SELECT "v" FROM ({source}) WHERE {where}{by}', tags)

    def _of(self, one: _Subquery, column: str) -> _Subquery:
        return _Subquery(self.select(column, f"({one.text})", one.tags), one.tags)

    def _field(self, function: str, node: Selector) -> _Subquery:
        name, tags, only = _read(node)
        column = f"{function}({name})"
        return _Subquery(self.select(column, f'"{MEASUREMENT}"', tags, *only), tags)

    def _growth(self, node: Selector, seconds: float) -> _Subquery:
        """Return how much a counter grows in so long; between points, so that no bucket is cut."""
        name, tags, only = _read(node)
        column = f"non_negative_derivative({name}, {seconds:.0f}s)"
        points = replace(self, bucket="").select(column, f'"{MEASUREMENT}"', tags, *only)
        return _Subquery(self.select('mean("v")', f"({points})", tags), tags)

    def _call(self, node: Call) -> _Subquery:
        inner = node.arguments[-1] if node.arguments else None
        if isinstance(inner, Selector) and node.name in {"rate", "irate"}:
            return self._growth(inner, 1.0)
        if isinstance(inner, Selector) and node.name == "increase":
            return self._growth(inner, inner.window)
        if isinstance(inner, Selector) and node.name in _OVER:
            return self._field(_OVER[node.name], inner)
        if node.name == "abs" and inner is not None:
            return self._of(self.ask(inner), 'abs(mean("v"))')
        raise Untranslatable(f"{node.name}()")

    def _aggregate(self, node: Aggregate) -> _Subquery:
        inner = self.ask(_without_zero(node.of))
        tags = tuple(sorted(meaning(node).labels))
        if not set(tags) <= set(inner.tags):
            raise Untranslatable("a join of series with different labels")
        if node.name == "quantile" and node.parameter is not None:
            column = f'percentile("v", {100 * node.parameter:g})'
        elif node.name in _TOGETHER:
            column = f'{_TOGETHER[node.name]}("v")'
        else:
            raise Untranslatable(f"{node.name} within a query")
        return _Subquery(self.select(column, f"({inner.text})", tags), tags)

    def _binary(self, node: Binary) -> _Subquery:
        if isinstance(node.right, Number):
            return self._with_number(node.operator, self.ask(node.left), node.right.value)
        if isinstance(node.left, Number) and node.operator in {"*", "+"}:
            return self._with_number(node.operator, self.ask(node.right), node.left.value)
        if node.operator == "*" and node.many and _is_info(node.right):
            return self.ask(node.left)  # what it brings are labels: whoever asks is refused
        if node.operator in {"and", "unless"}:
            return self._where(node)
        if node.operator in {"+", "-", "*", "/"}:
            return self._both(node)
        raise Untranslatable(f"`{node.operator}` between two series")

    def _with_number(self, operator: str, one: _Subquery, number: float) -> _Subquery:
        if operator in _COMPARED:
            return self._filter(one.text, f'"v" {_COMPARED[operator]} {number!r}', one.tags)
        if operator == "^":
            return self._of(one, f'pow(mean("v"), {number!r})')
        return self._of(one, f'mean("v") {operator} {number!r}')

    def _both(self, node: Binary) -> _Subquery:
        left, right = self.ask(node.left), self.ask(node.right)
        column = f'mean("l") {node.operator} mean("r")'
        return _Subquery(self.select(column, _together(left, right), left.tags), left.tags)

    def _where(self, node: Binary) -> _Subquery:
        """Return the left side where the right one, a comparison with a number, holds or not."""
        side = node.right
        table = _COMPARED if node.operator == "and" else _OTHERWISE
        if not (isinstance(side, Binary) and isinstance(side.right, Number)) or (
            side.operator not in table
        ):
            raise Untranslatable(f"`{node.operator}` with anything but a comparison")
        kept, only = node.left, [f'"r" {table[side.operator]} {side.right.value!r}']
        # InfluxDB 1 loses what it counts where one side has gaps: both filters come last
        if isinstance(kept, Binary) and isinstance(kept.right, Number):
            only.append(f'"v" {_COMPARED[kept.operator]} {kept.right.value!r}')
            kept = kept.left
        left, right = self.ask(kept), self.ask(side.left)
        both = self.select('mean("r") AS "r", mean("l")', _together(left, right), left.tags)
        return self._filter(both, " AND ".join(only), left.tags)


def _read(node: Selector) -> tuple[str, tuple[str, ...], list[str]]:
    """Return field, tags and conditions of a metric's series."""
    if node.offset:
        raise Untranslatable("a comparison with an earlier time")
    tags = tuple(sorted(meaning(node).labels))
    conditions = [_condition(*matcher) for matcher in node.matchers]
    return f'"{node.metric.removeprefix(PREFIX)}"', tags, conditions


def _condition(label: str, how: str, value: str) -> str:
    if how in {"=~", "!~"}:
        escaped = value.replace("/", "\\/")
        return f'"{label}" {how} /^(?:{escaped})$/'
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"\"{label}\" {how} '{escaped}'"


def _is_info(node: Node) -> bool:
    """Return whether a side is facts alone, of value 1."""
    while isinstance(node, Aggregate):
        node = node.of
    return isinstance(node, Selector) and metric_of(node.metric).kind is Kind.INFO


def _together(left: _Subquery, right: _Subquery) -> str:
    """Return both as one source, with columns `l` and `r`."""
    if left.tags != right.tags:
        raise Untranslatable("a join of series with different labels")
    return f"({left.named('l')}), ({right.named('r')})"
