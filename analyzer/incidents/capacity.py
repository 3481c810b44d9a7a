"""Capacity: which links share a load, and how much of each share still carries it.

A link belongs to a group at either end: the device's links of one technology towards one tier
(uplinks, downlinks, rails of a host), those that leave its rack, those of its domain. What is
down, drained, or not to be relied on is lost to all its groups.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from analyzer.evidence.parts.cages import TYPE as MODULE
from analyzer.evidence.parts.cages import Cages
from analyzer.incidents.scope import in_scope
from fabrichealth.events import Event
from fabrichealth.kinds import (
    DEVICE_DOWN,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    PARTS_SHARED_COMPONENT,
    Severity,
)
from fabrichealth.model import Incident, Place, Port
from fabrichealth.topology import SCALE_UP, Link, Topology

TIER_OF_ROLE = {"switch": 1}
"""Where a device's tier is not written; everything that is no switch is tier 0."""


TOWARDS = ("up", "down", "across")


class Group(NamedTuple):
    """Links that can stand in for each other."""

    type: str
    """device, rack or domain"""
    name: str
    technology: str
    towards: str
    """up, down or across, as the tiers of both ends say; empty for racks and domains."""

    def __str__(self) -> str:
        words = {"up": "uplinks", "down": "downlinks", "across": "links", "": "links"}
        whose = self.name if self.type == "device" else f"{self.type} {self.name}"
        return f"{words[self.towards]} of {whose}"


