"""Fitness: which accelerators will not do in a job of several, for something ill before them.

One link that is up and sick slows the whole job, and so does a rack that is hot or short of power.
Such accelerators are free all the same and do for a job of one. One that is itself not healthy,
whose host is down, or that lies in a maintenance somebody declared, does for none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.inventory import Inventory
from analyzer.evidence.durations import fresh
from analyzer.incidents.capacity import links_behind
from analyzer.incidents.chain import racks_of
from analyzer.incidents.scope import devices_in
from analyzer.incidents.spans import spans
from analyzer.incidents.suppression import OPEN_ENDED
from fabrichealth.catalogue.accelerators import HEALTHY
from fabrichealth.catalogue.verdicts import INCIDENT_INFO
from fabrichealth.kinds import (
    ACCELERATOR_ERRORS,
    COOLING_CLOGGED,
    COOLING_LEAK,
    COOLING_THERMAL_CONTACT,
    DEVICE_DOWN,
    KINDS,
    LINK_DEGRADED_SPEED,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    LINK_WILL_FAIL,
    PARTS_SHARED_COMPONENT,
    POWER_CAPPED,
    POWER_FEED_LOST,
    POWER_OVERLOAD,
    IncidentKind,
)
from fabrichealth.model import Place, View
from fabrichealth.topology import Topology

Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]

ILL_LINKS = frozenset(
    {LINK_DOWN, LINK_FLAPPING, LINK_SUBHEALTHY, LINK_DEGRADED_SPEED, LINK_WILL_FAIL}
)
SHARED = frozenset({PARTS_SHARED_COMPONENT, DEVICE_DOWN})
"""Kinds whose culprit has links, all of which are ill or dark."""

HOT_OR_THIN = frozenset(
    {COOLING_LEAK, COOLING_CLOGGED, POWER_CAPPED, POWER_FEED_LOST, POWER_OVERLOAD}
)
"""Kinds that slow whatever their racks hold; any other of cooling does where it pages."""

COOLING = "cooling."

SLOW = frozenset({COOLING_THERMAL_CONTACT})
BROKEN = frozenset({DEVICE_DOWN, ACCELERATOR_ERRORS})
GRAVE = frozenset({"ticket", "page"})

NEEDED = (INCIDENT_INFO, HEALTHY)
"""Metrics that it looks at."""


@dataclass(frozen=True, eq=False)
class Fitness:
    """What is wrong with accelerators, by row of the inventory."""

    doubtful: Bools
    """Behind something ill ([n])."""
    broken: Bools
    """Ill itself, or its host is down, or under maintenance ([n])."""
    by: tuple[str, ...] = ()
    """What breaks any of them, in words."""
    which: Codes | None = None
    """Which of `by` breaks each ([n]), -1 for none; declared work before what is ill."""

    @classmethod
    def perfect(cls, many: int) -> "Fitness":
        """Return that of so many accelerators of which nothing ill is known."""
        return cls(np.zeros(many, np.bool_), np.zeros(many, np.bool_))


def fitness(view: View, stock: Inventory) -> Fitness:
    """Return what speaks against accelerators now, by the incidents that are open."""
    doubtful, which = np.zeros(len(stock), np.bool_), np.full(len(stock), -1, np.int64)
    by: dict[str, int] = {}

    def rows(devices: Iterable[str]) -> list[int]:
        return [row for device in devices if (row := stock.row(device)) is not None]

    for kind, severity, culprit in _open(view):
        doubtful[rows(_doubtful(kind, severity, culprit, view.topology))] = True
        if kind in BROKEN:
            broken = rows(_broken(culprit, view.topology))
            which[broken] = by.setdefault(f"{kind} of {culprit}", len(by))
    window = view[HEALTHY]
    for row in np.flatnonzero(fresh(window) & (window.last < 0.5)).tolist():
        which[rows(window.labels(row))] = by.setdefault("their own word: not healthy", len(by))
    for one in spans(view.events, "maintenance", OPEN_ENDED):
        if one.start <= view.now < one.end:
            held = rows(devices_in(one.scope, view.topology))
            which[held] = by.setdefault(f"maintenance {one.name}", len(by))
    return Fitness(doubtful, which >= 0, tuple(by), which)


def _open(view: View) -> Iterator[tuple[IncidentKind, str, str]]:
    """Yield kind, severity and culprit of the open incidents that need hands."""
    window = view[INCIDENT_INFO]
    kind, severity, culprit = (
        INCIDENT_INFO.labels.index(name) for name in ("kind", "severity", "culprit")
    )
    for row in np.flatnonzero(fresh(window) & (window.last >= 0.5)).tolist():
        labels = window.labels(row)
        if labels[severity] in GRAVE and labels[kind] in KINDS:
            yield KINDS[labels[kind]], labels[severity], labels[culprit]


def _doubtful(kind: IncidentKind, severity: str, culprit: str, topology: Topology) -> Iterator[str]:
    """Yield what stands behind the culprit of an incident."""
    if kind in ILL_LINKS:
        yield from _at(topology.devices_of(Place("link", culprit)), topology)
    if kind in SHARED:  # a bundle, card, module or device, known by its name alone
        for type_ in ("bundle", "device", "module"):
            for link in links_behind(Place(type_, culprit), topology):
                yield from _at(topology.devices_of(Place("link", link)), topology)
    if kind in HOT_OR_THIN or (kind.name.startswith(COOLING) and severity == "page"):
        yield from _in(_racks(kind.culprit, culprit, topology), topology)
    if kind in SLOW:
        yield from _at([culprit], topology)


def _broken(culprit: str, topology: Topology) -> Iterator[str]:
    """Yield what fails with a device; a dark rack is one incident too, whose culprit it is."""
    yield from _at([culprit, *_in([culprit], topology)], topology)


def _at(devices: Iterable[str], topology: Topology) -> Iterator[str]:
    """Yield devices, and of a host or its NIC all that the host has."""
    for device in devices:
        row = topology.devices.get(device)
        yield device
        yield from topology.hosted.get(
            row.host if row is not None and row.role == "nic" and row.host else device, ()
        )


def _in(racks: Iterable[str], topology: Topology) -> list[str]:
    return [device for rack in racks for device in topology.in_rack.get(rack, ())]


def _racks(type_: str, culprit: str, topology: Topology) -> list[str]:
    """Return the racks of a culprit; a leak that was located is at a branch, not its loop."""
    if type_ == "device":
        return []
    if type_ == "loop" and "/" in culprit:
        return racks_of(Place("branch", culprit), topology)
    return racks_of(Place(type_, culprit), topology)
