"""Register maps: files that say what registers of a Modbus device are in the catalogue.

One YAML file per device under `collectors/maps/registers`, or a site's own. A map is checked when
it is read, so that a wrong address, unit, metric or label is an error with file and line, and
never a number that nobody finds.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from collectors.maps import quantities
from collectors.maps.map_parts import AnyMetric, MapPart
from collectors.maps.quantities import MEASURES, Measure
from collectors.protocols import modbus_registers
from collectors.protocols.modbus_blocks import ADDRESSES, MOST_REGISTERS
from collectors.protocols.modbus_registers import COIL, DISCRETE, NOTHING, Order, Register, Type
from fabrichealth.catalogue import circuits, cooling, devices, power
from fabrichealth.errors import SiteError
from fabrichealth.metric import Kind, Metric
from fabrichealth.units import Unit
from fabrichealth.yamlfile import Loc, YamlFile, load

FOLDER = Path(__file__).parent / "registers"

OF_DEVICES = (
    devices.DEVICE_TEMPERATURE, devices.HUMIDITY, devices.FAN_SPEED, devices.FAN_SPEED_RATIO,
    devices.DEVICE_POWER,
)  # fmt: skip

METRICS: tuple[Metric, ...] = (
    *(
        one
        for module in (cooling, power, circuits)
        for one in vars(module).values()
        if isinstance(one, Metric) and one.kind is not Kind.INFO
    ),
    *OF_DEVICES,
)
"""Every metric that a register can be."""

NAMED = {"device", "rack", "feed", "loop"}
"""Labels that follow from the target."""

OPTIONAL = {"branch", "point", "phase"}
"""Labels that may be empty."""

FULLEST = 4
"""Addresses of the longest type: a request must be able to ask for one."""


def _exact(number: object) -> object:
    return getattr(number, "written", number)


Exact = Annotated[Fraction, BeforeValidator(_exact)]
"""A number as it is written: 0.1 is a tenth."""


class Entry(MapPart):
    """One register, or several that are one number."""

    name: str = Field(min_length=1)
    address: int = Field(ge=0, lt=1_000_000)
    """As the vendor prints it; `base` of the map is taken off."""
    function: Literal[1, 2, 3, 4] | None = None
    """1 coil, 2 discrete input, 3 holding register, 4 input register; default the map's."""
    type: Type | None = None
    """Default uint16, of coils and discrete inputs bit."""
    word_order: Order | None = None
    byte_order: Order | None = None
    bit: int | None = Field(default=None, ge=0, le=63)
    """Only this bit of the number, 0 the least."""
    scale: Exact = Fraction(1)
    """What one step is worth in `unit`: 0.1 for tenths."""
    unit: str = ""
    """Default the metric's own."""
    sentinels: tuple[float, ...] | None = None
    """Raw numbers that mean no sensor; default those of the type, such as 7FFFh."""
    valid: tuple[float, float] | None = None
    """What the sensor can possibly say, in `unit`; default the metric's range."""
    meanings: Mapping[int, float] = Field(default_factory=dict, alias="is")
    """The only raw values there are, and what they mean."""
    to: AnyMetric
    labels: Mapping[str, str | int] = Field(default_factory=dict)
    side: Literal["", "facility"] = ""
    """Whether it is of the facility's loop of a CDU."""
    inlet: str | int = "1"
    """The inlet whose feed it is of."""

    def range_in(self, measure: Measure) -> tuple[float, float]:
        """Return what is plausible, in the metric's unit."""
        if self.valid is None:
            return self.to.valid
        low, high = (float(Fraction(one) * measure.factor + measure.offset) for one in self.valid)
        return low, high


