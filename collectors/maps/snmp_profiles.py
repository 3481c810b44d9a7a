"""SNMP profiles: files that say what the objects of a vendor's PDU or cooler are in the catalogue.

One YAML file per MIB under `collectors/maps/snmp/devices`, or a site's own. An agent is known by
its sysObjectID. A table's rows are named by the numbers of their index and by columns (`facts`);
a reading is a column of the rows for which its `where` holds.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from collectors.maps.map_parts import AnyMetric, MapPart
from collectors.maps.quantities import MEASURES
from collectors.maps.register_schema import METRICS, NAMED, OPTIONAL, Exact
from fabrichealth.errors import SiteError
from fabrichealth.yamlfile import YamlFile, load

FOLDER = Path(__file__).parent / "snmp" / "devices"

DEFAULT_LABELS: Mapping[str, str] = {
    "phase": "{phase}",
    "outlet": "{outlet}",
    "circuit": "{circuit}",
    "sensor": "{name}|{sensor}",
}
"""What fills a label where a reading says nothing: the first of which all facts are there."""

Oid = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)+$")]


def _fact(given: object) -> object:
    return {"column": given} if isinstance(given, int) else given


def _several(given: object) -> object:
    return given if isinstance(given, list | tuple) else [given]


def _texts(given: object) -> object:
    if not isinstance(given, Mapping):
        return given
    return {
        key: tuple(str(one) for one in (value if isinstance(value, list) else [value]))
        for key, value in given.items()
    }


class Fact(MapPart):
    """A column that says something of a row that hardly ever changes."""

    column: int | None = None
    """Of the table's own entry; else `oid`."""
    oid: Oid | None = None
    index: tuple[str, ...] | None = None
    """Facts that make up the index in another table; default the row's own, [] for a scalar."""


class Gate(MapPart):
    """A column that says now whether a row's values are any."""

    column: int
    ok: tuple[int, ...] = ()
    """Values under which they are; empty: all but those below."""
    absent: tuple[int, ...] = ()
    """There is nothing there, and never was."""
    lost: tuple[int, ...] = ()
    """There should be something."""


class UnitBy(MapPart):
    """A fact that says in which unit values come."""

    fact: str
    meanings: Mapping[int, str] = Field(alias="is")


class Reading(MapPart):
    """What a column is, of the rows for which `where` holds."""

    column: int
    to: AnyMetric
    where: Annotated[Mapping[str, tuple[str, ...]], BeforeValidator(_texts)] = Field(
        default_factory=dict
    )
    """Facts, and the texts that each may have."""
    scale: Exact = Fraction(1)
    unit: str = ""
    unit_by: UnitBy | None = None
    digits: str = ""
    """A fact: values are divided by ten to its power."""
    divisor: str = ""
    """A fact: values are divided by it."""
    none: tuple[int, ...] = ()
    """Values that mean there is none."""
    meanings: Mapping[int, float] = Field(default_factory=dict, alias="is")
    """The only values there are, and what they mean; others are not read."""
    labels: Mapping[str, str] = Field(default_factory=dict)
    fallback: bool = False
    """Only of a feed of which no other row tells this metric."""

    def measure(self, facts: Mapping[str, str]) -> str:
        """Return the unit of a row; empty where the device names one that is unknown."""
        if self.unit_by is None:
            return self.unit or self.to.unit.value or "none"
        said = facts.get(self.unit_by.fact, "")
        return self.unit_by.meanings.get(int(said), "") if said.isdecimal() else ""


class Rows(MapPart):
    """One table, or scalars that stand below one OID."""

    entry: Oid
    index: tuple[str, ...] = ()
    """Names of the numbers of an index, from the left; `-` for one that nobody needs."""
    facts: Mapping[str, Annotated[Fact, BeforeValidator(_fact)]] = Field(default_factory=dict)
    gates: Annotated[tuple[Gate, ...], BeforeValidator(_several)] = ()
    read: tuple[Reading, ...] = Field(min_length=1)

    def fact_oid(self, name: str) -> str:
        """Return the OID of the column that a fact stands in."""
        fact = self.facts[name]
        return fact.oid or f"{self.entry}.{fact.column}"


