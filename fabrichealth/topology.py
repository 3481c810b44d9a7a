"""Topology: what faces what, what sits where (contract 2), and the names that things go by.

YAML, or CSV beside it for the long lists. Wrong cabling in the file is an error that names the
line; what cannot be checked here (does the cable really lie so) the analyzer checks on data.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fabrichealth.errors import SiteError
from fabrichealth.model.place import Place, Port, link_id
from fabrichealth.yamlfile import YamlFile, load

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


class _Row(BaseModel):
    """One row of the file; keys it does not know are kept, for newer files."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Module(_Row):
    """An optical module or cable end."""

    vendor: Text = ""
    part: Text = ""
    lot: Text = ""
    serial: Text = ""
    firmware: Text = ""


class PortFacts(_Row):
    """What is written about one port of a device."""

    alias: Text = ""
    uid: Text = ""


class Domain(_Row):
    """A scale-up domain; more accelerators than devices listed are missing ones."""

    name: str
    kind: Literal["nvlink", "hccs", "ub", "ualink", "cxl", "pcie"] = "nvlink"
    accelerators: int = Field(default=0, ge=0)


class Rack(_Row):
    """A rack, what feeds and cools it."""

    name: str
    domain: str = ""
    power_limit_watts: float | None = None
    loop: str = ""
    branch: str = ""
    branches: tuple[str, ...] = ()


class Device(_Row):
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


class Link(_Row):
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


class Loop(_Row):
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


class Feed(_Row):
    """A power feed of a rack."""

    name: str
    rack: str = ""
    breaker_amperes: float | None = None
    phases: int = 3
    redundant_with: str = ""
    meter: Mapping[str, Text] | None = None


class Route(_Row):
    """Next hops of a device towards a device or tier."""

    device: str
    to: str
    via: tuple[str, ...]


class _File(_Row):
    domains: tuple[Domain, ...] = ()
    racks: tuple[Rack, ...] = ()
    devices: tuple[Device, ...] = ()
    links: tuple[Link, ...] = ()
    loops: tuple[Loop, ...] = ()
    feeds: tuple[Feed, ...] = ()
    routing: tuple[Route, ...] = ()


class Topology:
    """The inventory, checked, with the look-ups that everybody needs."""

    def __init__(
        self,
        devices: Iterable[Device] = (),
        links: Iterable[Link] = (),
        domains: Iterable[Domain] = (),
        racks: Iterable[Rack] = (),
        loops: Iterable[Loop] = (),
        feeds: Iterable[Feed] = (),
        routing: Iterable[Route] = (),
    ) -> None:
        self.devices = {device.name: device for device in devices}
        self.links = {link.id: link for link in links}
        self.domains = {domain.name: domain for domain in domains}
        self.racks = {rack.name: rack for rack in racks}
        self.loops = {loop.name: loop for loop in loops}
        self.feeds = {feed.name: feed for feed in feeds}
        self.routing = tuple(routing)

    @cached_property
    def link_of(self) -> dict[Port, Link]:
        """The link of each cabled port."""
        return {end: link for link in self.links.values() for end in link.ends}

    @cached_property
    def links_of(self) -> dict[str, list[Link]]:
        """The links of each device."""
        found: dict[str, list[Link]] = defaultdict(list)
        for link in self.links.values():
            for device in {end.device for end in link.ends}:
                found[device].append(link)
        return dict(found)

    @cached_property
    def hosted(self) -> dict[str, list[str]]:
        """The accelerators and NICs that each host holds."""
        found: dict[str, list[str]] = defaultdict(list)
        for device in self.devices.values():
            if device.host:
                found[device.host].append(device.name)
        return dict(found)

    @cached_property
    def in_rack(self) -> dict[str, list[str]]:
        """The devices of each rack."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in self.devices:
            if rack := self.rack_of(name):
                found[rack].append(name)
        return dict(found)

    @cached_property
    def _ids(self) -> dict[str, str]:
        return {
            alias.casefold(): device.name
            for device in self.devices.values()
            for alias in (*device.ids, device.name)
            if not _is_pci(alias)
        }

    @cached_property
    def _pci(self) -> dict[tuple[str, str], str]:
        return {
            (device.host or device.name, _short_pci(alias)): device.name
            for device in self.devices.values()
            for alias in device.ids
            if _is_pci(alias)
        }

    @cached_property
    def _uids(self) -> dict[tuple[str, str], str]:
        return {
            (device.name, facts.uid.casefold()): port
            for device in self.devices.values()
            for port, facts in device.ports.items()
            if facts.uid
        }

    def named(self, alias: str, host: str = "") -> str | None:
        """Return the device that goes by a GUID, MAC, UUID, system name, or PCI address.

        PCI addresses count within one host, which must then be given.
        """
        if _is_pci(alias):
            return self._pci.get((host, _short_pci(alias)))
        return self._ids.get(alias.casefold())

    def port_with_uid(self, device: str, uid: str) -> str | None:
        """Return the written name of the port whose `uid` the device reports."""
        return self._uids.get((device, uid.casefold()))

    def peer(self, port: Port) -> Port | None:
        """Return the port at the other end of the cable."""
        link = self.link_of.get(port)
        if link is None:
            return None
        one, other = link.ends
        return other if port == one else one

    def rack_of(self, device: str) -> str:
        """Return the rack of a device, or of the host that holds it; empty if unknown."""
        row = self.devices.get(device)
        if row is None:
            return ""
        return row.rack or (self.rack_of(row.host) if row.host and row.host != device else "")

    def domain_of(self, device: str) -> str:
        """Return the domain of a device, its host or its rack; empty if it has none."""
        row = self.devices.get(device)
        if row is None:
            return ""
        if row.domain:
            return row.domain
        if row.host and row.host != device and (found := self.domain_of(row.host)):
            return found
        rack = self.racks.get(self.rack_of(device))
        return rack.domain if rack and row.role in {"accelerator", "host", "nic"} else ""

    def devices_of(self, place: Place) -> tuple[str, ...]:
        """Return the devices that a place belongs to: both ends of a link, the rack's content."""
        if place.type == "link":
            link = self.links.get(place.id)
            ends = place.id.split("--") if link is None else [link.a, link.b]
            return tuple(end.partition("/")[0] for end in ends)
        if place.type == "port":
            return (place.id.partition("/")[0],)
        if place.type == "rack":
            return tuple(self.in_rack.get(place.id, ()))
        return (place.id,)


