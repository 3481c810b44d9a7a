"""Page maps: files that say what an exporter's names are in the catalogue.

One YAML file per exporter under `collectors/maps/pages`, or a site's own. A map is checked
against the catalogue when it is loaded, so that a wrong metric or label is an error with file
and line, and never a series that nobody finds.
"""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from collectors.maps.map_parts import MapPart
from collectors.maps.page_names import Template, pattern
from fabrichealth.catalogue import METRICS
from fabrichealth.errors import SiteError
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Reason
from fabrichealth.yamlfile import load

FOLDER = Path(__file__).parent / "pages"


def _template(text: object) -> Template:
    return text if isinstance(text, Template) else Template(str(text))


def _several(given: object) -> object:
    return given if isinstance(given, list | tuple) else [given]


Filled = Annotated[Template, BeforeValidator(_template)]
Several = Annotated[tuple[Filled, ...], BeforeValidator(_several)]
Names = Annotated[tuple[str, ...], BeforeValidator(_several), Field(min_length=1)]


class Sentinel(MapPart):
    """Values from `least` to `most` that mean there is none; the reason says why."""

    least: float = -float("inf")
    most: float = float("inf")
    reason: Reason = Reason.UNSUPPORTED


class DeviceName(MapPart):
    """How a device is called; `ids` are labels by which the topology may know it better."""

    name: Filled
    ids: tuple[str, ...] = ()


class Gate(MapPart):
    """Readings are absent where another sample of the same device has this value."""

    metric: str
    value: float


class State(MapPart):
    """A value that a label holds in words."""

    label: str
    values: Mapping[str, float] = Field(alias="is")


class Codes(MapPart):
    """A gauge of the last code, of which a counter is made (`last_codes`)."""

    name: str
    """How a code is written: a Python format, `xid:{:d}`."""
    known: tuple[int, ...]
    """Codes whose counters start at 0 at the first contact."""
    none: tuple[int, ...] = (0,)
    """Values that mean there was no error."""


class Rule(MapPart):
    """What some names of the page are in the catalogue."""

    names: Names = Field(alias="from")
    to: str = ""
    """Exported name of a metric; empty for a sample that only others refer to."""
    device: Several = ()
    port: Several = ()
    labels: Mapping[str, Several] = Field(default_factory=dict)
    scale: float = 1.0
    offset: float = 0.0
    over: str = ""
    """The value is divided by this sample of the same device and port."""
    convert: Literal["", "milliwatts", "dark"] = ""
    values: Mapping[float, float] = Field(default_factory=dict)
    """The only values there are, and what they mean."""
    state: State | None = None
    value: float | None = None
    """The value, whatever the page says (info series)."""
    sentinels: str = "usual"
    """Which of the file's sentinels count; `none` for none."""
    gate: Gate | None = None
    unless: str = ""
    """Not taken where the page gives this metric for the same device and port."""
    codes: Codes | None = None

    @cached_property
    def metric(self) -> Metric | None:
        """The metric of the catalogue."""
        return METRICS.get(self.to)

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """Patterns of the names."""
        return tuple(pattern(name) for name in self.names)


class PageMap(MapPart):
    """One exporter."""

    about: str
    hosts: tuple[str, ...] = ()
    """Labels that name the host; without one it is the target's device."""
    devices: tuple[DeviceName, ...] = Field(min_length=1)
    """The first whose fields a sample has names its device."""
    sentinels: Mapping[str, tuple[Sentinel, ...]] = Field(default_factory=dict)
    """By name; rules that say nothing use `usual`."""
    skip: Mapping[str, str] = Field(default_factory=dict)
    """Samples whose label matches this expression are nobody's business."""
    rules: tuple[Rule, ...] = Field(min_length=1)

    @cached_property
    def _skipped(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        return tuple((label, re.compile(text)) for label, text in self.skip.items())

    def skips(self, labels: Mapping[str, str]) -> bool:
        """Return whether a sample with these labels is nobody's business."""
        return any(text.fullmatch(labels.get(label, "")) for label, text in self._skipped)


def builtin() -> dict[str, Path]:
    """Return the files of the maps that come with the product, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.yaml"))}


def named(mapping: str) -> PageMap:
    """Return a map by its name, or by the path of a site's own file.

    Raises:
        SiteError: there is none, or the file is wrong.
    """
    files = builtin()
    if mapping in files:
        return read(files[mapping])
    if not Path(mapping).is_file():
        raise SiteError(
            f"mapping {mapping}: no such file; give a path or one of {', '.join(files)}"
        )
    return read(Path(mapping))


def read(path: Path) -> PageMap:
    """Read a map and check it against the catalogue.

    Raises:
        SiteError: file, line and key of the first thing that is wrong.
    """
    file = load(path)
    found = file.validated(PageMap, file.value)
    for index, rule in enumerate(found.rules):
        for key, what in _faults(found, rule):
            raise file.error(("rules", index, *key.split(".")), what)
    for label, expression in found.skip.items():
        try:
            re.compile(expression)
        except re.error as wrong:
            raise file.error(("skip", label), f"not a regular expression ({wrong})") from None
    return found


def _faults(page: PageMap, rule: Rule) -> list[tuple[str, str]]:
    """Return (key, what) of what does not fit the catalogue."""
    faults: list[tuple[str, str]] = []
    if rule.sentinels not in {"usual", "none", *page.sentinels}:
        faults.append(("sentinels", f"{rule.sentinels} is not among the file's sentinels"))
    if rule.unless and rule.unless not in METRICS:
        faults.append(("unless", f"{rule.unless} is not in the catalogue"))
    if not rule.to:
        return faults
    metric = rule.metric
    if metric is None:
        return [*faults, ("to", f"{rule.to} is not in the catalogue; see its list of metrics")]
    faults += [
        (f"labels.{label}", f"{metric} has no label {label}, only {', '.join(metric.labels)}")
        for label in rule.labels
        if label not in metric.labels
    ]
    given = {
        "device",
        *rule.labels,
        *(["port"] if rule.port else []),
        *(["code"] if rule.codes else []),
    }
    faults += [
        ("to", f"{metric} needs a label {label}; say how it is made")
        for label in metric.labels
        if label not in given and metric.kind is not Kind.INFO
    ]
    return faults


@cache
def all_maps() -> tuple[PageMap, ...]:
    """Return every map that comes with the product."""
    return tuple(read(path) for path in builtin().values())
