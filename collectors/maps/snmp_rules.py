"""SNMP maps: files that say what columns of MIBs are in the catalogue, checked when they are read.

One YAML file per group of MIBs under `collectors/maps/snmp`. Tables name columns; what a file
says beyond that depends on what its rows are: ports, sensors or neighbours.
"""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field

from collectors.maps import modules
from collectors.maps.map_parts import AnyMetric, MapPart
from fabrichealth.yamlfile import load

FOLDER = Path(__file__).parent / "snmp"


def _pattern(text: object) -> object:
    try:
        return re.compile(text) if isinstance(text, str) else text
    except re.error as wrong:
        raise ValueError(f"{text!r} is no regular expression ({wrong})") from None


def _column(given: object) -> object:
    return {"at": given} if isinstance(given, int) else given


def _alternatives(given: object) -> object:
    if isinstance(given, list):
        return tuple((one,) if isinstance(one, str) else tuple(one) for one in given)
    return given


class Column(MapPart):
    """One column of a table: its place below the entry, and the bits of a counter."""

    at: int
    bits: Literal[0, 32, 64] = 0


class Table(MapPart):
    """Columns below one entry."""

    entry: str = Field(pattern=r"^[0-9]+(\.[0-9]+)+$")
    columns: Mapping[str, Annotated[Column, BeforeValidator(_column)]]


class _File(MapPart):
    about: str
    tables: tuple[Table, ...]

    @cached_property
    def oids(self) -> dict[str, str]:
        """OID of every column, by its name."""
        return {
            name: f"{table.entry}.{column.at}"
            for table in self.tables
            for name, column in table.columns.items()
        }

    @cached_property
    def bits(self) -> dict[str, int]:
        """Bits of every column that counts, 0 of the others."""
        return {name: one.bits for table in self.tables for name, one in table.columns.items()}


class Rule(MapPart):
    """What some columns are in the catalogue."""

    to: AnyMetric
    names: Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_alternatives)] = Field(
        alias="from", min_length=1
    )
    """Alternatives, best first, each of columns that are added up."""
    worth: float = 1.0
    values: Mapping[int, float] = Field(default_factory=dict, alias="is")
    """The only values there are, and what they mean."""
    none: tuple[int, ...] = ()
    """Values by which the agent says that it does not know."""
    while_up: bool = False
    """Only of ports that are up."""
    most: Literal["", "octets", "frames"] = ""


class PortColumns(MapPart):
    """Which columns tell what the rows are."""

    names: tuple[str, str]
    """Names of ports, best first."""
    type: str
    types: tuple[int, ...]
    """Types of interfaces that are ports; the rest is made of them."""
    discontinuity: str


class PortMap(_File):
    """Tables whose rows are ports."""

    rows: Literal["port"]
    ports: PortColumns
    rules: tuple[Rule, ...]


class ModulePattern(MapPart):
    """Names of one quantity of optical modules."""

    name: Annotated[re.Pattern[str], BeforeValidator(_pattern)]
    quantity: str


class SensorMap(_File):
    """Tables whose rows are sensors."""

    modules: tuple[ModulePattern, ...]
    devices: Mapping[int, AnyMetric]
    quantities: Mapping[str, tuple[int, ...]]


class NeighborMap(_File):
    """Tables of LLDP."""


Map = TypeVar("Map", bound=_File)


@cache
def interfaces() -> PortMap:
    """Return the map of ports."""
    return _read("interfaces", PortMap)


@cache
def sensors() -> SensorMap:
    """Return the map of sensors."""
    return _read("sensors", SensorMap)


@cache
def neighbors() -> NeighborMap:
    """Return the map of neighbours."""
    return _read("neighbors", NeighborMap)


def _read(name: str, kind: type[Map]) -> Map:
    """Read a map of this folder.

    Raises:
        SiteError: it is wrong; the message says where.
    """
    file = load(FOLDER / f"{name}.yaml")
    known = file.validated(kind, file.value)
    for what in _faults(known):
        raise file.error((), what)
    return known


def _faults(known: _File) -> list[str]:
    """Return what does not fit the catalogue, or the tables of the same file."""
    if isinstance(known, PortMap):
        used = {name for rule in known.rules for group in rule.names for name in group}
        used |= {*known.ports.names, known.ports.type, known.ports.discontinuity}
        faults = [f"{rule.to}: not of a port" for rule in known.rules if len(rule.to.labels) != 2]
    elif isinstance(known, SensorMap):
        used = set()
        quantities = modules.MODULE.keys() | modules.LANE.keys()
        told = {one.quantity for one in known.modules}
        faults = [f"quantity {one} is none of a module" for one in told - quantities]
        faults += [f"quantity {one} has no types" for one in told - known.quantities.keys()]
    else:
        return []
    return faults + [f"column {name} is in no table" for name in sorted(used - known.oids.keys())]
