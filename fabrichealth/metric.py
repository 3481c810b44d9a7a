"""Metric: each fact about an exported series once.

A `Metric` knows its name, unit, labels, range and help. Everyone else refers to the constant
in `fabrichealth.catalogue`; nobody types a metric's name in quotes.
"""

import re
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from math import inf

from fabrichealth.units import Unit

PREFIX = "fabric_"

PARTS = ("_bucket", "_sum", "_count")
"""Endings of what a histogram consists of, as Prometheus has them."""


class Kind(StrEnum):
    """How a metric behaves; the value is Prometheus' TYPE."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    """A family; what is stored and told are its parts."""
    PART = "part"
    """Buckets (with label `le`), sum or count of a histogram; exported with its family."""
    INFO = "info"
    """Value 1, the facts are its labels; Prometheus' text format calls it a gauge."""


class Subject(Enum):
    """What a metric is about; the value names its labels, and so fixes its cardinality."""

    def __new__(cls, *labels: str) -> "Subject":
        """Take the labels as they are: Python 3.11.2, Debian's, loses a value that is `()`."""
        member = object.__new__(cls)
        member._value_ = labels
        return member

    NONE = ()
    PORT = ("device", "port")
    PRIORITY = ("device", "port", "priority")
    LANE = ("device", "port", "lane")
    DEVICE = ("device",)
    LOOP = ("loop",)
    BRANCH = ("loop", "branch")
    POINT = ("loop", "branch", "point")
    RACK = ("rack",)
    FEED = ("rack", "feed")
    PHASE = ("rack", "feed", "phase")
    SUPPLY = ("rack", "unit")
    TARGET = ("source", "target")
    DETECTOR = ("detector",)
    LINK = ("link",)
    DOMAIN = ("domain",)
    INCIDENT = ("incident",)


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """One name of the catalogue, without its prefix; `str()` gives the exported name.

    Raises:
        ValueError: the name does not end in its unit, or a counter not in `_total`.
    """

    name: str
    kind: Kind
    unit: Unit
    subject: Subject
    help: str
    valid: tuple[float, float] = (-inf, inf)
    """What an instrument can possibly say, in the metric's unit; the rest is refused."""
    extra: tuple[str, ...] = ()
    """Labels beside those of the subject; one that does not apply is the empty string."""
    labels: tuple[str, ...] = field(init=False, repr=False)
    """Names of the labels, in the order in which values are given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", (*self.subject.value, *self.extra))
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.name):
            raise ValueError(f"{self.name}: not a metric name")
        stem = self.name.removesuffix("_total")
        if (stem != self.name) is not (self.kind is Kind.COUNTER):
            raise ValueError(f"{self.name}: a counter, and only a counter, ends in _total")
        if not stem.endswith(self.unit.value):
            raise ValueError(f"{self.name}: does not end in its unit {self.unit.value}")
        if self.kind is Kind.PART and not self.name.endswith(PARTS):
            raise ValueError(f"{self.name}: a part of a histogram ends in {' or '.join(PARTS)}")
        if self.kind is Kind.INFO and not self.name.endswith("_info"):
            raise ValueError(f"{self.name}: an info series ends in _info")

    def __str__(self) -> str:
        return PREFIX + self.name

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"<Metric {self}>"
