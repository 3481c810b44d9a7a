"""What a query's answer is: which labels its series carry, and in what unit they are.

Both follow from the catalogue: a board says neither. Units are worked out as dimensions: a rate
divides by seconds, watts by volts are amperes, and what has no name in Grafana must be said by the
panel itself.
"""

from dataclasses import dataclass, replace

from dashboards.promql import Aggregate, Binary, Call, Node, Number, Selector, Text
from fabrichealth.catalogue import METRICS
from fabrichealth.metric import PREFIX, Kind, Metric
from fabrichealth.units import Unit

ALWAYS = frozenset({"job", "instance"})
"""What Prometheus adds to every series it scrapes."""


@dataclass(frozen=True)
class Measure:
    """A product of base units: `factor` of one, and the exponent of each."""

    factor: float = 1.0
    exponents: frozenset[tuple[str, int]] = frozenset()
    share: bool = False
    """Without dimension, as a part of a whole: 0.5 is half."""

    def times(self, other: "Measure", sign: int = 1) -> "Measure":
        """Return the product, or with `sign` -1 the quotient."""
        exponents = dict(self.exponents)
        for base, power in other.exponents:
            exponents[base] = exponents.get(base, 0) + sign * power
        kept = frozenset((base, power) for base, power in exponents.items() if power)
        share = not kept and (self.share or other.share or sign < 0)
        return Measure(self.factor * other.factor**sign, kept, share)


def _of(factor: float = 1.0, /, **exponents: int) -> Measure:
    return Measure(factor, frozenset(exponents.items()))


COUNT, SHARE = Measure(), Measure(share=True)
_MINUTE, _DAY = 60.0, 86_400.0

_MEASURES = {
    Unit.NONE: COUNT,
    Unit.AMPERES: _of(A=1),
    Unit.BITS_PER_SECOND: _of(1 / 8, byte=1, s=-1),
    Unit.BYTES: _of(byte=1),
    Unit.BYTES_PER_SECOND: _of(byte=1, s=-1),
    Unit.CELSIUS: _of(C=1),
    Unit.DB: _of(dB=1),
    Unit.DBM: _of(dBm=1),
    Unit.HERTZ: _of(Hz=1),
    Unit.JOULES: _of(J=1),
    Unit.KILOPASCALS: _of(kPa=1),
    Unit.LITERS: _of(L=1),
    Unit.LITERS_PER_MINUTE: _of(1 / _MINUTE, L=1, s=-1),
    Unit.METERS: _of(m=1),
    Unit.RATIO: SHARE,
    Unit.RPM: _of(rpm=1),
    Unit.SECONDS: _of(s=1),
    Unit.TIMESTAMP_SECONDS: _of(moment=1),
    Unit.VOLTS: _of(J=1, s=-1, A=-1),
    Unit.WATTS: _of(J=1, s=-1),
}

_GRAFANA = {
    Unit.AMPERES: "amp",
    Unit.BITS_PER_SECOND: "bps",
    Unit.BYTES: "bytes",
    Unit.BYTES_PER_SECOND: "Bps",
    Unit.CELSIUS: "celsius",
    Unit.DB: "dB",
    Unit.DBM: "dBm",
    Unit.HERTZ: "hertz",
    Unit.JOULES: "joule",
    Unit.KILOPASCALS: "pressurekpa",
    Unit.LITERS: "litre",
    Unit.LITERS_PER_MINUTE: "flowlpm",
    Unit.METERS: "lengthm",
    Unit.NONE: "short",
    Unit.RATIO: "percentunit",
    Unit.RPM: "rotrpm",
    Unit.SECONDS: "s",
    Unit.VOLTS: "volt",
    Unit.WATTS: "watt",
}
"""Grafana's names (packages/grafana-data/src/valueFormats/categories.ts)."""

_NAMES = {_MEASURES[unit]: name for unit, name in _GRAFANA.items()} | {
    _of(s=-1): "cps",
    _of(_DAY, s=1): "d",
}


@dataclass(frozen=True)
class Meaning:
    """Labels and measure of an answer; no measure is that of a bare number, which fits any."""

    labels: frozenset[str]
    measure: Measure | None

    @property
    def unit(self) -> str | None:
        """Grafana's name for the unit; None where it has none."""
        return _NAMES.get(self.measure or COUNT)


