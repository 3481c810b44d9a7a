"""Sheets: the replies of one device as columns of a poll, by the rules of its maps.

Replies of one kind (a command, a resource) share their layouts. Words (who made a module, who faces
a port) are looked at again only when one of them changed. A stamp that stands still for too long
makes what it dates stale: a monitor that hangs must not look like a module that is well.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from collectors.maps import infiniband, lldp, modules
from collectors.maps.columns import Columns
from collectors.maps.infiniband import Wait
from collectors.maps.link_layer import fec_name
from collectors.maps.lldp import Heard
from collectors.maps.tree_rules import Branch
from collectors.protocols import json_tree
from collectors.protocols.module import Identity, Module
from collectors.source import Target
from collectors.trees import layout, values
from collectors.trees.layout import Cell, Layout, Placed, Subject
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.catalogue.ports import PORT_INFO, SPEED, UP
from fabrichealth.model import Floats, Neighbor, Reason, SeriesTable

MOST_LAYOUTS = 8
"""Shapes of one kind of reply that are kept: a port that comes and goes has two."""

FEC = {
    "off": "none", "none": "none", "disabled": "none", "baser": "firecode", "firecode": "firecode",
    "fc": "firecode", "reedsolomon528": "rs528", "rs-528": "rs528", "reedsolomon": "rs528",
}  # fmt: skip
"""The topology's names of codes; which of two `rs` alone is, the speed of a lane tells."""

MAC_TYPES = {"macaddress", "mac", "mac_address", "mac-address"}
"""How a reply says that a port's id is a MAC address (IEEE 802.1AB, port id subtype 3)."""


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """Words of one kind of reply, and what they say of whom."""

    layout: Layout
    words: tuple[Any, ...]
    facts: Mapping[Subject, Mapping[str, str]]
    ports: frozenset[str]
    """The ports whose state the reply tells."""
    neighbors: list[Neighbor]


