"""Wiring: the links of a topology as columns, what they were built to carry and what they carry.

A scale-up domain has two networks: the one that joins accelerators memory to memory (NVLink, HCCS,
UnifiedBus, ..), and the one beside it that joins hosts (InfiniBand, RoCE). Each is looked at by
itself, since neither stands in for the other. What is cut or halved is made of units: racks, else
hosts, else single accelerators.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.pause.crossings import Crossings, forwards
from fabrichealth.model import Floats
from fabrichealth.topology import SCALE_UP, Topology

Places = NDArray[np.intp]
Bools = NDArray[np.bool_]

NETWORKS = ("scale_up", "scale_out")
MEMBERS = frozenset({"accelerator", "host", "nic"})
"""Roles of devices that send and receive for a domain; the rest passes on, or is no part of it."""

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Wiring:
    """Links by number, in the order of the topology; arrays are [l], [l, 2] for ends, [d].

    `gbps` is what a link was built for, in Gb/s; where a network has a link without a written
    speed each of its links counts 1, for a sum of both would mean nothing (`counted`).
    """

    topology: Topology
    links: tuple[str, ...]
    devices: tuple[str, ...]
    device: Places
    gbps: Floats
    network: NDArray[np.int8]
    counted: tuple[bool, ...]
    passes: Bools
    """Whether a device passes on what it receives ([d])."""
    member: Bools
    box: Places
    """Device that holds each device: its host, else itself ([d])."""
    _units: dict[str, "Units"] = field(default_factory=dict, repr=False)
    _ports: WeakKeyDictionary[Crossings, Places] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Number of each device by its name."""
        return {name: number for number, name in enumerate(self.devices)}

    @cached_property
    def members_in(self) -> Mapping[str, list[int]]:
        """Numbers of the members of each domain."""
        found: dict[str, list[int]] = {}
        for number in np.flatnonzero(self.member).tolist():
            found.setdefault(self.topology.domain_of(self.devices[number]), []).append(number)
        return found

    @cached_property
    def links_in(self) -> Mapping[str, Places]:
        """Links of each domain: those with an end in it, ascending."""
        names = tuple(self.topology.domains)
        code = {name: number for number, name in enumerate(names)}
        of = np.array([code.get(self.topology.domain_of(one), -1) for one in self.devices], np.intp)
        ends = of[self.device]
        ends[ends[:, 0] == ends[:, 1], 1] = -1  # once is enough
        domain = ends.ravel()
        order = np.argsort(domain, kind="stable")
        start = np.searchsorted(domain[order], np.arange(len(names) + 1))
        return {
            name: order[start[number] : start[number + 1]] // 2 for name, number in code.items()
        }

    def units(self, domain: str) -> "Units":
        """Return what a domain is made of."""
        found = self._units.get(domain)
        if found is None:
            found = self._units[domain] = _units(self, domain)
        return found

    def ports(self, ports: Crossings) -> Places:
        """Return the numbers of the ports of each link ([l, 2])."""
        found = self._ports.get(ports)
        if found is None:
            ends = [ports.find(end) for link in self.topology.links.values() for end in link.ends]
            found = np.array([-1 if one is None else one for one in ends], np.intp).reshape(-1, 2)
            self._ports[ports] = found
        return found


@dataclass(frozen=True, eq=False)
class Units:
    """The parts of a domain: racks, else hosts, else accelerators, in byte order."""

    names: tuple[str, ...]
    of: Places
    """Unit of each device that belongs to the domain ([d]); `NOWHERE` for all others."""
    accelerators: Places
    """Numbers of the domain's accelerators."""
    sizes: NDArray[np.int64]
    """How many accelerators each unit holds ([u])."""


@dataclass(frozen=True, eq=False)
class Carried:
    """What links carry now: Gb/s ([l]), and whether anything was heard of them ([l])."""

    gbps: Floats
    heard: Bools

    def alike(self, other: "Carried") -> bool:
        """Return whether every link carries what it carries in `other`."""
        return np.array_equal(self.gbps, other.gbps) and np.array_equal(self.heard, other.heard)


_known: WeakKeyDictionary[Topology, Wiring] = WeakKeyDictionary()


