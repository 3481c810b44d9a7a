"""Rows of a topology file (contract 2): each list's columns, their types and their limits."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fabrichealth.model.place import Port, link_id

Technology = Literal["roce", "ib", "nvlink", "hccs", "ub", "ualink", "cxl", "pcie"]
Medium = Literal["optical", "lpo", "cpo", "aoc", "dac", "acc", "aec", "backplane"]
Fec = Literal["none", "firecode", "rs528", "rs544", "rs544i", "ll271", "ll272"]
Text = Annotated[str, BeforeValidator(lambda value: value if value is None else str(value))]
"""Lots, serials and versions are text even where they look like numbers."""


def _device_name(value: object) -> object:
    if isinstance(value, str) and ("/" in value or "--" in value or not value.strip()):
        raise ValueError(f"{value!r}: a device's name holds neither `/` nor `--` and is not empty")
    return value


DeviceName = Annotated[str, BeforeValidator(_device_name)]


class Row(BaseModel):
    """One row of the file; keys it does not know are kept, for newer files."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Module(Row):
    """An optical module or cable end."""

    vendor: Text = ""
    part: Text = ""
    lot: Text = ""
    serial: Text = ""
    firmware: Text = ""


class PortFacts(Row):
    """What is written about one port of a device."""

    alias: Text = ""
    uid: Text = ""


class Domain(Row):
    """A scale-up domain; more accelerators than devices listed are missing ones."""

    name: str
    kind: Literal["nvlink", "hccs", "ub", "ualink", "cxl", "pcie"] = "nvlink"
    accelerators: int = Field(default=0, ge=0)


class Rack(Row):
    """A rack, what feeds and cools it."""

    name: str
    domain: str = ""
    power_limit_watts: float | None = None
    loop: str = ""
    branch: str = ""
    branches: tuple[str, ...] = ()


class Device(Row):
    """A device; `domain` is left out where it serves several or none."""

    name: DeviceName
    role: Literal["accelerator", "host", "switch", "nic", "cdu", "pdu"]
    tier: int | None = None
    host: str = ""
    rack: str = ""
    domain: str = ""
    model: Text = ""
    silicon: Text = ""
    ids: tuple[Text, ...] = ()
    ports: Mapping[str, PortFacts] = Field(default_factory=dict)


class Link(Row):
    """A cable or trace between two ports; its id is the two ports, sorted."""

    a: str
    b: str
    technology: Technology = "roce"
    generation: Text = ""
    medium: Medium | Literal[""] = ""
    speed_gbps: float | None = Field(default=None, gt=0)
    line_rate_gbps: float | None = Field(default=None, gt=0)
    lanes: int | None = Field(default=None, gt=0)
    fec: Fec | Literal[""] = ""
    plr: bool = False
    length_m: float | None = Field(default=None, ge=0)
    bundle: Text = ""
    card_a: str = ""
    card_b: str = ""
    lasers_a: str = ""
    lasers_b: str = ""
    module_a: Module | None = None
    module_b: Module | None = None

    @cached_property
    def id(self) -> str:
        """`a--b`, the two ports sorted by bytes."""
        return link_id(self.a, self.b)

    @cached_property
    def ends(self) -> tuple[Port, Port]:
        """Both ports, `a` first."""
        return Port.parse(self.a), Port.parse(self.b)


class Loop(Row):
    """A coolant loop."""

    name: str
    device: str = ""
    kind: Literal["cold_plate", "immersion", "facility", "rear_door"] = "cold_plate"
    fluid: str = ""
    control: Literal["flow", "differential_pressure", "speed", ""] = ""
    facility: str = ""
    volume_liters: float | None = None
    reservoir_liters: float | None = None
    racks: tuple[str, ...] = ()


class Feed(Row):
    """A power feed of a rack."""

    name: str
    rack: str = ""
    breaker_amperes: float | None = None
    phases: int = 3
    redundant_with: str = ""
    meter: Mapping[str, Text] | None = None


class Route(Row):
    """Next hops of a device towards a device or tier."""

    device: str
    to: str
    via: tuple[str, ...]
