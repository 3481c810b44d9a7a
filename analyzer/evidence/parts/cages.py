"""Cages: which ports of a device one module carries.

A module in one cage feeds two, four or eight ports by breakout, or as a twin-port module. The
serial number that ports tell, or that is written for them, says which; a cable assembly has one
for all its ends. Where none is known the names say it, as switches form them: `swp1s0` (Cumulus),
`sw1p2` (NVOS), `Ethernet1/1/3` (NX-OS, EOS), `et-0/0/1:2` (Junos, OS10), the alias `etp1a`
(SONiC). A name whose last number goes beyond eight counts ports, not lanes.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.model import Changes, Place, Port, SeriesTable
from fabrichealth.topology import Topology

SERIAL = OPTICS_INFO.labels.index("serial")

TYPE = "module"
"""Of the place that a cage with its module is; its id is `device/cage`."""

LANES = 8
"""A module has so many electrical lanes, so it carries no more ports by breakout."""

MOST = 16
"""One that goes by the same serial number at more ports tells a default, not its own."""

_PLAIN = (
    re.compile(r"(swp\d+)s\d+"),
    re.compile(r"(sw\d+)p\d+(?:s\d+)?"),
    re.compile(r"([\w/-]*\d):\d+"),
    re.compile(r"(etp\d+)[a-h]"),
)
"""Names that say by themselves that the rest counts lanes."""

_SLASHED = re.compile(r"([A-Za-z]*\d+(?:/\d+)*)/(\d+)")
"""Names that may: `Ethernet1/1/3` is the third lane of a cage, or the third port of a card."""


class Cage(NamedTuple):
    """A cage that carries several ports; `serial` is empty where names alone say so."""

    device: str
    name: str
    serial: str
    ports: tuple[Port, ...]
    sure: bool
    """A serial number says so, or names that cannot mean anything else."""

    @property
    def place(self) -> Place:
        """The cage as a culprit."""
        return Place(TYPE, f"{self.device}/{self.name}")

    def __str__(self) -> str:
        module = f"module {self.serial}" if self.serial else "the module"
        return f"{module} in {self.device} {self.name}"


class Cages:
    """Looks up cages, device by device, as they are asked for."""

    def __init__(self, topology: Topology, infos: Changes | None = None) -> None:
        """`infos` are those of modules; without them only what is written counts."""
        self._topology = topology
        self._infos = infos
        self._known: dict[str, dict[Port, Cage]] = {}

    def of(self, port: Port) -> Cage | None:
        """Return the cage of a cabled port; None where it shares its module with no other."""
        holder = self._holder(port.device)
        if holder not in self._known:
            self._known[holder] = {
                port: cage for cage in self._cages(holder) for port in cage.ports
            }
        return self._known[holder].get(port)

    def came(self, cage: Cage) -> str:
        """Return in words where a cage's module was before; empty if nowhere else.

        A cable tells one number at all its ends: those that face the cage are no earlier place.
        """
        if self._infos is None or not cage.serial:
            return ""
        here = {*cage.ports, *(self._topology.peer(port) for port in cage.ports)}
        there = [port for port in _ports_of(self._infos.table, cage.serial) if port not in here]
        if not there or any(_told(self._infos, port) == cage.serial for port in there):
            return ""  # it is there still: no number of its own
        return f"; {cage.serial} was in {', '.join(map(str, sorted(there, key=_natural)))} before"

    def named(self, name: str) -> Cage | None:
        """Return the cage of a place's id (`device/cage`)."""
        device = self._topology.devices.get(name.partition("/")[0])
        for one in self._ports(device.name) if device else ():
            cage = self.of(one)
            if cage is not None and cage.place.id == name:
                return cage
        return None

    def _holder(self, device: str) -> str:
        """Return what a module is plugged into: of a NIC's port its host."""
        row = self._topology.devices.get(device)
        return (row.host if row is not None and row.role == "nic" else "") or device

    def _ports(self, holder: str) -> list[Port]:
        held = self._topology.hosted.get(holder, ())
        names = [holder, *(one for one in held if self._topology.devices[one].role == "nic")]
        return [
            end
            for name in names
            for link in self._topology.links_of.get(name, ())
            for end in link.ends
            if end.device == name
        ]

    def _cages(self, holder: str) -> Iterable[Cage]:
        ports = self._ports(holder)
        serials = {port: self._serial(port) for port in ports}
        shared = self._by_serial(serials)
        named = _by_name(self._topology, holder, ports)
        groups: dict[tuple[str, str], list[Port]] = defaultdict(list)
        for name, mine in named.items():
            told = {serials[port] for port in mine} - {""}
            if len(told) > 1:
                continue  # several modules: so their names do not count lanes
            groups[min(told, default=""), name].extend(mine)
        taken = set(chain.from_iterable(groups.values()))
        for serial, mine in shared.items():
            rest = [port for port in mine if port not in taken]
            groups[serial, ""].extend(rest)
        for (serial, name), mine in groups.items():
            if 2 <= len(mine) <= MOST:
                ordered = tuple(sorted(mine, key=_natural))
                device, port = ordered[0]
                sure = bool(serial) or not _SLASHED.fullmatch(port)
                yield Cage(device, name or port, serial, ordered, sure)

    def _by_serial(self, serials: Mapping[Port, str]) -> dict[str, list[Port]]:
        """Return ports by the serial number that they tell, else by that of a cable's far ends."""
        found: dict[str, list[Port]] = defaultdict(list)
        far: dict[str, list[Port]] = defaultdict(list)
        for port, serial in serials.items():
            peer = self._topology.peer(port)
            if serial:
                found[serial].append(port)
            elif peer is not None and (theirs := self._serial(peer)):
                far[theirs].append(port)
        for serial, ports in far.items():
            ends = {peer.device for port in ports if (peer := self._topology.peer(port))}
            if len(ends) > 1:  # one module sits in one device, one cable may lead to several
                found[serial].extend(ports)
        return found

    def _serial(self, port: Port) -> str:
        told = _told(self._infos, port) if self._infos is not None else ""
        if told:
            return told
        link = self._topology.link_of.get(port)
        module = (
            None if link is None else (link.module_a if link.ends[0] == port else link.module_b)
        )
        return module.serial if module is not None else ""


