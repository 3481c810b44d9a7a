"""The inventory: what faces what, what sits where, and the names that things go by."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from fabrichealth.model.place import Place, Port
from fabrichealth.topology.rows import Device, Domain, Feed, Link, Loop, Rack, Route

FABRIC = "fabric"
"""The domain of links and devices that belong to none."""


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

    def same_as(self, other: "Topology") -> bool:
        """Return whether the same things are written in both."""
        mine, theirs = (
            (one.devices, one.links, one.domains, one.racks, one.loops, one.feeds, one.routing)
            for one in (self, other)
        )
        return mine == theirs

    @cached_property
    def link_of(self) -> dict[Port, Link]:
        """The link of each cabled port."""
        return {end: link for link in self.links.values() for end in link.ends}

    @cached_property
    def facing(self) -> frozenset[tuple[str, str, str, str]]:
        """(device, port, far device, far port) of every cabled port."""
        return frozenset(
            (*near, *far)
            for link in self.links.values()
            for near, far in (link.ends, link.ends[::-1])
        )

    @cached_property
    def links_of(self) -> dict[str, list[Link]]:
        """The links of each device."""
        found: dict[str, list[Link]] = defaultdict(list)
        for link in self.links.values():
            for device in {end.device for end in link.ends}:
                found[device].append(link)
        return dict(found)

    @cached_property
    def carded(self) -> dict[str, tuple[str, ...]]:
        """The device of each line card, ASIC or retimer; several where cards go by one name."""
        found: dict[str, set[str]] = defaultdict(set)
        for link in self.links.values():
            for end, card in zip(link.ends, (link.card_a, link.card_b), strict=True):
                if card:
                    found[card].add(end.device)
        return {card: tuple(sorted(devices)) for card, devices in found.items()}

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
    def in_domain(self) -> dict[str, list[str]]:
        """The devices of each domain."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in self.devices:
            if domain := self.domain_of(name):
                found[domain].append(name)
        return dict(found)

    @cached_property
    def _ids(self) -> dict[str, str]:
        return {
            alias.casefold(): device.name
            for device in self.devices.values()
            for alias in (*device.ids, device.name)
            if not is_pci(alias)
        }

    @cached_property
    def _pci(self) -> dict[tuple[str, str], str]:
        return {
            (device.host or device.name, short_pci(alias)): device.name
            for device in self.devices.values()
            for alias in device.ids
            if is_pci(alias)
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
        if is_pci(alias):
            return self._pci.get((host, short_pci(alias)))
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
        """Return the devices that a place belongs to: both ends of a link, the rack's content.

        A trunk belongs to none: it leads from many to many.
        """
        if place.type == "link":
            link = self.links.get(place.id)
            ends = place.id.split("--") if link is None else [link.a, link.b]
            return tuple(end.partition("/")[0] for end in ends)
        if place.type in {"port", "module"}:
            return (place.id.partition("/")[0],)
        if place.type == "card":
            return self.carded.get(place.id, (place.id,))
        if place.type == "rack":
            return tuple(self.in_rack.get(place.id, ()))
        return (place.id,)

    def held_by(self, places: Iterable[Place]) -> frozenset[str]:
        """Return the devices that places belong to, and what these hold themselves."""
        found: set[str] = set()
        for device in (device for place in places for device in self.devices_of(place)):
            found.add(device)
            found.update(self.hosted.get(device, ()))
        return frozenset(found)


def is_pci(alias: str) -> bool:
    """Return whether a name is a PCI address, with or without its domain."""
    head, dot, function = alias.rpartition(".")
    return bool(dot) and function.isdigit() and 1 <= head.count(":") <= 2 and len(alias) <= 16


def short_pci(alias: str) -> str:
    """Return domain:bus:device.function with a four digit domain, in lower case."""
    parts = alias.lower().split(":")
    domain = parts[0][-4:].rjust(4, "0") if len(parts) == 3 else "0000"
    return ":".join([domain, *parts[-2:]])
