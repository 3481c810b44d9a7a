"""Fitness: which accelerators will not do in a job of several, for something ill before them.

One link that is up and sick slows the whole job, and so does a rack that is hot or short of power.
Such accelerators are free all the same and do for a job of one. One that is itself not healthy, or
whose host is down, does for none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.inventory import Inventory
from analyzer.evidence.durations import fresh
from analyzer.incidents.chain import racks_of
from fabrichealth.catalogue.accelerators import HEALTHY
from fabrichealth.catalogue.verdicts import INCIDENT_INFO, LINK_STATE
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
    POWER_CAPPED,
    POWER_FEED_LOST,
    POWER_OVERLOAD,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Place, View
from fabrichealth.topology import Topology

Bools = NDArray[np.bool_]

ILL_STATES = frozenset({"subhealthy", "drain", "down"})
"""Values of label state of a link that nothing should be placed behind."""

ILL_LINKS = frozenset(
    {LINK_DOWN, LINK_FLAPPING, LINK_SUBHEALTHY, LINK_DEGRADED_SPEED, LINK_WILL_FAIL}
)
HOT_OR_THIN = frozenset(
    {COOLING_LEAK, COOLING_CLOGGED, POWER_CAPPED, POWER_FEED_LOST, POWER_OVERLOAD}
)
"""Kinds that slow whatever their racks hold."""

DOUBTFUL = frozenset({COOLING_THERMAL_CONTACT})
BROKEN = frozenset({DEVICE_DOWN, ACCELERATOR_ERRORS})
GRAVE = frozenset({"ticket", "page"})

NEEDED = (LINK_STATE, INCIDENT_INFO, HEALTHY)
"""Metrics that it looks at."""


@dataclass(frozen=True, eq=False)
class Fitness:
    """What is wrong with accelerators, by row of the inventory."""

    doubtful: Bools
    """Behind something ill ([n])."""
    broken: Bools
    """Ill itself, or its host is down ([n])."""
    why: dict[str, str]
    """By accelerator, the first thing that speaks against it."""

    @classmethod
    def perfect(cls, many: int) -> "Fitness":
        """Return that of so many accelerators of which nothing ill is known."""
        return cls(np.zeros(many, np.bool_), np.zeros(many, np.bool_), {})


def fitness(view: View, stock: Inventory) -> Fitness:
    """Return what speaks against accelerators now, by the verdicts in the store."""
    found = Fitness.perfect(len(stock))
    topology = view.topology

    def accuse(devices: Iterable[str], why: str, *, broken: bool = False) -> None:
        for device in devices:
            for name in _behind(device, topology):
                row = stock.row(name)
                if row is not None:
                    (found.broken if broken else found.doubtful)[row] = True
                    found.why.setdefault(name, why)

    state = LINK_STATE.labels.index("state")
    for labels in _now(view, LINK_STATE):
        if labels[state] in ILL_STATES:
            accuse(topology.devices_of(Place("link", labels[0])), f"{labels[0]} is {labels[state]}")
    for kind, culprit in _grave(view):
        own = KINDS[kind]
        if own in ILL_LINKS:
            accuse(topology.devices_of(Place("link", culprit)), f"{kind} {culprit}")
        elif own in HOT_OR_THIN:
            racks = _racks(own.culprit, culprit, topology)
            accuse(_in(racks, topology), f"{kind} {culprit}")
        elif own in DOUBTFUL | BROKEN:
            # a dark rack is one incident too, whose culprit is the rack
            accuse([culprit, *_in([culprit], topology)], f"{kind} {culprit}", broken=own in BROKEN)
    window = view[HEALTHY]
    for row in np.flatnonzero(fresh(window) & (window.last < 0.5)).tolist():
        accuse(window.labels(row), "says itself that it is not healthy", broken=True)
    return found


def _now(view: View, metric: Metric) -> Iterator[Labels]:
    """Yield the labels of the series of a verdict that are told now."""
    window = view[metric]
    for row in np.flatnonzero(fresh(window) & (window.last >= 0.5)).tolist():
        yield window.labels(row)


def _grave(view: View) -> Iterator[tuple[str, str]]:
    """Yield kind and culprit of the open incidents that need hands."""
    kind, severity, culprit = (
        INCIDENT_INFO.labels.index(name) for name in ("kind", "severity", "culprit")
    )
    for labels in _now(view, INCIDENT_INFO):
        if labels[severity] in GRAVE and labels[kind] in KINDS:
            yield labels[kind], labels[culprit]


def _behind(device: str, topology: Topology) -> tuple[str, ...]:
    """Return what a device takes along: itself, and of a host or its NIC all that the host has."""
    row = topology.devices.get(device)
    host = row.host if row is not None and row.role == "nic" and row.host else device
    return device, *topology.hosted.get(host, ())


def _in(racks: Iterable[str], topology: Topology) -> list[str]:
    return [device for rack in racks for device in topology.in_rack.get(rack, ())]


def _racks(type_: str, culprit: str, topology: Topology) -> list[str]:
    """Return the racks of a culprit; a leak that was located is at a branch, not its loop."""
    if type_ == "loop" and "/" in culprit:
        return racks_of(Place("branch", culprit), topology)
    return racks_of(Place(type_, culprit), topology)
