"""Capacity: which links share a load, and how much of each share still carries it.

A link belongs to a group at either end: the device's links of one technology towards one tier
(uplinks, downlinks, rails of a host), those that leave its rack, those of its domain. What is
down, drained, or not to be relied on is lost to all its groups.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from analyzer.incidents.scope import in_scope
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, LINK_DOWN, LINK_FLAPPING, LINK_SUBHEALTHY, Severity
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


@dataclass(frozen=True)
class Capacity:
    """The groups of a topology, with what they carry when all is well."""

    groups: dict[str, tuple[Group, ...]]
    """Of each link."""
    links: dict[Group, int]
    gbps: dict[Group, float]
    speed: dict[str, float]
    """Of each link; 1 where a group cannot be told in Gb/s, so that links are counted."""


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
        if link in self.lost or link not in self.capacity.groups:
            return
        self.lost.add(link)
        for group in self.capacity.groups[link]:
            self.gone[group] += 1
            self.gone_gbps[group] += self.capacity.speed[link]

    def left(self, group: Group, without: Iterable[str]) -> tuple[int, float]:
        """Return (links, share of the capacity) a group keeps without some more links."""
        more = [
            link
            for link in without
            if link not in self.lost and group in self.capacity.groups[link]
        ]
        links = self.capacity.links[group] - self.gone[group] - len(more)
        gbps = self.gone_gbps[group] + sum(self.capacity.speed[link] for link in more)
        return links, 1.0 - gbps / self.capacity.gbps[group]


@lru_cache(maxsize=4)
def capacity_of(topology: Topology) -> Capacity:
    """Return the groups of a topology, worked out once for each."""
    groups: dict[str, tuple[Group, ...]] = {}
    links: Counter[Group] = Counter()
    gbps: dict[Group, float] = defaultdict(float)
    told = all(link.speed_gbps for link in topology.links.values())
    speed = {link.id: float(link.speed_gbps or 1.0) if told else 1.0 for link in
             topology.links.values()}  # fmt: skip
    for link in topology.links.values():
        groups[link.id] = tuple(dict.fromkeys(_groups(link, topology)))
        for group in groups[link.id]:
            links[group] += 1
            gbps[group] += speed[link.id]
    return Capacity(groups, dict(links), dict(gbps), speed)


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
        return [link.id for name in names for link in topology.links_of.get(name, ())], []
    if kind is LINK_DOWN:
        return [incident.culprit.id], []
    beyond = kind is LINK_SUBHEALTHY and incident.severity >= Severity.PAGE
    return [], [incident.culprit.id] if kind is LINK_FLAPPING or beyond else []


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
    return []


def is_scale_up(link: Link) -> bool:
    """Return whether a link joins accelerators of one domain: a job on it cannot do without."""
    return link.technology in SCALE_UP
