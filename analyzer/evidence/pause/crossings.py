"""Crossings: every port that speaks of pauses, numbered, and what lies at the end of its cable.

It follows from the topology and from which series there are, so it is worked out once and kept
beside the table of series; a pass only indexes arrays.
"""

from collections import deque
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.pause.waiting import Bools, Places
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats, Ids, Port, SeriesTable
from fabrichealth.topology import Topology

PRIORITIES = 8
"""Of IEEE 802.1Qbb; switches that number lossless queues instead use the same range."""

FORWARDING = frozenset({"switch"})
"""Roles of devices that pass on what they receive."""

HIGH = 1 << 16
"""Tier of a device from which no cable leads to a host."""


class Crossings:
    """Ports by number, in the order in which they were first met; arrays are [p]."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self.ports: list[Port] = []
        self._number: dict[Port, int] = {}
        self._places: dict[Metric, Places] = {}
        self._queues: dict[Metric, Places] = {}
        self._devices: dict[str, int] = {}
        self._names: list[str] = []
        self._tiers = tiers(topology)
        self._arrays: dict[str, NDArray[np.int64]] = {}
        for link in topology.links.values():
            for end in link.ends:
                self._meet(end)

    def __len__(self) -> int:
        return len(self.ports)

    def places(self, table: SeriesTable, metric: Metric, series: Ids) -> Places:
        """Return the number of the port of each series of a metric of ports or priorities."""
        known = self._places.get(metric, np.empty(0, np.intp))
        numbers = table.of(metric)
        if len(numbers) > len(known):
            fresh = [self._meet(Port(*table.labels(int(one))[:2])) for one in numbers[len(known) :]]
            known = np.concatenate([known, np.array(fresh, np.intp)])
            self._places[metric] = known
        return known[np.searchsorted(numbers, series)]

    def queues(self, table: SeriesTable, metric: Metric, series: Ids) -> Places:
        """Return the number of the queue of each series of a metric of priorities.

        That is port times priority; what has no such priority (a number beyond, a name) is -1.
        """
        numbers = table.of(metric)
        known = self._queues.get(metric, np.empty(0, np.intp))
        if len(numbers) > len(known):
            fresh = numbers[len(known) :]
            place = self.places(table, metric, fresh)
            column = metric.labels.index("priority")
            priority = np.array([_priority(table.labels(int(one))[column]) for one in fresh])
            queue = np.where(priority < 0, -1, place * PRIORITIES + priority)
            known = self._queues[metric] = np.concatenate([known, queue.astype(np.intp)])
        return known[np.searchsorted(numbers, series)]

    @property
    def device(self) -> Places:
        """Number of each port's device."""
        return self._column("device")

    @property
    def far(self) -> Places:
        """Number of the port at the cable's far end, -1 where no cable is known."""
        return self._column("far")

    @property
    def far_device(self) -> Places:
        """Number of the device at the far end, -1 where no cable is known."""
        return self._column("far_device")

    @property
    def ends(self) -> Bools:
        """Whether what lies at the far end forwards nothing."""
        return self._column("ends") > 0

    @property
    def upward(self) -> Bools:
        """Whether the port leads away from the hosts."""
        return self._column("upward") > 0

    @property
    def sort(self) -> Places:
        """Number of the technology of each port's cable."""
        return self._column("sort")

    @property
    def written_speed(self) -> Floats:
        """Speed of the cable as written, bit/s; NaN where nothing is written."""
        gbps = self._column("mbps").astype(np.float64) * 1e6
        return np.asarray(np.where(gbps > 0, gbps, np.nan), np.float64)

    def speed(self, said: Changes) -> Floats:
        """Return each port's speed: what it says, else what is written (bit/s, [p])."""
        place = self.places(said.table, SPEED, said.rows)
        speed = self.written_speed.copy()
        told = said.value > 0
        speed[place[told]] = said.value[told]
        return speed

    def far_queues(self, queues: Places) -> Places:
        """Return the queues of the same priority at the far ends, -1 where no cable is known."""
        far = self.far[queues // PRIORITIES]
        return np.where(far < 0, -1, far * PRIORITIES + queues % PRIORITIES)

    def name(self, device: int) -> str:
        """Return the name of a device by its number."""
        if len(self._names) != len(self._devices):
            self._names = list(self._devices)
        return self._names[device]

    def find(self, port: Port) -> int | None:
        """Return the number of a port, None if it is not met."""
        return self._number.get(port)

    def _meet(self, port: Port) -> int:
        found = self._number.get(port)
        if found is None:
            found = self._number[port] = len(self.ports)
            self.ports.append(port)
            self._devices.setdefault(port.device, len(self._devices))
        return found

    def _column(self, name: str) -> NDArray[np.int64]:
        known = self._arrays.get(name)
        if known is None or len(known) != len(self.ports):
            self._arrays = self._worked_out()
        return self._arrays[name]

    def _leads_up(self, device: str, other: str) -> bool:
        """Return whether a cable leads away from hosts; among switches alone each one may."""
        here, there = self._tiers.get(device, HIGH), self._tiers.get(other, HIGH)
        return there > here or (here == there == HIGH and forwards(self._topology, other))

    def _worked_out(self) -> dict[str, NDArray[np.int64]]:
        topology = self._topology
        columns: dict[str, list[int]] = {
            name: [] for name in ("device", "far", "far_device", "ends", "upward", "mbps", "sort")
        }
        sorts: dict[str, int] = {}
        for port in self.ports:
            other = topology.peer(port)
            sort = "" if other is None else topology.link_of[port].technology
            row = (
                self._devices[port.device],
                -1 if other is None else self._number[other],
                -1 if other is None else self._devices[other.device],
                other is not None and not forwards(topology, other.device),
                other is not None and self._leads_up(port.device, other.device),
                0 if other is None else round(1e3 * (topology.link_of[port].speed_gbps or 0)),
                sorts.setdefault(sort, len(sorts)),
            )
            for column, value in zip(columns.values(), row, strict=True):
                column.append(int(value))
        return {name: np.array(column, np.int64) for name, column in columns.items()}


def _priority(word: str) -> int:
    """Return a priority by its label, -1 if it is none of the eight."""
    return int(word) if word.isdecimal() and int(word) < PRIORITIES else -1


def forwards(topology: Topology, device: str) -> bool:
    """Return whether a device passes on what it receives; unknown ones with several cables may."""
    row = topology.devices.get(device)
    if row is None:
        return len(topology.links_of.get(device, ())) != 1
    return row.role in FORWARDING


def tiers(topology: Topology) -> dict[str, int]:
    """Return how many cables lie between each device and the nearest host (hosts: 0).

    Where no way leads to a host, the tier that is written.
    """
    near: dict[str, set[str]] = {}
    for link in topology.links.values():
        one, other = (end.device for end in link.ends)
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    found = {device: 0 for device in near if not forwards(topology, device)}
    front = deque(found)
    while front:
        device = front.popleft()
        for other in near[device]:
            if other not in found:
                found[other] = found[device] + 1
                front.append(other)
    written = {name: row.tier for name, row in topology.devices.items() if row.tier is not None}
    return {**written, **found} if found else written


# Derived and never decided upon: made again it is the same, only slower.
_known: WeakKeyDictionary[SeriesTable, WeakKeyDictionary[Topology, Crossings]]
_known = WeakKeyDictionary()


def crossings(table: SeriesTable, topology: Topology) -> Crossings:
    """Return the ports of a table under a topology."""
    mine = _known.setdefault(table, WeakKeyDictionary())
    found = mine.get(topology)
    if found is None:
        found = mine[topology] = Crossings(topology)
    return found