@dataclass(slots=True)
class Sheets:
    """Takes the replies of one device; outlives polls."""

    table: SeriesTable
    target: Target
    device: str
    rules: Branch
    placed: Placed
    """Turns the names in a leaf's path into labels."""
    technology: Callable[[str, str], str]
    """Says of which technology a port is, by its name and what the reply calls it."""
    stale_after: float
    _layouts: dict[str, list[Layout]] = field(default_factory=dict)
    _said: dict[str, Said] = field(default_factory=dict)
    _stood: dict[tuple[str, json_tree.Path], tuple[Any, float]] = field(default_factory=dict)
    _speeds: dict[str, float] = field(default_factory=dict)
    _widths: dict[str, float] = field(default_factory=dict)
    _waits: dict[int, Wait] = field(default_factory=dict)
    _taken: list[Said] = field(default_factory=list)
    _told: tuple[list[Said], list[int]] = field(default_factory=lambda: ([], []))

    def forget(self) -> None:
        """Lay out everything anew: what names mean has changed."""
        self._layouts.clear()
        self._said.clear()

    def knows(self, tree: Mapping[str, Any]) -> bool:
        """Return whether any rule begins as a tree does."""
        return bool(tree.keys() & self.rules.literal.keys())

    def begin(self) -> None:
        """Start a poll; what one that was cut off had taken is forgotten."""
        self._taken = []

    def take(self, kind: str, tree: Mapping[str, Any], at: float, columns: Columns) -> None:
        """Take one reply of a kind, read at `at` (unix seconds)."""
        shape, leaves = json_tree.flattened(tree)
        known = self._layout(kind, shape)
        picked = known.pick(leaves)
        read, wrong = known.numbers(picked)
        for place in wrong:
            self._refuse(columns, Reason.MALFORMED, known.cells[place], picked[place])
        for cell in known.unplaced:
            self._refuse(columns, Reason.UNSUPPORTED, cell, "several priorities in one count")
        self._drop_stale(kind, known, leaves, at, read, columns)
        found = known.joined(read)
        for kept, rows in ((self._speeds, known.speeds), (self._widths, known.widths)):
            kept.update((port, float(found[row])) for row, port in rows if found[row] > 0)
        self._wait(known, found)
        finite = np.isfinite(found)
        columns.put_all(known.series[finite], found[finite])
        words = known.spoken(leaves)
        said = self._said.get(kind)
        if said is None or said.layout is not known or said.words != words:
            said = self._said[kind] = self._listened(known, words)
        self._taken.append(said)

    def finish(self, columns: Columns) -> list[Neighbor]:
        """Take what the replies of this poll say in words; return who faces the ports."""
        taken = self._taken
        if taken != self._told[0]:
            self._told = (taken, self._info(taken))
        for one in self._told[1]:
            columns.put(one, 1.0)
        return list(dict.fromkeys(one for said in taken for one in said.neighbors))

    def _layout(self, kind: str, shape: json_tree.Shape) -> Layout:
        kept = self._layouts.setdefault(kind, [])
        for place, one in enumerate(kept):
            if one.shape == shape:
                if place:
                    kept.insert(0, kept.pop(place))
                return one
        fresh = layout.laid_out(shape, self.rules, self.placed, self.table, self.device)
        kept.insert(0, fresh)
        del kept[MOST_LAYOUTS:]
        return fresh

    def _drop_stale(
        self,
        kind: str,
        known: Layout,
        leaves: list[Any],
        at: float,
        read: Floats,
        columns: Columns,
    ) -> None:
        for stamp, cells in known.stamps:
            said = leaves[stamp.place]
            key = (kind, stamp.path)
            before = self._stood.get(key)
            if before is None or before[0] != said:
                self._stood[key] = (said, at)
            elif at - before[1] > self.stale_after and len(cells):
                read[cells] = np.nan
                cell = known.cells[cells[0]]
                labels = dict(zip(cell.metric.labels[:2], cell.labels[:2], strict=True))
                columns.refuse(Reason.STALE, "/".join(stamp.path), labels, str(said)[:60])

    def _wait(self, known: Layout, found: Floats) -> None:
        """Turn ticks of waiting into seconds, at the speed that the port last had."""
        for row, port in known.ticks:
            speed = self._speeds.get(port)
            if speed is None or np.isnan(found[row]):
                found[row] = np.nan
                continue
            wait = self._waits.setdefault(int(known.series[row]), Wait())
            found[row] = wait.seconds(int(found[row]), infiniband.wait_tick(speed))

    def _listened(self, known: Layout, words: tuple[Any, ...]) -> Said:
        """Return what words say."""
        facts: dict[Subject, dict[str, str]] = {}
        for word, value in zip(known.words, words, strict=True):
            text = value.strip() if isinstance(value, str) else ""
            if text.casefold() not in values.ABSENT:
                facts.setdefault(word.subject, {}).setdefault(word.name, text)
        told = ((self.table.metric(n), self.table.labels(n)) for n in known.series.tolist())
        ports = frozenset(labels[1] for metric, labels in told if metric in {UP, SPEED})
        heard = [
            lldp.neighbor(self.target, self.device, subject[1], _heard(fact))
            for subject, fact in facts.items()
            if subject[0] == "neighbor"
        ]
        return Said(known, words, facts, ports, _best([one for one in heard if one is not None]))

    def _info(self, taken: list[Said]) -> list[int]:
        """Return the info series of replies; a port's words may stand in any that came before."""
        words: dict[Subject, dict[str, str]] = {}
        for said in (*self._said.values(), *taken):  # of one kind there may be several
            for subject, fact in said.facts.items():
                words[subject] = {**fact, **words.get(subject, {})}
        ports = dict.fromkeys(port for said in taken for port in sorted(said.ports))
        rows = [self._about(port, words.get(("port", port), {})) for port in ports]
        series = [self.table.intern(PORT_INFO, row) for row in rows]
        for subject in dict.fromkeys(one for said in taken for one in said.facts):
            fact = words[subject]
            if subject[0] == "optics":
                series += [
                    self.table.intern(metric, (self.device, subject[1], *labels))
                    for metric, labels, _ in modules.readings(Module(Identity(**fact)))
                ]
            elif subject[0] == "device":
                info = {"device": self.device, **fact}
                labels = tuple(info.get(label, "") for label in DEVICE_INFO.labels)
                series.append(self.table.intern(DEVICE_INFO, labels))
        return series

    def _about(self, port: str, fact: Mapping[str, str]) -> tuple[str, ...]:
        fec = fact.get("fec", "").casefold()
        told = FEC.get(fec) or ("rs544" if "544" in fec else "")
        width = int(self._widths.get(port, 0))
        about = {
            "device": self.device, "port": port,
            "technology": self.technology(port, fact.get("technology", "")),
            "packets": "packets", "fec": told or fec_name(fec, self._speeds.get(port), width),
        }  # fmt: skip
        return tuple(about.get(label, "") for label in PORT_INFO.labels)

    def _refuse(self, columns: Columns, reason: Reason, cell: Cell, raw: object) -> None:
        labels = dict(zip(cell.metric.labels, cell.labels, strict=True))
        columns.refuse(reason, str(cell.metric), labels, str(raw)[:60])


def _heard(fact: Mapping[str, str]) -> Heard:
    return Heard(
        fact.get("system", ""),
        fact.get("chassis", ""),
        fact.get("port", "").strip('"'),
        fact.get("port_type", "").casefold() in MAC_TYPES,
    )


def _best(neighbors: list[Neighbor]) -> list[Neighbor]:
    """Return neighbours once each; of one system's entries at a port those with a port."""
    named = {(one.port, one.remote_device) for one in neighbors if one.remote_port}
    return list(
        dict.fromkeys(
            one
            for one in neighbors
            if one.remote_port or (one.port, one.remote_device) not in named
        )
    )
