"""Merging: what was discovered added to what is written (contract 2).

What is written wins for names, cabling, racks and lengths; the device wins for module identity,
firmware, speed, lanes and FEC. `completed` only adds rows, and is what is judged by: a link that
runs slowly must not become a slow link. `updated` is what a person is shown.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, get_args

from pydantic import ValidationError

from fabrichealth.model.place import Port
from fabrichealth.topology.discovery import Found, FoundLink
from fabrichealth.topology.inventory import Topology
from fabrichealth.topology.rows import Device, Link, Module

TECHNOLOGY = {"ibnetdiscover": "ib", "ufm": "ib", "nvlink": "nvlink"}
"""What a link is by the way in which its ends hear each other, where they do not say it."""

_CARD = re.compile(r"(?:eth|en[a-z]|ib|mlx5_|roce/|hccs|nvlink/|ub/)[\w/.:]*")
"""Names that hosts and accelerators give their ports; switches have others."""


@dataclass(frozen=True, slots=True)
class PortSaid:
    """What devices and records say of one port; empty and None are not said."""

    speed_gbps: float | None = None
    lanes: int | None = None
    fec: str = ""
    technology: str = ""
    medium: str = ""
    role: str = ""
    uid: str = ""
    length_m: float | None = None
    module: Module | None = None

    def or_else(self, other: "PortSaid") -> "PortSaid":
        """Return this, completed by what another says."""
        lacking = {
            one.name: getattr(other, one.name)
            for one in fields(self)
            if getattr(self, one.name) in {"", None}
        }
        return replace(self, **lacking)


Facts = Mapping[Port, PortSaid]
NOTHING = PortSaid()


def own_names(facts: Facts) -> dict[Port, Port]:
    """Return the names that ports have in their own system, by what others call them.

    A fabric's tools know a host's port by a GUID, the host by a name; its `uid` is the same. Where
    it is told under several names of which one is no GUID, that one is its own.
    """
    told: dict[str, list[Port]] = defaultdict(list)
    for port, said in facts.items():
        if said.uid:
            told[said.uid.casefold()].append(port)
    found: dict[Port, Port] = {}
    for ports in told.values():
        own = [port for port in ports if not any(part.startswith("0x") for part in port)]
        if len(own) == 1:
            found.update((port, own[0]) for port in ports if port != own[0])
    return found


def completed(written: Topology, found: Found, facts: Facts) -> Topology:
    """Return the written topology with the rows that only discovery knows."""
    fresh = [link for link in found.links if link.id not in written.links]
    if not fresh:
        return written
    devices = dict(written.devices)
    devices |= {device.name: device for device in _strangers(written, fresh, facts)}
    links = dict(written.links)
    for link in fresh:
        row = _link(link, facts)
        links[row.id] = row
    return extended(written, devices, links)


def updated(topology: Topology, facts: Facts) -> Topology:
    """Return a topology in which the device's word stands where the device knows better."""
    links: dict[str, Link] = {}
    for name, link in topology.links.items():
        near, far = (facts.get(end, NOTHING) for end in link.ends)
        said = near.or_else(far)
        known = {
            "speed_gbps": said.speed_gbps,
            "lanes": said.lanes,
            "fec": said.fec,
            "module_a": _module(near.module, link.module_a),
            "module_b": _module(far.module, link.module_b),
        }
        told = {key: value for key, value in known.items() if value not in {"", None}}
        written = {"medium": said.medium, "length_m": said.length_m}
        told |= {
            key: value
            for key, value in written.items()
            if value not in {"", None} and getattr(link, key) in {"", None}
        }
        links[name] = _valid(link, told)
    return extended(topology, topology.devices, links)


def extended(
    topology: Topology, devices: Mapping[str, Device], links: Mapping[str, Link]
) -> Topology:
    """Return a topology with these devices and links, and all else as it is."""
    return Topology(
        devices.values(), links.values(), topology.domains.values(), topology.racks.values(),
        topology.loops.values(), topology.feeds.values(), topology.routing,
    )  # fmt: skip


def _link(link: FoundLink, facts: Facts) -> Link:
    one, other = link.ends
    said = facts.get(one, NOTHING).or_else(facts.get(other, NOTHING))
    ways = (TECHNOLOGY[via] for via in sorted(link.via) if via in TECHNOLOGY)
    technology = said.technology or next(ways, "roce")
    return _row(str(one), str(other), technology, said.medium, said.length_m)


@lru_cache(maxsize=2**18)
def _row(a: str, b: str, technology: str, medium: str, length_m: float | None) -> Link:
    """Return the row of a link; the same one as long as the same is said of it."""
    told = {"technology": technology, "medium": medium, "length_m": length_m}
    return _valid(Link(a=a, b=b), told)


def _valid(link: Link, told: Mapping[str, Any]) -> Link:
    """Return a link with what was told of it, without the words that a topology has no name for."""
    rest = dict(told)
    while rest:
        try:
            return Link.model_validate({**link.model_dump(), **rest})
        except ValidationError as wrong:
            bad = {str(fault["loc"][0]) for fault in wrong.errors()} & rest.keys()
            for key in bad or set(rest):
                del rest[key]
    return link


def _module(said: Module | None, written: Module | None) -> Module | None:
    """Return what a module says of itself; what it does not say stays as it is written."""
    if said is None or written is None:
        return said
    kept = {key: value for key, value in said.model_dump().items() if value}
    return written.model_copy(update=kept)


def _strangers(written: Topology, links: Iterable[FoundLink], facts: Facts) -> Iterator[Device]:
    """Yield a row for every device that is not written and has a link."""
    ports: dict[str, set[Port]] = defaultdict(set)
    for link in links:
        for end in link.ends:
            if end.device not in written.devices:
                ports[end.device].add(end)
    for name, own in sorted(ports.items()):
        said = sorted({facts[port].role for port in own if port in facts} - {""})
        yield stranger(name, said[0] if said else "", (port.port for port in own))


def stranger(name: str, role: str, ports: Iterable[str]) -> Device:
    """Return a row for a device that is not written, by what is said of it and of its ports."""
    known = role if role in get_args(Device.model_fields["role"].annotation) else role_by(ports)
    return Device.model_validate({"name": name, "role": known})


def role_by(ports: Iterable[str]) -> str:
    """Return what a device is by how it names its ports, where nobody says it."""
    return "host" if all(_CARD.fullmatch(port) for port in ports) else "switch"
