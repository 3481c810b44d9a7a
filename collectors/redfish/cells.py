"""Cells: what each value of a resource is, by the rules of its kind and what stands beside it.

A reading counts in the unit that it writes itself, else in that of its type, else in that of its
property's name. What is offline, relative or in a unit of something else is refused and named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from collectors.maps import redfish_rules
from collectors.maps.quantities import MEASURES, Measure, step
from collectors.maps.redfish_rules import ITEM, WORDS, Property, Rule
from collectors.protocols.redfish import units
from collectors.protocols.redfish.documents import Body, last, place
from collectors.protocols.redfish.status import Presence, presence
from collectors.redfish.kinds import kind
from collectors.redfish.names import Names
from fabrichealth.catalogue.cooling import LEAK
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.metric import Metric
from fabrichealth.model import Reason, Refused

LIMITS = ("UpperThresholdCritical", "UpperThresholdFatal", "MaxReadingRangeTemp")

DISTANCES = frozenset({"Delta", "Headroom"})
"""Values of a sensor's ReadingBasis that make its reading a distance, not a level."""

NAMED = ("DeviceName", "Name", "FanName", "MemberId")
"""What an item calls itself, where no sensor of its own does; best first."""

READINGS = frozenset(
    {
        ("Sensor", "Reading"), ("LeakDetector", "DetectorState"), ("Thermal", "ReadingCelsius"),
        ("Thermal", "Reading"), ("Thermal", "ReadingRPM"),
    }
)  # fmt: skip
"""What a thing that is enabled must tell; null in another property is one that it does not have."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of one series: `value * times / over + offset` in the metric's unit."""

    place: int
    """Of the leaf among the values of the body."""
    path: Path
    metric: Metric
    labels: tuple[str, ...]
    rule: Rule
    times: float
    over: float
    offset: float
    words: Mapping[str, float] | None
    due: bool
    """Whether a null is a failure: the thing says that it is enabled."""
    level: bool
    """Whether a value below 0 is one; where every limit is 0 it is a distance from there."""
    absent: frozenset[float]
    """Numbers that mean nothing is there."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one body tells."""

    cells: tuple[Cell, ...]
    refused: tuple[Refused, ...]
    sources: frozenset[str]


def cells(path: str, body: Body, names: Names, maker: str, at: Mapping[Path, int]) -> Told:
    """Return what a resource tells; `at` is the number of each of its leaves."""
    telling = _Telling(path, body, names, maker, at)
    found = tuple(telling.cells())
    read = {cell.path for cell in found}
    refused = tuple(one for leaf, one in telling.refused.items() if leaf not in read)
    return Told(found, refused, frozenset(telling.sources))


