"""Reading a topology file, and the CSV files beside it for the long lists.

Wrong cabling in the file is an error that names the line; what cannot be checked here (does the
cable really lie so) the analyzer checks on data.
"""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fabrichealth.errors import SiteError
from fabrichealth.model.place import Port
from fabrichealth.topology.inventory import Topology
from fabrichealth.topology.rows import Device, Domain, Feed, Link, Loop, Rack, Route, Row
from fabrichealth.yamlfile import YamlFile, load


class _File(Row):
    domains: tuple[Domain, ...] = ()
    racks: tuple[Rack, ...] = ()
    devices: tuple[Device, ...] = ()
    links: tuple[Link, ...] = ()
    loops: tuple[Loop, ...] = ()
    feeds: tuple[Feed, ...] = ()
    routing: tuple[Route, ...] = ()


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
