"""Leaves of OpenConfig's models -> columns of a poll, by the rules of a map.

A transceiver is a component; the interface that refers to it gives its port. Channels count from 0
or from 1 by vendor: a component that has a channel 0 counts from 0. A leaf's rules, labels and
series are looked up once and kept until what is known of ports and modules changes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan

from collectors.gnmi import values
from collectors.maps import gnmi_rules, lldp, modules
from collectors.maps.columns import Columns
from collectors.maps.gnmi_rules import GnmiMap, Leaf
from collectors.maps.lldp import Heard
from collectors.protocols.gnmi_paths import LeafValue, Scalar, bare, schema
from collectors.protocols.module import Identity, Module
from collectors.source import Target
from fabrichealth.catalogue.optics import LOS, RX_POWER
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.model import Neighbor, Reason, SeriesTable

LABELS = {"module": "port"}
"""Labels that are called otherwise than the keys of paths."""
LEVELS = {"warning": "warning", "critical": "alarm", "alarm": "alarm", "major": "alarm"}
TYPE = "/interfaces/interface/state/type"
ETHERNET = "ethernetCsmacd"
CHANNELS = "/components/component/transceiver/physical-channels/channel"
HOST_LANES = "/components/component/transceiver/host-lanes/lane"
TRANSCEIVER = "/components/component/transceiver/"
LAST = 10**9
"""Rank of what is taken only where nothing better is there."""
_PRIORITY = re.compile(r"(?:.*\D)?([0-7])")
_SUFFIX = re.compile(r"[ _-]?transceiver$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """One series of a leaf, and how its value is read."""

    rank: int
    series: int
    form: str
    worth: float


@dataclass(slots=True)
class OpenConfig:
    """Takes leaves of one device."""

    table: SeriesTable
    target: Target
    device: str
    known: GnmiMap
    first_lane: int | None = None
    """What the device calls its first channel; None finds out."""
    _rules: dict[str, list[Leaf]] = field(init=False)
    _facts: dict[str, str] = field(init=False)
    _heard: dict[str, str] = field(init=False)
    _cells: dict[tuple[str, tuple[str, ...]], tuple[Cell, ...]] = field(default_factory=dict)
    _port_of: dict[str, str] = field(default_factory=dict)
    _modules: set[str] = field(default_factory=set)
    _from_zero: set[tuple[str, str]] = field(default_factory=set)
    _other: set[str] = field(default_factory=set)
    """Interfaces that are no Ethernet ports."""
    _said: dict[str, tuple[Identity, list[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rules = gnmi_rules.leaves(self.known)
        facts, heard = self.known.facts, self.known.neighbor
        self._facts = {f"{schema(facts.path)}/{leaf}": name for leaf, name in facts.leaves.items()}
        self._heard = {f"{schema(heard.path)}/{leaf}": name for leaf, name in heard.leaves.items()}

    def take(
        self, leaves: Iterable[LeafValue], columns: Columns, neighbors: list[Neighbor]
    ) -> None:
        """Take the leaves of one poll; later ones of the same place win."""
        found = {(leaf.path, leaf.keys): leaf.value for leaf in leaves}
        self._learn(found)
        taken: list[tuple[int, int, float]] = []
        ports: set[str] = set()
        for place, value in found.items():
            cells = self._cells.get(place)
            if cells is None:
                cells = self._cells[place] = tuple(self._laid_out(*place))
            for cell in cells:
                number = values.number(cell.form, value)
                if number is None:
                    self._refuse(columns, cell.series, value)
                elif not isnan(number):
                    taken.append((cell.rank, cell.series, number * cell.worth))
            if cells and place[0].startswith("/interfaces/"):
                ports.add(place[1][0])
        for _, series, number in sorted(taken):
            columns.put(series, number)
        for port in ports:
            columns.take(PORT_INFO, self._info(port), 1.0)
        self._identify(found, columns)
        neighbors.extend(self._neighbors(found))

    def _learn(self, found: Mapping[tuple[str, tuple[str, ...]], Scalar]) -> None:
        """Note which module a port has, what is a module, and how it counts its channels."""
        before = len(self._modules), len(self._from_zero), len(self._other), dict(self._port_of)
        module = schema(self.known.module)
        for (path, keys), value in found.items():
            if path == module and keys and str(value) not in self._port_of:
                self._port_of[str(value)] = keys[0]
            elif path == TYPE and keys and bare(str(value)) != ETHERNET:
                self._other.add(keys[0])
            elif path.startswith(TRANSCEIVER) and keys:
                self._modules.add(keys[0])
                for group in (CHANNELS, HOST_LANES):
                    if path.startswith(group) and keys[1:2] == ("0",):
                        self._from_zero.add((keys[0], group))
        after = len(self._modules), len(self._from_zero), len(self._other), dict(self._port_of)
        if before != after:
            self._cells.clear()

    def _laid_out(self, path: str, keys: tuple[str, ...]) -> Iterator[Cell]:
        for leaf in self._rules.get(path, ()):
            if len(leaf.keys) != len(keys):
                continue
            labels = self._labels(path, leaf, keys)
            if labels is None:
                continue
            metric, rule = leaf.rule.to, leaf.rule
            series = self.table.intern(metric, tuple(labels.get(one, "") for one in metric.labels))
            yield Cell(leaf.rank, series, rule.form, rule.worth)
            if metric is RX_POWER:  # a dark receiver without a flag of its own has lost its signal
                lost = labels | {"side": "media"}
                place = tuple(lost[one] for one in LOS.labels)
                yield Cell(LAST, self.table.intern(LOS, place), "dark", 1.0)

    def _labels(self, path: str, leaf: Leaf, keys: tuple[str, ...]) -> dict[str, str] | None:
        """Return the labels of a leaf's series, None where the rule is not about it."""
        labels = {"device": self.device, **leaf.rule.labels}
        for name, key in zip(leaf.keys, keys, strict=True):
            label = LABELS.get(name, name)
            said = self._label(name, key, path, keys)
            if said is None:
                return None
            labels[label] = said
        return labels

    def _label(self, name: str, key: str, path: str, keys: tuple[str, ...]) -> str | None:
        """Return what a key of a path is as a label, None where it is none."""
        if name == "port":
            return None if key in self._other else key
        if name == "module":
            return self._port(key) if key in self._modules else None
        if name == "sensor":
            return None if key in self._modules else key
        if name == "lane":
            return str(int(key) + self._shift(path, keys[0])) if key.isdecimal() else None
        if name == "priority":
            found = _PRIORITY.fullmatch(key)
            return found[1] if found else None
        return LEVELS.get(bare(key).casefold()) if name == "level" else key

    def _shift(self, path: str, module: str) -> int:
        if self.first_lane is not None:
            return 1 - self.first_lane
        group = CHANNELS if path.startswith(CHANNELS) else HOST_LANES
        return int((module, group) in self._from_zero)

    def _port(self, module: str) -> str:
        return self._port_of.get(module) or _SUFFIX.sub("", module) or module

    def _info(self, port: str) -> tuple[str, ...]:
        facts = {"device": self.device, "port": port, "technology": "roce", "packets": "packets"}
        return tuple(facts.get(label, "") for label in PORT_INFO.labels)

    def _identify(
        self, found: Mapping[tuple[str, tuple[str, ...]], Scalar], columns: Columns
    ) -> None:
        said: dict[str, dict[str, str]] = {}
        for (path, keys), value in found.items():
            name = self._facts.get(path)
            if name and len(keys) == 1 and str(value).strip() not in values.ABSENT:
                said.setdefault(keys[0], {})[name] = bare(str(value).strip())
        for module, facts in said.items():
            identity = Identity(**facts)
            kept = self._said.get(module)
            if kept is None or kept[0] != identity:
                port = self._port(module)
                series = [
                    self.table.intern(metric, (self.device, port, *labels))
                    for metric, labels, _ in modules.readings(Module(identity))
                ]
                kept = self._said[module] = identity, series
            for one in kept[1]:
                columns.put(one, 1.0)

    def _neighbors(self, found: Mapping[tuple[str, tuple[str, ...]], Scalar]) -> Iterator[Neighbor]:
        rows: dict[tuple[str, ...], dict[str, str]] = {}
        for (path, keys), value in found.items():
            name = self._heard.get(path)
            if name and len(keys) == 2:
                rows.setdefault(keys, {})[name] = str(value)
        heard: dict[str, list[Neighbor]] = {}
        for (port, _), row in rows.items():
            entry = Heard(
                row.get("system", ""), row.get("chassis", ""), row.get("port", ""),
                bare(row.get("subtype", "")) == "MAC_ADDRESS",
            )  # fmt: skip
            one = lldp.neighbor(self.target, self.device, port, entry)
            if one is not None and one not in heard.setdefault(port, []):
                heard[port].append(one)
        for several in heard.values():  # of one system's entries those with a port are later
            named = {one.remote_device for one in several if one.remote_port}
            yield from (o for o in several if o.remote_port or o.remote_device not in named)

    def _refuse(self, columns: Columns, series: int, value: Scalar) -> None:
        metric = self.table.metric(series)
        labels = dict(zip(metric.labels, self.table.labels(series), strict=True))
        columns.refuse(Reason.MALFORMED, str(metric), labels, str(value)[:60])