def _is_pci(alias: str) -> bool:
    head, dot, function = alias.rpartition(".")
    return bool(dot) and function.isdigit() and 1 <= head.count(":") <= 2 and len(alias) <= 16


def _short_pci(alias: str) -> str:
    """Return domain:bus:device.function with a four digit domain, in lower case."""
    parts = alias.lower().split(":")
    domain = parts[0][-4:].rjust(4, "0") if len(parts) == 3 else "0000"
    return ":".join([domain, *parts[-2:]])


def read(path: Path) -> Topology:
    """Read a topology file, and the CSV files that it names.

    Raises:
        SiteError: file, line and key of the first thing that is wrong.
    """
    file = load(path)
    if not isinstance(file.value, Mapping):
        raise SiteError(f"{path}:1: a topology is a mapping with devices: and links:")
    value = dict(file.value)
    lists: dict[str, tuple[YamlFile | None, list[int]]] = {}
    for key in ("devices", "links"):
        if isinstance(value.get(key), str):
            table = path.parent / value[key]
            value[key], numbers = _csv(table, Link if key == "links" else Device)
            lists[key] = (None, numbers)
    parsed = file.validated(_File, value)
    topology = Topology(
        parsed.devices, parsed.links, parsed.domains, parsed.racks,
        parsed.loops, parsed.feeds, parsed.routing,
    )  # fmt: skip
    for key, index, what in _contradictions(parsed):
        if key in lists:
            name = path.parent / str(file.value[key])
            raise SiteError(f"{name}:{lists[key][1][index]}: {what}")
        raise file.error((key, index), what)
    return topology


def _contradictions(parsed: _File) -> Iterable[tuple[str, int, str]]:
    """Yield (list, index, what) for each thing that cannot be so."""
    for key in ("domains", "racks", "devices", "loops", "feeds"):
        seen: set[str] = set()
        for index, row in enumerate(getattr(parsed, key)):
            if row.name in seen:
                yield key, index, f"{row.name} is listed twice; keep one"
            seen.add(row.name)
    devices = {device.name for device in parsed.devices}
    racks = {rack.name for rack in parsed.racks}
    for index, device in enumerate(parsed.devices):
        if device.host and device.host not in devices:
            yield "devices", index, f"{device.name}: host {device.host} is not among the devices"
        if device.rack and racks and device.rack not in racks:
            yield "devices", index, f"{device.name}: rack {device.rack} is not among the racks"
    yield from _cabling(parsed.links, devices)


def _cabling(links: tuple[Link, ...], devices: set[str]) -> Iterable[tuple[str, int, str]]:
    taken: dict[Port, str] = {}
    for index, link in enumerate(links):
        for key, end in (("a", link.a), ("b", link.b)):
            try:
                port = Port.parse(end)
            except ValueError as wrong:
                yield "links", index, f"{key}: {wrong}"
                continue
            if port.device not in devices:
                yield "links", index, f"{key}: device {port.device} is not among the devices"
            if port in taken:
                yield "links", index, f"{key}: port {port} has a second cable, to {taken[port]}"
            taken[port] = link.b if key == "a" else link.a


def _csv(path: Path, model: type[BaseModel]) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the rows of a CSV file, dotted columns nested, and the line of each."""
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.DictReader(handle, strict=True)
            rows, lines = [], []
            for row in reader:
                if None in row:
                    raise SiteError(f"{path}:{reader.line_num}: more fields than the header has")
                rows.append(_nested(row))
                lines.append(reader.line_num)
    except (OSError, UnicodeDecodeError, csv.Error) as wrong:
        raise SiteError(f"{path}: cannot be read as CSV ({wrong}); check the file") from None
    for row, line in zip(rows, lines, strict=True):
        YamlFile(path, row, {(): line}).validated(model, row)
    return rows, lines


def _nested(row: Mapping[str, str | None]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column, text in row.items():
        if text is None or text == "":
            continue
        *above, last = column.split(".")
        place = found
        for part in above:
            place = place.setdefault(part, {})
        place[last] = text.split(";") if last in {"ids", "racks", "branches", "via"} else text
    return found