def meaning(node: Node) -> Meaning:
    """Return what a query's answer is.

    Raises:
        KeyError: it reads a metric that is not in the catalogue.
    """
    match node:
        case Selector():
            return _selected(node)
        case Call():
            return _called(node)
        case Aggregate():
            return _aggregated(node)
        case Binary():
            return _joined(node)
        case Number() | Text():
            return Meaning(frozenset(), None)


def metric_of(name: str) -> Metric:
    """Return the metric of an exported name; a histogram's parts are metrics of their own.

    Raises:
        KeyError: nobody exports it.
    """
    if name not in METRICS:
        raise KeyError(f"{name} is not in the catalogue")
    return METRICS[name]


def _selected(node: Selector) -> Meaning:
    metric = metric_of(node.metric)
    measure = _MEASURES[metric.unit]
    if metric.kind is Kind.PART and not metric.name.endswith("_sum"):
        measure = COUNT
    return Meaning(frozenset(metric.labels), measure)


_PER_SECOND = frozenset({"rate", "irate", "deriv"})
_LABELLING = frozenset({"label_replace", "label_join"})


def _called(node: Call) -> Meaning:
    if node.name == "time":
        return Meaning(frozenset(), _of(moment=1))
    inner = meaning(node.arguments[0 if node.name in _LABELLING else -1])
    if node.name in _LABELLING:
        made = {one.value for one in node.arguments[1:2] if isinstance(one, Text)}
        return replace(inner, labels=inner.labels | made)
    if node.name in _PER_SECOND:
        measure = (inner.measure or COUNT).times(_of(s=1), -1)
        return replace(inner, measure=replace(measure, share=not measure.exponents))
    if node.name == "histogram_quantile":
        return Meaning(inner.labels - {"le"}, _histogram_unit(node.arguments[-1]))
    return replace(inner, measure=COUNT) if node.name == "count_over_time" else inner


def _histogram_unit(node: Node) -> Measure:
    """Return the unit of what a histogram's buckets measure: that of its name."""
    while not isinstance(node, Selector):
        node = node.arguments[-1] if isinstance(node, Call) else _inner(node)
    family = node.metric.removeprefix(PREFIX).removesuffix("_bucket")
    return _MEASURES[METRICS[f"{PREFIX}{family}"].unit]


def _inner(node: Aggregate | Binary | Number | Text) -> Node:
    if isinstance(node, Aggregate):
        return node.of
    if isinstance(node, Binary):
        return node.left
    raise KeyError("a number has no buckets")


_KEEPS_ALL = frozenset({"topk", "bottomk", "limitk"})


def _aggregated(node: Aggregate) -> Meaning:
    inner = meaning(node.of)
    if node.name in _KEEPS_ALL:
        return inner
    labels = inner.labels - node.labels if node.without else inner.labels & node.labels
    return Meaning(labels, COUNT if node.name in {"count", "group"} else inner.measure)


def _joined(node: Binary) -> Meaning:
    left, right = meaning(node.left), meaning(node.right)
    return Meaning(_labels(node, left, right), _measure(node, left.measure, right.measure))


def _labels(node: Binary, left: Meaning, right: Meaning) -> frozenset[str]:
    if node.operator in {"and", "unless"} or isinstance(node.right, Number):
        return left.labels
    if isinstance(node.left, Number):
        return right.labels
    if node.operator == "or":
        return left.labels | right.labels
    if node.many:
        many, one = (left, right) if node.many == "left" else (right, left)
        return many.labels | (node.brought & one.labels)
    if node.on is not None:
        return left.labels & node.on
    return left.labels - node.ignoring


def _measure(node: Binary, left: Measure | None, right: Measure | None) -> Measure | None:
    if node.operator in {"*", "/"}:
        sign = 1 if node.operator == "*" else -1
        return _scaled(node, left, right, sign)
    if node.operator == "-" and left == right and left in (_of(dBm=1), _of(moment=1)):
        return _of(dB=1) if left == _of(dBm=1) else _of(s=1)
    if node.operator == "^":
        return (left or COUNT).times(left or COUNT)
    return left if left is not None else right


def _scaled(node: Binary, left: Measure | None, right: Measure | None, sign: int) -> Measure | None:
    """Return the measure of a product or quotient; a bare number changes the size of the unit."""
    if isinstance(node.right, Number) and left is not None:
        return replace(left, factor=left.factor / abs(node.right.value) ** sign)
    if isinstance(node.left, Number) and right is not None and sign > 0:
        return replace(right, factor=right.factor / abs(node.left.value))
    if left is None or right is None:
        return None
    return left.times(right, sign)