class Capacity:
    """The groups of a topology, with what they carry when all is well.

    Worked out as they are asked for: what is ill touches few of them.
    """

    def __init__(self, topology: Topology) -> None:
        links = topology.links.values()
        told = all(link.speed_gbps for link in links)
        self.speed = {link.id: float(link.speed_gbps or 1.0) if told else 1.0 for link in links}
        """Of each link, Gb/s; 1 where one of them is not known, so that links are counted."""
        self._topology = topology
        self._groups: dict[str, tuple[Group, ...]] = {}
        self._whole: dict[Group, tuple[int, float]] = {}

    def groups(self, link: str) -> tuple[Group, ...]:
        """Return the groups that a link belongs to; none if there is no such link."""
        if link not in self._groups:
            row = self._topology.links.get(link)
            mine = () if row is None else _groups(row, self._topology)
            self._groups[link] = tuple(dict.fromkeys(mine))
        return self._groups[link]

    def whole(self, group: Group) -> tuple[int, float]:
        """Return the links of a group, and what they carry together; nothing if it has none."""
        if group not in self._whole:
            near = self._near(group)
            mine = {one.id for name in near for one in self._topology.links_of.get(name, ())}
            speeds = [self.speed[one] for one in mine if group in self.groups(one)]
            self._whole[group] = len(speeds), sum(speeds)
        return self._whole[group]

    def _near(self, group: Group) -> Sequence[str]:
        """Return the devices that may have links of a group."""
        if group.type == "device":
            return (group.name,)
        if group.type == "rack":
            return self._topology.in_rack.get(group.name, ())
        return self._in_domain.get(group.name, ())

    @cached_property
    def _in_domain(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name in self._topology.devices:
            found[self._topology.domain_of(name)].append(name)
        return found


@dataclass
class Live:
    """What of it carries now."""

    capacity: Capacity
    lost: set[str] = field(default_factory=set)
    """Links that carry nothing, or cannot be relied on."""
    dark: set[str] = field(default_factory=set)
    """Those of them that are down."""
    drained: set[str] = field(default_factory=set)
    gone: Counter[Group] = field(default_factory=Counter)
    gone_gbps: dict[Group, float] = field(default_factory=lambda: defaultdict(float))

    def lose(self, link: str) -> None:
        """Take a link out of all its groups; once."""
        if link in self.lost or link not in self.capacity.speed:
            return
        self.lost.add(link)
        for group in self.capacity.groups(link):
            self.gone[group] += 1
            self.gone_gbps[group] += self.capacity.speed[link]

    def left(self, group: Group, without: Iterable[str]) -> tuple[int, float]:
        """Return (links, share of the capacity) a group keeps without some more links."""
        more = [
            link
            for link in without
            if link not in self.lost and group in self.capacity.groups(link)
        ]
        links, gbps = self.capacity.whole(group)
        lost = self.gone_gbps[group] + sum(self.capacity.speed[link] for link in more)
        return links - self.gone[group] - len(more), 1.0 - lost / gbps


@lru_cache(maxsize=4)
def capacity_of(topology: Topology) -> Capacity:
    """Return the groups of a topology, kept while it stands."""
    return Capacity(topology)


def _groups(link: Link, topology: Topology) -> Iterable[Group]:
    racks, domains = [], []
    for near, far in (link.ends, link.ends[::-1]):
        here, there = _tier(near, topology), _tier(far, topology)
        towards = "up" if there > here else "down" if there < here else "across"
        yield Group("device", near.device, link.technology, towards)
        racks.append(topology.rack_of(near.device))
        domains.append(topology.domain_of(near.device))
    if racks[0] != racks[1]:
        for rack in filter(None, racks):
            yield Group("rack", rack, link.technology, "")
    for domain in filter(None, domains):
        yield Group("domain", domain, link.technology, "")


def _tier(port: Port, topology: Topology) -> int:
    device = topology.devices.get(port.device)
    if device is None:
        return 0
    return TIER_OF_ROLE.get(device.role, 0) if device.tier is None else device.tier


def live(topology: Topology, incidents: Iterable[Incident], events: Sequence[Event]) -> Live:
    """Return what carries now, by what is open and what was drained."""
    now = Live(capacity_of(topology))
    for incident in incidents:
        dark, ill = _unreliable(incident, topology)
        now.dark.update(dark)
        for name in (*dark, *ill):
            now.lose(name)
    for name in drained(topology, events):
        now.drained.add(name)
        now.lose(name)
    return now


def _unreliable(incident: Incident, topology: Topology) -> tuple[list[str], list[str]]:
    """Return the links that an incident says are dark, and those that are not to be relied on."""
    kind = incident.kind
    if kind is DEVICE_DOWN:
        names = topology.devices_of(incident.culprit)
        fallen = [link.id for name in names for link in topology.links_of.get(name, ())]
        return (fallen, []) if incident.dark else ([], fallen)
    if kind is LINK_DOWN and incident.dark:
        return [incident.culprit.id], []
    if kind is PARTS_SHARED_COMPONENT:
        behind = [one.id for one in incident.victims if one.type == "link"]
        grave = incident.severity >= Severity.PAGE
        return (behind, []) if incident.dark else ([], behind if grave else [])
    beyond = kind is LINK_SUBHEALTHY and incident.severity >= Severity.PAGE
    return [], [incident.culprit.id] if kind in {LINK_DOWN, LINK_FLAPPING} or beyond else []


def drained(topology: Topology, events: Sequence[Event]) -> set[str]:
    """Return the links that were drained and have not come back; events come oldest first."""
    found: set[str] = set()
    for event in events:
        if event.kind == "link_drained":
            found |= _in(event, topology)
        elif event.kind == "link_returned":
            found -= _in(event, topology)
    return found


def _in(event: Event, topology: Topology) -> set[str]:
    """Return the links in an event's scope."""
    scope = event.scope
    if "link" in scope:
        near = {scope["link"]} & topology.links.keys()
    elif "device" in scope or "port" in scope:
        device = scope.get("device") or scope["port"].partition("/")[0]
        near = {link.id for link in topology.links_of.get(device, ())}
    else:
        near = set(topology.links)
    return {name for name in near if in_scope(Place("link", name), scope, topology)}


def links_behind(place: Place, topology: Topology) -> list[str]:
    """Return the links that draining a culprit takes out of service; none where it takes none."""
    if place.type == "link":
        return [place.id] if place.id in topology.links else []
    if place.type == "port":
        link = topology.link_of.get(Port.parse(place.id))
        return [link.id] if link else []
    if place.type == "device":
        return [link.id for link in topology.links_of.get(place.id, ())]
    if place.type in {"bundle", "card"}:
        return [
            link.id
            for link in topology.links.values()
            if place.id in {link.bundle, link.card_a, link.card_b}
        ]
    if place.type == MODULE:
        return _of_module(place, topology)
    return []


def _of_module(place: Place, topology: Topology) -> list[str]:
    """Return the links of a module; of one that only its serial number tells, that of its port."""
    cage = Cages(topology).named(place.id)
    first = Port(*place.id.partition("/")[::2])
    links = (topology.link_of.get(port) for port in (cage.ports if cage else (first,)))
    return list(dict.fromkeys(link.id for link in links if link is not None))


def is_scale_up(link: Link) -> bool:
    """Return whether a link joins accelerators of one domain: a job on it cannot do without."""
    return link.technology in SCALE_UP
