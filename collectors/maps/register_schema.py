"""What a register map may say: keys of its file, and what of an entry cannot be."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from collectors.maps.map_parts import AnyMetric, MapPart
from collectors.maps.quantities import MEASURES, Measure
from collectors.protocols import modbus_registers
from collectors.protocols.modbus_blocks import ADDRESSES, MOST_REGISTERS
from collectors.protocols.modbus_registers import COIL, DISCRETE, Order, Type
from fabrichealth.catalogue import circuits, cooling, devices, power
from fabrichealth.metric import Kind, Metric
from fabrichealth.units import Unit

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


Exact = Annotated[
    Fraction, BeforeValidator(_exact), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})
]
"""A number as it is written: 0.1 is a tenth."""


class Entry(MapPart):
    """One register, or several that are one number."""

    model_config = ConfigDict(use_attribute_docstrings=True)

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
    most: float = Field(default=0.0, ge=0)
    """By how much a counter can rise in an hour, in `unit`: so a wrap is told from a restart."""
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


class RegisterFile(MapPart):
    """A whole map as it is written."""

    model_config = ConfigDict(use_attribute_docstrings=True)

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


def json_schema() -> dict[str, Any]:
    """Return the schema of a map file for editors; `check-map` knows more."""
    schema = RegisterFile.model_json_schema(by_alias=True)
    known = schema["$defs"]["Entry"]["properties"]
    known["to"] = {"enum": sorted(map(str, METRICS)), "description": "The metric that it is."}
    known["unit"]["enum"] = ["", *MEASURES]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def kind_of(given: RegisterFile, entry: Entry) -> Type:
    """Return the type of an entry's number."""
    bits = (entry.function or given.function) in {COIL, DISCRETE}
    return entry.type or ("bit" if bits else "uint16")


def unit_of(entry: Entry) -> str:
    """Return the name of the unit that an entry counts in."""
    return entry.unit or entry.to.unit.value or "none"


def faults(given: RegisterFile, entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield key and text of what cannot be in an entry."""
    kind = kind_of(given, entry)
    first = entry.address - given.base
    last = ADDRESSES - modbus_registers.width(kind)
    if not 0 <= first <= last:
        of = f" of {kind}"
        what = f"{entry.address} is no address{of}; from {given.base} to {given.base + last}"
        yield "address", what
    if ((entry.function or given.function) in {COIL, DISCRETE}) is not (kind == "bit"):
        yield (
            "type",
            f"{kind} does not fit the table; coils and discrete inputs are bit, others not",
        )
    if entry.most and not (entry.to.kind is Kind.COUNTER and kind in {"uint16", "uint32"}):
        yield "most", f"{kind} of {entry.to} does not wrap; it is for counters of uint16 and uint32"
    if entry.bit is not None and (
        kind.startswith("float") or kind == "bit" or entry.bit >= 16 * modbus_registers.width(kind)
    ):
        yield "bit", f"{kind} has no bit {entry.bit}"
    yield from _faults_of_meaning(entry)


def _faults_of_meaning(entry: Entry) -> Iterator[tuple[str, str]]:
    unit = MEASURES.get(unit_of(entry))
    fitting = [name for name, one in MEASURES.items() if one.unit is entry.to.unit]
    if entry.to not in METRICS:
        yield "to", f"{entry.to} is none of cooling, power, or a device's own sensors"
    elif unit is None or unit.unit is not entry.to.unit:
        what = f"{unit_of(entry)} is no unit of {entry.to}; there are {', '.join(fitting)}"
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