class _File(MapPart):
    about: str
    evidence: str = ""
    """Where the addresses come from."""
    unit_id: int = Field(default=1, ge=0, le=255)
    base: int = Field(default=0, ge=0, le=100_000)
    """Number that the vendor prints for the first register: 30001, 40001; 0: as on the wire."""
    function: Literal[1, 2, 3, 4] = 3
    word_order: Order = "big"
    byte_order: Order = "big"
    longest: int = Field(default=MOST_REGISTERS, ge=FULLEST, le=MOST_REGISTERS)
    """Registers that one request may ask for."""
    bridge: int = Field(default=0, ge=0, le=MOST_REGISTERS)
    """Addresses not listed that a request may read across."""
    registers: tuple[Entry, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Mapped:
    """A register, and what it is in the catalogue."""

    name: str
    register: Register
    metric: Metric
    labels: Mapping[str, str]
    """Those that do not follow from the target; absent ones are empty."""
    side: str
    inlet: str
    shown: str
    """Where it lies, as the vendor prints it."""


@dataclass(frozen=True)
class RegisterMap:
    """A map that was checked."""

    name: str
    about: str
    unit_id: int
    longest: int
    bridge: int
    entries: tuple[Mapped, ...]


def names() -> tuple[str, ...]:
    """Return the names of the maps that are shipped."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def find(said: str) -> Path:
    """Return the file of a map, given by a shipped name or a path.

    Raises:
        SiteError: there is none of that name.
    """
    if "/" not in said and not said.endswith((".yaml", ".yml")):
        if said not in names():
            known = ", ".join(names())
            raise SiteError(f"no register map named {said}; there are {known}, or give a file")
        return FOLDER / f"{said}.yaml"
    return Path(said)


def read(path: Path) -> RegisterMap:
    """Read a map; a file that did not change since is not read again.

    Raises:
        SiteError: it is wrong; the message says where.
    """
    try:
        stat = path.stat()
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be read ({wrong.strerror}); check the path") from None
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, _modified: int, _size: int) -> RegisterMap:
    file = load(path)
    given = file.validated(_File, file.value)
    entries = tuple(
        _mapped(file, ("registers", index), given, entry)
        for index, entry in enumerate(given.registers)
    )
    _check_distinct(file, entries)
    return RegisterMap(path.stem, given.about, given.unit_id, given.longest, given.bridge, entries)


def _mapped(file: YamlFile, loc: Loc, given: _File, entry: Entry) -> Mapped:
    """Return an entry as the decoder and the catalogue take it."""
    for key, what in _faults(given, entry):
        raise file.error((*loc, key) if key else loc, f"{entry.name}: {what}")
    function = entry.function or given.function
    kind = _kind(given, entry)
    measure = MEASURES[_unit(entry)]
    worth = quantities.step(measure, entry.scale)
    low, high = entry.range_in(measure)
    nothing = () if entry.bit is not None or entry.meanings else NOTHING.get(kind, ())
    register = Register(
        function,
        entry.address - given.base,
        kind,
        entry.word_order or given.word_order,
        entry.byte_order or given.byte_order,
        entry.bit,
        nothing if entry.sentinels is None else entry.sentinels,
        tuple((float(said), means) for said, means in entry.meanings.items()),
        worth.times,
        worth.over,
        worth.offset,
        low,
        high,
    )
    labels = {label: str(text) for label, text in entry.labels.items()}
    shown = f"{entry.address} ({TABLE[function]})"
    return Mapped(entry.name, register, entry.to, labels, entry.side, str(entry.inlet), shown)


TABLE = {1: "coil", 2: "discrete input", 3: "holding register", 4: "input register"}


def _kind(given: _File, entry: Entry) -> Type:
    bits = (entry.function or given.function) in {COIL, DISCRETE}
    return entry.type or ("bit" if bits else "uint16")


def _unit(entry: Entry) -> str:
    return entry.unit or entry.to.unit.value or "none"


def _faults(given: _File, entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield key and text of what cannot be in an entry."""
    kind = _kind(given, entry)
    first = entry.address - given.base
    if not 0 <= first <= ADDRESSES - modbus_registers.width(kind):
        yield "address", f"{entry.address} is none; from {given.base} to {given.base + 65_535}"
    if ((entry.function or given.function) in {COIL, DISCRETE}) is not (kind == "bit"):
        yield (
            "type",
            f"{kind} does not fit the table; coils and discrete inputs are bit, others not",
        )
    if entry.bit is not None and (
        kind.startswith("float") or kind == "bit" or entry.bit >= 16 * modbus_registers.width(kind)
    ):
        yield "bit", f"{kind} has no bit {entry.bit}"
    yield from _faults_of_meaning(entry)


def _faults_of_meaning(entry: Entry) -> Iterator[tuple[str, str]]:
    unit = MEASURES.get(_unit(entry))
    fitting = [name for name, one in MEASURES.items() if one.unit is entry.to.unit]
    if entry.to not in METRICS:
        yield "to", f"{entry.to} is none of cooling, power, or a device's own sensors"
    elif unit is None or unit.unit is not entry.to.unit:
        what = f"{_unit(entry)} is no unit of {entry.to}; there are {', '.join(fitting)}"
        yield "unit" if entry.unit else "to", what
    if entry.scale <= 0:
        yield "scale", f"{float(entry.scale):g} is no size of a step; write 0.1 for tenths"
    if entry.valid is not None and entry.valid[0] >= entry.valid[1]:
        yield "valid", "the least stands first, and below the most"
    own = [label for label in entry.to.labels if label not in NAMED]
    for label in entry.labels:
        if label not in own:
            yield "labels", f"{entry.to} has no label {label} to be given; it has {', '.join(own)}"
    for label in own:
        if label not in OPTIONAL and not entry.labels.get(label):
            yield "labels", f"{entry.to} wants {label}"
    if entry.side and "loop" not in entry.to.labels:
        yield "side", f"{entry.to} is not of a loop"
    if entry.to.unit is Unit.NONE and entry.to.valid == (0.0, 1.0):
        strange = [said for said in entry.meanings.values() if said not in {0.0, 1.0}]
        if strange:
            yield "is", f"{strange[0]:g} is neither 0 nor 1"


def _check_distinct(file: YamlFile, entries: tuple[Mapped, ...]) -> None:
    """Refuse two entries of one name, or of one series."""
    often = Counter(one.name for one in entries)
    seen: dict[object, str] = {}
    for index, one in enumerate(entries):
        loc = ("registers", index)
        if often[one.name] > 1 and one.name in seen.values():
            raise file.error((*loc, "name"), f"{one.name} is there already; give another name")
        key = (one.metric, tuple(sorted(one.labels.items())), one.side, one.inlet)
        if key in seen:
            raise file.error(loc, f"{one.name}: the same series as {seen[key]}; give other labels")
        seen[key] = one.name