class _Telling:
    """Works out the cells of one body."""

    def __init__(
        self, path: str, body: Body, names: Names, maker: str, at: Mapping[Path, int]
    ) -> None:
        self.refused: dict[Path, Refused] = {}
        self.sources: set[str] = set()
        self._path, self._body, self._names, self._maker, self._at = path, body, names, maker, at
        self._kind = kind(path, body)
        self._labels = names.of(path, body)

    def cells(self) -> Iterator[Cell]:
        """Yield the cells, those of a series in the order in which they are believed."""
        if self._body.get("Enabled") is False:  # a sensor or detector that is switched off
            return
        sensor = self._kind == "Sensor"
        seen: set[Path] = set()
        for found in redfish_rules.properties(self._kind, self._body):
            leaf, holder = _leaf(found)
            if leaf not in self._at or leaf in seen or not self._in_context(found, holder):
                continue
            cell = self._cell(found.rule, found, leaf, holder)
            if cell is not None:
                if sensor or found.rule.picky:
                    seen.add(leaf)
                self._source(holder)
                yield cell

    def _cell(
        self, rule: Rule, found: Property, leaf: Path, holder: Mapping[str, Any]
    ) -> Cell | None:
        labels = self._told(rule, found, holder)
        there = _presence(found)
        if labels is None or there is Presence.GONE:
            return None
        if rule.alone and not self._names.alone(self._path):
            return None
        measure = self._measure(rule, leaf, holder)
        if measure is None or (rule.form == "number" and measure.unit is not rule.to.unit):
            self._strange(rule, labels, leaf, holder)
            return None
        if there is Presence.OFFLINE and not rule.offline:
            self._refuse(Reason.FAILED, rule, labels, leaf, "offline")
            return None
        if self._relative(rule, leaf, holder):
            self._refuse(Reason.UNSUPPORTED, rule, labels, leaf, "a distance to a limit")
            return None
        worth = step(measure)
        absent = (number for one in self._oddities(leaf, holder) for number in one.absent)
        return Cell(
            self._at[leaf], leaf, rule.to, labels, rule, worth.times, worth.over, worth.offset,
            WORDS.get(rule.form), there is Presence.ENABLED and (self._kind, leaf[-1]) in READINGS,
            not (rule.to is DEVICE_TEMPERATURE and _ends_at_zero(holder)), frozenset(absent),
        )  # fmt: skip

    def _told(
        self, rule: Rule, found: Property, holder: Mapping[str, Any]
    ) -> tuple[str, ...] | None:
        """Return the values of a metric's labels; None where one is not known."""
        known = dict(self._labels)
        for label, value in rule.labels.items():
            if value == ITEM:
                item = _called(found)
                known[label] = self._names.item(label, self._path, self._labels, item)
            else:
                known[label] = value.format_map({**known, **found.names})
        if rule.to is LEAK and "DeviceName" in holder:
            known["zone"] = self._names.zone(self._path, _text(holder, "DeviceName"))
        if any(label not in known for label in rule.to.labels):
            return None
        return tuple(known[label] for label in rule.to.labels)

    def _in_context(self, found: Property, holder: Mapping[str, Any]) -> bool:
        """Return whether a rule for some physical contexts, or names, fits the resource."""
        rule = found.rule
        if rule.cools and not self._names.cools:
            return False
        if not rule.picky:
            return True
        said = holder if len(found.path) > 1 else self._body
        own = last(self._path) if said is self._body else last(place(said.get("DataSourceUri")))
        return (
            _text(said, "PhysicalContext") in rule.context
            or _text(said, "ReadingType") in rule.types
            or any(rule.names(name) for name in (own, *(_text(said, key) for key in NAMED)))
        )

    def _measure(self, rule: Rule, leaf: Path, holder: Mapping[str, Any]) -> Measure | None:
        """Return what one of a reading is; None for a unit that nobody knows."""
        if rule.form != "number" or leaf[-1] == "SpeedRPM":
            return rule.measure
        said = self._body if self._kind == "Sensor" else holder  # for its thresholds as well
        written = _text(said, "ReadingUnits")
        for one in self._oddities(leaf, holder):
            written = one.unit if one.unit and one.writes == written else written
        of_sensor = said.get("ReadingType") if said is self._body else None
        name = units.measure(written, of_sensor)
        if not name:
            return None if written or of_sensor else rule.measure
        return MEASURES[name]

    def _relative(self, rule: Rule, leaf: Path, holder: Mapping[str, Any]) -> bool:
        if rule.form != "number" or rule.zero:
            return False
        basis = _text(self._body if self._kind == "Sensor" else holder, "ReadingBasis")
        return basis in DISTANCES or any(one.relative for one in self._oddities(leaf, holder))

    def _oddities(self, leaf: Path, holder: Mapping[str, Any]) -> Iterator[redfish_rules.Oddity]:
        prop = "/".join(leaf).removesuffix("/Reading")
        name = next((text for key in NAMED if (text := _text(holder, key))), "")
        said = name or _text(self._body, "Name")
        return (
            one for one in redfish_rules.oddities() if one.fits(self._kind, prop, said, self._maker)
        )

    def _strange(
        self, rule: Rule, labels: tuple[str, ...], leaf: Path, holder: Mapping[str, Any]
    ) -> None:
        """Refuse a reading whose unit is of another quantity; sensors are of any."""
        written = _text(holder, "ReadingUnits")
        implied = units.measure("", holder.get("ReadingType"))
        unknown = (
            not units.measure(written) and implied and (MEASURES[implied].unit is rule.to.unit)
        )
        if written and (self._kind != "Sensor" or unknown):
            self._refuse(Reason.MALFORMED, rule, labels, leaf, f"in {written[:20]}")

    def _refuse(
        self, reason: Reason, rule: Rule, labels: tuple[str, ...], leaf: Path, raw: str
    ) -> None:
        shown = dict(zip(rule.to.labels, labels, strict=True))
        self.refused.setdefault(leaf, Refused(reason, str(rule.to), shown, raw))

    def _source(self, holder: Mapping[str, Any]) -> None:
        uri = place(holder.get("DataSourceUri"))
        if uri:
            self.sources.add(uri)


def _leaf(found: Property) -> tuple[Path, Mapping[str, Any]]:
    """Return the leaf of a property, and the object that tells of it: its excerpt or item."""
    if isinstance(found.value, Mapping):
        return (*found.path, "Reading"), found.value
    above = found.above[-2]
    return found.path, above if isinstance(above, Mapping) else {}


def _presence(found: Property) -> Presence:
    """Return what the nearest Status says."""
    for node in reversed(found.above):
        if isinstance(node, Mapping) and "Status" in node:
            return presence(node)
    return Presence.UNKNOWN


def _called(found: Property) -> str:
    """Return what an item is called: by its sensor, else by itself, else by its place."""
    for node in reversed(found.above[1:]):
        if isinstance(node, Mapping):
            source = last(place(node.get("DataSourceUri")))
            named = source or next((text for key in NAMED if (text := _text(node, key))), "")
            if named:
                return named
    numbers = [step for step in found.path if step.isdigit()]
    return numbers[-1] if numbers else found.path[-1]


def _ends_at_zero(holder: Mapping[str, Any]) -> bool:
    """Return whether the limits that a temperature has are all 0, as a distance's are."""
    told = [holder[key] for key in LIMITS if holder.get(key) is not None]
    return len(told) > 1 and not any(told)


def _text(holder: Mapping[str, Any], key: str) -> str:
    said = holder.get(key)
    return said.strip() if isinstance(said, str) else ""
