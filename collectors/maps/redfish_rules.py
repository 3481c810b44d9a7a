"""Redfish maps: what properties of resources are in the catalogue, and where makers differ.

A property's path has literal names, `*` for each item of a list or object, and names in braces that
take a part of a name (`Line{phase}`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import nan
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from collectors.maps.map_parts import AnyMetric, MapPart
from collectors.maps.quantities import MEASURES, Measure
from fabrichealth.metric import Metric
from fabrichealth.yamlfile import load

FOLDER = Path(__file__).parent / "redfish"

ITEM = "*"
"""A label's value that is the item's own name."""

Form = Literal[
    "number", "running", "detector", "health", "breaker", "power", "link", "enabled"
]  # fmt: skip

WORDS: Mapping[str, Mapping[str, float]] = {
    "detector": {"OK": 0.0, "Warning": 1.0, "Critical": 1.0, "Unavailable": nan},
    "health": {"OK": 1.0, "Warning": 0.0, "Critical": 0.0},
    "breaker": {"Normal": 1.0, "Tripped": 0.0, "Off": 0.0},
    "link": {"LinkUp": 1.0, "LinkDown": 0.0, "NoLink": 0.0, "Starting": 0.0, "Training": 0.0},
    "enabled": {"Enabled": 1.0, "Disabled": 0.0},
    "power": {"On": 1.0, "PoweringOff": 1.0, "Paused": 1.0, "Off": 0.0, "PoweringOn": 0.0},
}
"""Words as numbers, by form; NaN for one that says the thing cannot be read."""


class Rule(MapPart):
    """What one property is."""

    to: AnyMetric
    unit: str = ""
    """The measure where the reading does not say its own."""
    form: Form = Field("number", alias="as")
    labels: Mapping[str, str] = Field(default_factory=dict)
    join: Literal["first", "most"] = "first"
    offline: bool = False
    """Whether it is told by what is offline as well."""
    alone: bool = False
    """Only where the device alone feeds its rack."""
    zero: Literal["", "unset"] = ""
    """A limit or a speed of 0 is none."""
    context: tuple[str, ...] = ()
    named: str = ""
    """Only in these physical contexts, or under a name whose words hold this pattern."""
    types: tuple[str, ...] = ()
    """Only for these reading types."""
    cools: bool = False
    """Only of a device that drives a loop."""

    @property
    def picky(self) -> bool:
        """Whether it is only of some readings of a property; a reading is of one such rule."""
        return bool(self.context or self.named or self.types)

    def names(self, said: str) -> bool:
        """Return whether its pattern is in the words of a name."""
        return bool(self.named) and _pattern(self.named).search(_words(said)) is not None

    @property
    def measure(self) -> Measure:
        """What a bare number counts."""
        return MEASURES[self.unit] if self.unit else Measure(self.to.unit)


class Rules(MapPart):
    """The file of properties."""

    about: str
    types: Mapping[str, Mapping[str, tuple[Rule, ...]]]


class Oddity(MapPart):
    """One way in which services differ from the model."""

    why: str
    type: str = ".*"
    property: str = ".*"
    name: str = ".*"
    maker: str = ".*"
    writes: str = ""
    unit: str = ""
    relative: bool = False
    absent: tuple[float, ...] = ()

    def fits(self, kind: str, path: str, name: str, maker: str) -> bool:
        """Return whether it holds for a property of a resource of a maker."""
        told = ((self.type, kind), (self.property, path), (self.name, name), (self.maker, maker))
        return all(_whole(pattern).fullmatch(text) for pattern, text in told)


class Oddities(MapPart):
    """The file of oddities."""

    about: str
    oddities: tuple[Oddity, ...]


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a body that a rule is of."""

    path: tuple[str, ...]
    """Names and numbers on the way to it."""
    value: Any
    rule: Rule
    rank: int
    names: Mapping[str, str]
    """What the names in braces stand for."""
    above: Sequence[Any]
    """The body and what lies on the way, the property itself last."""


@cache
def rules() -> Mapping[str, Mapping[str, tuple[Rule, ...]]]:
    """Return the rules by type and property.

    Raises:
        SiteError: the product's own file is wrong; the message says where.
    """
    file = load(FOLDER / "resources.yaml")
    known = file.validated(Rules, file.value)
    for kind, properties in known.types.items():
        for path, found in properties.items():
            for number, rule in enumerate(found):
                if rule.unit not in {"", *MEASURES} or (
                    rule.form == "number" and rule.measure.unit is not rule.to.unit
                ):
                    at = ("types", kind, path, number)
                    raise file.error(at, f"{rule.unit!r} is no unit of {rule.to}")
    return known.types


@cache
def oddities() -> tuple[Oddity, ...]:
    """Return what differs from the model.

    Raises:
        SiteError: the product's own file is wrong; the message says where.
    """
    file = load(FOLDER / "oddities.yaml")
    return file.validated(Oddities, file.value).oddities


def metrics() -> tuple[Metric, ...]:
    """Return every metric that the rules can give."""
    told = (rule.to for kind in rules().values() for found in kind.values() for rule in found)
    return tuple(dict.fromkeys(told))


def properties(kind: str, body: Mapping[str, Any]) -> Iterator[Property]:
    """Yield the properties of a body of a kind that rules are of."""
    rank = 0
    for path, found in rules().get(kind, {}).items():
        for place in _places(path.split("/"), body, (), {}, (body,)):
            for number, rule in enumerate(found):
                yield Property(place[0], place[1][-1], rule, rank + number, place[2], place[1])
        rank += len(found)


Place = tuple[tuple[str, ...], tuple[Any, ...], dict[str, str]]


def _places(
    steps: Sequence[str],
    node: Any,
    at: tuple[str, ...],
    names: dict[str, str],
    above: tuple[Any, ...],
) -> Iterator[Place]:
    if not steps:
        yield at, above, names
        return
    first, *rest = steps
    for key, value in _items(node):
        if first == ITEM:
            more = {}
        elif "{" in first:
            fits = _part(first).fullmatch(key)
            if not fits:
                continue
            more = fits.groupdict()
        elif first == key:
            more = {}
        else:
            continue
        yield from _places(rest, value, (*at, key), names | more, (*above, value))


def _items(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping):
        yield from node.items()
    elif isinstance(node, list):
        yield from ((str(number), one) for number, one in enumerate(node))


@cache
def _part(step: str) -> re.Pattern[str]:
    head, _, rest = step.partition("{")
    name, _, tail = rest.partition("}")
    return re.compile(rf"{re.escape(head)}(?P<{name}>\d+){re.escape(tail)}")


_SEAM = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|[^A-Za-z0-9]+"
)
"""Where a word of a name ends."""


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _words(name: str) -> str:
    """Return the words of a name in small letters: `TCS_SupplyTemp` is `tcs supply temp`."""
    return _SEAM.sub(" ", name).strip().casefold()


@cache
def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)