def _by_name(topology: Topology, device: str, ports: Iterable[Port]) -> dict[str, list[Port]]:
    """Return the ports of a switch by the cage that their names say."""
    row = topology.devices.get(device)
    if row is None or row.role != "switch":
        return {}
    plain: dict[str, list[Port]] = defaultdict(list)
    slashed: dict[str, list[tuple[int, Port]]] = defaultdict(list)
    others = 0
    for port in ports:
        facts = row.ports.get(port.port)
        words = (port.port, facts.alias if facts else "")
        hits = (one.fullmatch(word) for one in _PLAIN for word in words)
        if hit := next((hit for hit in hits if hit), None):
            plain[hit[1]].append(port)
        elif hit := _SLASHED.fullmatch(port.port):
            slashed[hit[1]].append((int(hit[2]), port))
        else:
            others += 1
    long = {
        _shape(name)
        for name, mine in slashed.items()
        if not all(1 <= number <= LANES for number, _ in mine)
    }
    alone = len(slashed) + len(plain) + others < 2
    lanes = {
        name: [port for _, port in mine]
        for name, mine in slashed.items()
        if not alone and _shape(name) not in long and not _is_slot(name, slashed)
    }
    return {**plain, **lanes}


def _is_slot(name: str, every: Mapping[str, object]) -> bool:
    """Return whether `Ethernet1/2` may be port 2 of card 1: no other cage has such a name."""
    return "/" not in name and sum(_shape(one) == _shape(name) for one in every) < 2


def _shape(name: str) -> str:
    return re.sub(r"\d+", "0", name)


def _natural(port: Port) -> tuple[str, list[tuple[int, str]]]:
    words = re.findall(r"\d+|\D+", port.port)
    return port.device, [(int(one), "") if one.isdigit() else (-1, one) for one in words]


class _Serials:
    """Which series tell the module of each port; grows with the table."""

    def __init__(self) -> None:
        self._seen = 0
        self.series: dict[Port, list[int]] = defaultdict(list)
        self.ports: dict[str, list[Port]] = defaultdict(list)

    def learn(self, table: SeriesTable) -> None:
        every = table.of(OPTICS_INFO)
        for number in every[self._seen :].tolist():
            labels = table.labels(number)
            if labels[SERIAL]:
                port = Port(*labels[:2])
                self.series[port].append(number)
                self.ports[labels[SERIAL]].append(port)
        self._seen = len(every)


# Derived and never decided upon: made again it is the same, only slower.
_known: WeakKeyDictionary[SeriesTable, _Serials] = WeakKeyDictionary()


def _ports_of(table: SeriesTable, serial: str) -> list[Port]:
    """Return every port that ever told a serial number."""
    serials = _known.setdefault(table, _Serials())
    serials.learn(table)
    return list(dict.fromkeys(serials.ports.get(serial, ())))


def _told(infos: Changes, port: Port) -> str:
    """Return the serial number that a port told last; a module that died tells no more."""
    serials = _known.setdefault(infos.table, _Serials())
    serials.learn(infos.table)
    mine = serials.series.get(port, ())
    if not mine:
        return ""
    if len(mine) == 1:
        return infos.table.labels(mine[0])[SERIAL]
    rows = np.searchsorted(infos.rows, mine)
    seen = [
        (float(infos.seen_at[row]) if row < len(infos.rows) and infos.rows[row] == number
         else -np.inf, number)
        for row, number in zip(rows.tolist(), mine, strict=True)
    ]  # fmt: skip
    return infos.table.labels(max(seen)[1])[SERIAL]
