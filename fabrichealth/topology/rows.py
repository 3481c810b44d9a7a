"""Rows of a topology file (contract 2): each list's columns, their types and their limits."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from fabrichealth.model.place import Port, link_id
from fabrichealth.yamlfile import text_of

Technology = Literal["roce", "ib", "nvlink", "hccs", "ub", "ualink", "cxl", "pcie"]
SCALE_UP = frozenset({"nvlink", "hccs", "ub", "ualink", "cxl", "pcie"})
"""Technologies that join the accelerators of one domain, memory to memory."""

Medium = Literal["optical", "lpo", "cpo", "aoc", "dac", "acc", "aec", "backplane"]
Fec = Literal["none", "firecode", "rs528", "rs544", "rs544i", "ll271", "ll272"]
Text = Annotated[str, BeforeValidator(text_of)]
"""Lots, serials and versions are text even where they look like numbers."""


def _device_name(name: str) -> str:
    if "/" in name:
        raise ValueError(f"{name!r}: a device's name holds no `/`; write _ instead")
    return _name(name)


def _name(name: str) -> str:
    if "--" in name or not name.strip():
        raise ValueError(
            f"{name!r}: a name is not empty and holds no `--`, which joins links' ends"
        )
    return name


DeviceName = Annotated[str, BeforeValidator(text_of), AfterValidator(_device_name)]
Name = Annotated[str, BeforeValidator(text_of), AfterValidator(_name)]


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

    name: Name
    kind: Literal["nvlink", "hccs", "ub", "ualink", "cxl", "pcie"] = "nvlink"
    accelerators: int = Field(default=0, ge=0)
    team: Text = ""
    """Whose it is; alerts carry it, so that they can be routed by it. A rack's or a device's own
    word goes before."""


class Rack(Row):
    """A rack, what feeds and cools it."""

    name: Name
    domain: Text = ""
    power_limit_watts: float | None = None
    loop: Text = ""
    branch: Text = ""
    branches: tuple[Text, ...] = ()
    room: Text = ""
    team: Text = ""


class Device(Row):
    """A device; `domain` is left out where it serves several or none."""

    name: DeviceName
    role: Literal["accelerator", "host", "switch", "nic", "cdu", "pdu"]
    tier: int | None = None
    host: Text = ""
    rack: Text = ""
    domain: Text = ""
    model: Text = ""
    silicon: Text = ""
    ids: tuple[Text, ...] = ()
    team: Text = ""
    ports: Mapping[Text, PortFacts] = Field(default_factory=dict)


class Link(Row):
    """A cable or trace between two ports; its id is the two ports, sorted."""

    a: Text
    b: Text
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
    card_a: Text = ""
    card_b: Text = ""
    lasers_a: Text = ""
    lasers_b: Text = ""
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

    name: Name
    device: Text = ""
    kind: Literal["cold_plate", "immersion", "facility", "rear_door"] = "cold_plate"
    fluid: Text = ""
    control: Literal["flow", "differential_pressure", "speed", ""] = ""
    facility: Text = ""
    volume_liters: float | None = None
    reservoir_liters: float | None = None
    racks: tuple[Text, ...] = ()


class Feed(Row):
    """A power feed of a rack."""

    name: Name
    rack: Text = ""
    breaker_amperes: float | None = None
    phases: int = 3
    redundant_with: Text = ""
    meter: Mapping[str, Text] | None = None


class Route(Row):
    """Next hops of a device towards a device or tier."""

    device: Text
    to: Text
    via: tuple[Text, ...]
