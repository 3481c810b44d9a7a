"""Belonging: which trunk, card, device, rack, lot and firmware each end of each link belongs to.

A unit is one end of one link, numbered 2 i and 2 i + 1; what it belongs to follows from the
topology and from what modules say of themselves (which wins), so it is worked out once and kept
beside the table; a pass only indexes arrays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.link.receivers import Places, Receivers
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.model import Changes, Labels, Port, SeriesTable
from fabrichealth.topology import Link, Topology

Codes = NDArray[np.int64]

SIDES = ("a", "b")
MODULE = tuple(OPTICS_INFO.labels.index(name) for name in ("vendor", "part", "lot", "firmware"))
SERIAL = OPTICS_INFO.labels.index("serial")


@dataclass
class Names:
    """Numbers names densely; the empty name has none (-1)."""

    names: list[str] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)

    def code(self, name: str) -> int:
        """Return the number of a name, new or known."""
        if not name:
            return -1
        found = self._number.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found

    def codes(self, names: Iterable[str]) -> Codes:
        """Return the numbers of many names."""
        return np.array([self.code(name) for name in names], np.int64)


@dataclass(frozen=True, slots=True)
class Made:
    """What a module is, as names of groups; empty where it does not say."""

    lot: str = ""
    part: str = ""
    firmware: str = ""

    @classmethod
    def of(cls, vendor: str, part: str, lot: str, firmware: str) -> "Made":
        """Return the groups of a module; a lot without a part is nobody's."""
        kind = f"{vendor}/{part}" if part else ""
        return cls(
            f"{kind}/{lot}" if kind and lot else "",
            kind,
            f"{kind}/{firmware}" if kind and firmware else "",
        )


MADE = ("lot", "part", "firmware")


class Belonging:
    """Groups of every unit of a topology ([u]); `names[attribute]` says what codes mean."""

    def __init__(self, topology: Topology) -> None:
        self.links: Sequence[Link] = list(topology.links.values())
        self.ports: list[Port] = [end for link in self.links for end in link.ends]
        self.number = {port: unit for unit, port in enumerate(self.ports)}
        self.link = np.arange(len(self.ports), dtype=np.int64) // 2
        self.peer = np.arange(len(self.ports), dtype=np.intp) ^ 1
        self.names: dict[str, Names] = {}
        self.written: dict[str, Codes] = {}
        columns: dict[str, list[str]] = {
            "bundle": [link.bundle for link in self.links for _ in SIDES],
            "card": [card for link in self.links for card in (link.card_a, link.card_b)],
            "lasers": [bank for link in self.links for bank in (link.lasers_a, link.lasers_b)],
            "device": [port.device for port in self.ports],
            "rack": [topology.rack_of(port.device) for port in self.ports],
        }
        made = [
            Made.of(one.vendor, one.part, one.lot, one.firmware) if one else Made()
            for link in self.links
            for one in (link.module_a, link.module_b)
        ]
        columns |= {name: [getattr(one, name) for one in made] for name in MADE}
        for name, words in columns.items():
            self.names[name] = Names()
            self.written[name] = self.names[name].codes(words)
        kinds: dict[tuple[str, str, str], int] = {}
        self.stratum = np.repeat(
            np.array([kinds.setdefault(_kind(link), len(kinds)) for link in self.links], np.int64),
            2,
        )
        self._told = 0
        self._told_unit: Places = np.empty(0, np.intp)
        self._told_codes: dict[str, Codes] = {name: np.empty(0, np.int64) for name in MADE}
        self._units: dict[str, Places] = {}

    def __len__(self) -> int:
        return len(self.ports)

    def code(self, name: str, infos: Changes) -> Codes:
        """Return the group of every unit ([u]); modules' own word on themselves wins."""
        found = self.written[name]
        if name not in MADE or not len(infos.rows):
            return found
        self._learn(infos.table)
        rows = np.searchsorted(infos.table.of(OPTICS_INFO), infos.rows)
        rows = rows[np.argsort(infos.seen_at, kind="stable")]  # the newest word is the last
        unit, code = self._told_unit[rows], self._told_codes[name][rows]
        known = (unit >= 0) & (code >= 0)
        found = found.copy()
        found[unit[known]] = code[known]
        return found

    def units(self, whose: str, ports: Sequence[Port]) -> Places:
        """Return the unit of each port ([r]), -1 where it has no written cable.

        `ports` only grow; what was looked up before is kept under the name of the list.
        """
        known = self._units.get(whose, np.empty(0, np.intp))
        fresh = ports[len(known) :]
        if fresh:
            new = [self.number.get(port, -1) for port in fresh]
            known = self._units[whose] = np.concatenate([known, np.array(new, np.intp)])
        return known

    def _learn(self, table: SeriesTable) -> None:
        fresh = table.of(OPTICS_INFO)[self._told :]
        if not len(fresh):
            return
        labels = [table.labels(int(series)) for series in fresh]
        made = [made_of(one) for one in labels]
        units = [self.number.get(Port(*one[:2]), -1) for one in labels]
        self._told += len(fresh)
        self._told_unit = np.concatenate([self._told_unit, np.array(units, np.intp)])
        for name in MADE:
            codes = self.names[name].codes(getattr(one, name) for one in made)
            self._told_codes[name] = np.concatenate([self._told_codes[name], codes])


def made_of(labels: Labels) -> Made:
    """Return what the labels of a module's info series say it is."""
    vendor, part, lot, firmware = (labels[place] for place in MODULE)
    return Made.of(vendor, part, lot, firmware)


def _kind(link: Link) -> tuple[str, str, str]:
    return link.technology, link.medium, f"{link.speed_gbps or 0:g}"


# Derived and never decided upon: made again it is the same, only slower.
_known: WeakKeyDictionary[SeriesTable, WeakKeyDictionary[Topology, tuple[Receivers, Belonging]]]
_known = WeakKeyDictionary()


def belonging(table: SeriesTable, topology: Topology, ends: Receivers) -> Belonging:
    """Return the groups of a topology's units, kept beside the table while `ends` are the same."""
    mine = _known.setdefault(table, WeakKeyDictionary())
    found = mine.get(topology)
    if found is None or found[0] is not ends:
        found = mine[topology] = ends, Belonging(topology)
    return found[1]
