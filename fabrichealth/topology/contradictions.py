"""What cannot be so in a topology, whoever wrote it: names given twice, a port with two cables.

Each contradiction is (list, index of the row, what is wrong and what to do).
"""

from collections.abc import Iterable, Iterator

from fabrichealth.model.place import Port
from fabrichealth.topology.inventory import is_pci, short_pci
from fabrichealth.topology.rows import Device, Domain, Feed, Link, Loop, Rack, Route, Row


class Written(Row):
    """A topology file as it is written, row by row."""

    domains: tuple[Domain, ...] = ()
    racks: tuple[Rack, ...] = ()
    devices: tuple[Device, ...] = ()
    links: tuple[Link, ...] = ()
    loops: tuple[Loop, ...] = ()
    feeds: tuple[Feed, ...] = ()
    routing: tuple[Route, ...] = ()


Contradiction = tuple[str, int, str]


def contradictions(written: Written) -> Iterator[Contradiction]:
    """Yield each thing that cannot be so."""
    for key in ("domains", "racks", "devices", "loops", "feeds"):
        seen: set[str] = set()
        for index, row in enumerate(getattr(written, key)):
            if row.name in seen:
                yield key, index, f"{row.name} is listed twice; keep one"
            seen.add(row.name)
    yield from _references(written)
    yield from _identities(written.devices)
    yield from _cabling(written.links, {device.name for device in written.devices})
    yield from _routes(written)


def _references(written: Written) -> Iterator[Contradiction]:
    """Yield rows that name a row which is not there, where that list is written at all."""
    devices = {device.name for device in written.devices}
    racks = {rack.name for rack in written.racks}
    domains = {domain.name for domain in written.domains}
    loops = {loop.name for loop in written.loops}

    def lacks(what: str, name: str, known: set[str]) -> bool:
        return bool(name) and name not in known and (what == "host" or bool(known))

    def named(one: str, what: str, name: str) -> str:
        return f"{one}: {what} {name} is not among the {'device' if what == 'host' else what}s"

    for index, device in enumerate(written.devices):
        for what, name, known in (
            ("host", device.host, devices),
            ("rack", device.rack, racks),
            ("domain", device.domain, domains),
        ):
            if lacks(what, name, known):
                yield "devices", index, named(device.name, what, name)
    for index, rack in enumerate(written.racks):
        for what, name, known in (("domain", rack.domain, domains), ("loop", rack.loop, loops)):
            if lacks(what, name, known):
                yield "racks", index, named(rack.name, what, name)
    for index, feed in enumerate(written.feeds):
        if lacks("rack", feed.rack, racks):
            yield "feeds", index, named(feed.name, "rack", feed.rack)


def _routes(written: Written) -> Iterator[Contradiction]:
    """Yield routes that lead nowhere: of no device, by no port, to the device itself.

    Ports may be cabled by what is discovered.
    """
    devices = {device.name for device in written.devices}
    for index, route in enumerate(written.routing):
        if devices and route.device not in devices:
            yield "routing", index, f"device {route.device} is not among the devices"
        elif route.to == route.device:
            yield "routing", index, f"{route.device} needs no route to itself; drop it"
        elif not route.via:
            yield "routing", index, f"{route.device} to {route.to}: via: names no port"


def _identities(devices: Iterable[Device]) -> Iterator[Contradiction]:
    """Yield devices that go by a name of another; PCI addresses count within one host."""
    owners: dict[tuple[str, str], str] = {}
    for index, device in enumerate(devices):
        for alias in (device.name, *device.ids):
            key = (
                (device.host or device.name, short_pci(alias))
                if is_pci(alias)
                else ("", alias.casefold())
            )
            owner = owners.setdefault(key, device.name)
            if owner != device.name:
                yield "devices", index, f"{device.name}: id {alias} is {owner}'s already; keep one"


def _cabling(links: tuple[Link, ...], devices: set[str]) -> Iterator[Contradiction]:
    taken: dict[Port, str] = {}
    for index, link in enumerate(links):
        for key, end in (("a", link.a), ("b", link.b)):
            try:
                port = Port.parse(end)
            except ValueError as wrong:
                yield "links", index, f"{key}: {wrong}"
                continue
            if "--" in end:
                yield "links", index, f"{key}: {end}: a name holds no `--`, which joins links' ends"
            if port.device not in devices:
                yield "links", index, f"{key}: device {port.device} is not among the devices"
            if port in taken:
                yield "links", index, f"{key}: port {port} has a second cable, to {taken[port]}"
            taken[port] = link.b if key == "a" else link.a