class Profile(MapPart):
    """A vendor's MIB."""

    about: str
    evidence: str
    """What its OIDs, scales and sentinels were taken from or held against."""
    systems: tuple[Oid, ...] = Field(min_length=1)
    """What a sysObjectID begins with."""
    first_unit: Literal[0, 1] = 1
    """Number of the first of several units behind one agent."""
    tables: tuple[Rows, ...] = Field(min_length=1)

    def knows(self, system: str) -> int:
        """Return how much of a sysObjectID fits, in characters; 0 for a stranger."""
        return max(
            (len(one) for one in self.systems if f"{system}.".startswith(f"{one}.")), default=0
        )


def names() -> tuple[str, ...]:
    """Return the names of the profiles that are shipped."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def shipped() -> dict[str, Profile]:
    """Return the profiles that are shipped."""
    return {name: read(FOLDER / f"{name}.yaml") for name in names()}


def of_system(system: str) -> str:
    """Return the name of the shipped profile that fits a sysObjectID best; empty for none."""
    fits = {name: profile.knows(system) for name, profile in shipped().items()}
    best = max(fits, key=lambda name: fits[name], default="")
    return best if best and fits[best] else ""


def find(said: str) -> Profile:
    """Return a profile given by a shipped name or a path.

    Raises:
        SiteError: there is none of that name, or it is wrong.
    """
    if said in names():
        return read(FOLDER / f"{said}.yaml")
    if "/" not in said and not said.endswith((".yaml", ".yml")):
        known = ", ".join(names())
        raise SiteError(f"no profile named {said}; there are {known}, or give a file")
    return read(Path(said))


@lru_cache(maxsize=64)
def read(path: Path) -> Profile:
    """Read a profile.

    Raises:
        SiteError: it is wrong; the message says where.
    """
    file = load(path)
    known = file.validated(Profile, file.value)
    _check(file, known)
    return known


def _check(file: YamlFile, known: Profile) -> None:
    for at, rows in enumerate(known.tables):
        own = {*rows.index, *rows.facts}
        for name, fact in rows.facts.items():
            loc = ("tables", at, "facts", name)
            if (fact.column is None) is (fact.oid is None):
                raise file.error(loc, "give a column of the entry, or an oid")
            for part in fact.index or ():
                if part not in rows.index:
                    raise file.error(loc, f"{part} is no part of the index")
        for place, reading in enumerate(rows.read):
            for key, what in _faults(reading, own):
                raise file.error(("tables", at, "read", place, key), f"{reading.to}: {what}")


def _faults(reading: Reading, own: set[str]) -> Iterator[tuple[str, str]]:
    """Yield key and text of what cannot be in a reading."""
    used = {*reading.where, reading.digits, reading.divisor} - {""}
    used |= {reading.unit_by.fact} if reading.unit_by else set()
    used |= {fact for text in reading.labels.values() for fact in placeholders(text)}
    for fact in sorted(used - own):
        yield "column", f"fact {fact} is neither of the index nor among facts"
    if reading.to not in METRICS:
        yield "to", "none of cooling, power, or a device's own sensors"
    units = reading.unit_by.meanings.values() if reading.unit_by else [reading.measure({})]
    for unit in units:
        if unit not in MEASURES or MEASURES[unit].unit is not reading.to.unit:
            yield "unit", f"{unit} is no unit of it"
    if reading.scale <= 0:
        yield "scale", "no size of a step"
    for label in reading.labels:
        if label not in reading.to.labels or label in NAMED:
            yield "labels", f"has no label {label} to be given"
    for label in reading.to.labels:
        if label in NAMED | OPTIONAL | {"zone"} or reading.labels.get(label):
            continue
        needed = placeholders(DEFAULT_LABELS.get(label, ""))
        if not own & set(needed):
            yield "labels", f"wants {label}"


def placeholders(template: str) -> list[str]:
    """Return the facts that a label is made of."""
    return re.findall(r"\{(\w+)\}", template)


def filled(template: str, facts: Mapping[str, str]) -> str:
    """Return a label: the first alternative of which every fact says something."""
    for text in template.split("|"):
        words = placeholders(text)
        if all(facts.get(word) for word in words):
            return re.sub(r"\{(\w+)\}", lambda found: facts[found[1]], text)
    return ""