def wiring(topology: Topology) -> Wiring:
    """Return the columns of a topology, worked out once for each."""
    found = _known.get(topology)
    if found is None:
        found = _known[topology] = _wired(topology)
    return found


def carried(
    wired: Wiring,
    ports: Crossings,
    up: Floats,
    speed: Floats,
    lost: Collection[str] = (),
    fresh: Floats | None = None,
) -> Carried:
    """Return what each link carries by what its ports say.

    `up` is 1, 0 or NaN and `speed` bit/s or NaN of each port of `ports` ([p]). A link that one end
    calls down carries nothing, nor do those named in `lost` (drained, or not to be relied on). One
    that trained to less carries that; one that repeats itself the share `fresh` of what its worse
    end sends ([p], NaN: not known). Of a link of which neither end speaks nothing is heard.
    """
    ends = wired.ports(ports)
    known = ends >= 0
    state = np.where(known, up[ends], np.nan)
    told = np.where(known, speed[ends], np.nan)
    slowest = np.fmin(told[:, 0], told[:, 1]) / 1e9
    counted = np.array(wired.counted)[wired.network]
    gbps = np.where(np.isfinite(slowest) & ~counted, np.fmin(slowest, wired.gbps), wired.gbps)
    if fresh is not None:
        kept = np.where(known, fresh[ends], np.nan)
        gbps *= np.nan_to_num(np.fmin(kept[:, 0], kept[:, 1]), nan=1.0)
    gbps[(state == 0).any(axis=1)] = 0.0
    heard: Bools = np.asarray(np.isfinite(state).any(axis=1), bool)
    if lost:
        gone = np.fromiter((name in lost for name in wired.links), bool, len(wired.links))
        gbps[gone], heard[gone] = 0.0, True
    return Carried(gbps, heard)


def summed(place: Places, amounts: Floats, count: int) -> Floats:
    """Return the sum of amounts at each place from 0 to `count` ([count])."""
    return np.bincount(place, amounts, count).astype(np.float64, copy=False)


def _wired(topology: Topology) -> Wiring:
    ends = [end.device for link in topology.links.values() for end in link.ends]
    devices = tuple(dict.fromkeys([*topology.devices, *ends]))
    number = {name: place for place, name in enumerate(devices)}
    links = topology.links.values()
    network = np.array([link.technology not in SCALE_UP for link in links], np.int8)
    written = np.array([link.speed_gbps or np.nan for link in links], np.float64)
    counted = tuple(
        bool(np.isnan(written[network == place]).any()) for place in range(len(NETWORKS))
    )
    gbps = np.where(np.array(counted)[network], 1.0, written)
    rows = [topology.devices.get(name) for name in devices]
    hosts = [row.host if row and row.host in number else "" for row in rows]
    return Wiring(
        topology,
        tuple(topology.links),
        devices,
        np.array([number[name] for name in ends], np.intp).reshape(-1, 2),
        gbps,
        network,
        counted,
        np.array([forwards(topology, name) for name in devices], bool),
        np.array([bool(row and row.role in MEMBERS) for row in rows], bool),
        np.array(
            [number[host or name] for host, name in zip(hosts, devices, strict=True)], np.intp
        ),
    )


def _units(wired: Wiring, domain: str) -> Units:
    topology = wired.topology
    mine = wired.members_in.get(domain, [])
    accelerators = [
        number for number in mine if topology.devices[wired.devices[number]].role == "accelerator"
    ]
    racks = {number: topology.rack_of(wired.devices[number]) for number in mine}
    boxes = {number: wired.devices[wired.box[number]] for number in mine}
    names = {number: wired.devices[number] for number in mine}
    place = racks
    for place in (racks, boxes, names):
        held = {place[number] for number in accelerators}
        if len(held - {""}) > 1:
            break
    chosen = tuple(sorted(held - {""}, key=str.encode))
    code = {name: at for at, name in enumerate(chosen)}
    of = np.full(len(wired.devices), NOWHERE, np.intp)
    for number in mine:
        of[number] = code.get(place[number], NOWHERE)
    held_in = of[np.array(accelerators, np.intp)]
    sizes = np.bincount(held_in[held_in >= 0], minlength=len(chosen))
    return Units(chosen, of, np.array(accelerators, np.intp), sizes)
