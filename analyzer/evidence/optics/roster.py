"""Roster: modules and their lanes by number, the same numbers for every optics metric.

A place is a lane of a module, or the module itself (lane ""). Names are looked up once for each
series and kept beside its table; a pass only indexes arrays.
"""

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Labels, Port, SeriesTable

Places = NDArray[np.intp]


@dataclass
class _Column:
    """Place and further labels of each series of one metric, by place in `table.of(metric)`."""

    place: list[int] = field(default_factory=list)
    tail: list[int] = field(default_factory=list)
    tails: dict[Labels, int] = field(default_factory=dict)
    places: Places = field(default_factory=lambda: np.empty(0, np.intp))
    tail_codes: Places = field(default_factory=lambda: np.empty(0, np.intp))


class Roster:
    """Numbers ports and lanes densely, in the order of their first appearance."""

    def __init__(self) -> None:
        self.ports: list[Port] = []
        self.lanes: list[str] = []
        """Lane label of each place; empty for a module itself."""
        self._port_numbers: dict[Port, int] = {}
        self._numbers: dict[tuple[int, str], int] = {}
        self._port: list[int] = []
        self._of_port: list[list[int]] = []
        self._ports = np.empty(0, np.intp)
        self._laned = np.empty(0, np.bool_)
        self._device_numbers: dict[str, int] = {}
        self._devices = np.empty(0, np.int64)
        self._columns: dict[Metric, _Column] = {}

    def __len__(self) -> int:
        return len(self.lanes)

    @property
    def port(self) -> Places:
        """Number of the port of each place ([place])."""
        if len(self._ports) != len(self._port):
            self._ports = np.array(self._port, np.intp)
        return self._ports

    @property
    def laned(self) -> NDArray[np.bool_]:
        """Whether each place is a lane ([place]); else it is a module itself."""
        if len(self._laned) != len(self.lanes):
            self._laned = np.array([bool(lane) for lane in self.lanes], np.bool_)
        return self._laned

    @property
    def device(self) -> NDArray[np.int64]:
        """Number of the device of each port ([port])."""
        if len(self._devices) != len(self.ports):
            numbers = self._device_numbers
            every = [numbers.setdefault(one.device, len(numbers)) for one in self.ports]
            self._devices = np.array(every, np.int64)
        return self._devices

    def find(self, port: Port, lane: str = "") -> int | None:
        """Return the place of a lane, or of a module itself; None if nothing tells of it."""
        number = self._port_numbers.get(port)
        return None if number is None else self._numbers.get((number, lane))

    def port_number(self, port: Port) -> int | None:
        """Return the number of a port, or None if nothing tells of it."""
        return self._port_numbers.get(port)

    def places_of(self, port: Port) -> list[int]:
        """Return the places of a module's lanes, lane 1 first."""
        number = self._port_numbers.get(port)
        mine = [] if number is None else self._of_port[number]
        return sorted((p for p in mine if self.lanes[p]), key=lambda p: _order(self.lanes[p]))

    def learn(self, table: SeriesTable, metric: Metric) -> None:
        """Number the series of a metric that are new."""
        column = self._columns.setdefault(metric, _Column())
        fresh = table.of(metric)[len(column.place) :]
        if not len(fresh):
            return
        laned = "lane" in metric.labels
        for series in fresh.tolist():
            labels = table.labels(series)
            lane, tail = (labels[2], labels[3:]) if laned else ("", labels[2:])
            column.place.append(self._place(Port(*labels[:2]), lane))
            column.tail.append(column.tails.setdefault(tail, len(column.tails)))
        column.places = np.array(column.place, np.intp)
        column.tail_codes = np.array(column.tail, np.intp)

    def places(self, table: SeriesTable, metric: Metric, series: Ids) -> Places:
        """Return the place of each series ([s])."""
        self.learn(table, metric)
        return self._columns[metric].places[np.searchsorted(table.of(metric), series)]

    def having(self, table: SeriesTable, metric: Metric, series: Ids, tail: Labels) -> Places:
        """Return which of some series have these labels after device, port and lane (indices)."""
        self.learn(table, metric)
        column = self._columns[metric]
        code = column.tails.get(tail, -1)
        codes = column.tail_codes[np.searchsorted(table.of(metric), series)]
        return np.flatnonzero(codes == code)

    def of_places(self, values: Floats) -> Floats:
        """Return what is told of ports as told of their places ([place] from [port])."""
        return np.asarray(values[self.port], np.float64)

    def _place(self, port: Port, lane: str) -> int:
        number = self._port_numbers.setdefault(port, len(self.ports))
        if number == len(self.ports):
            self.ports.append(port)
            self._of_port.append([])
        found = self._numbers.setdefault((number, lane), len(self.lanes))
        if found == len(self.lanes):
            self.lanes.append(lane)
            self._port.append(number)
            self._of_port[number].append(found)
        return found


def _order(lane: str) -> tuple[int, str]:
    return (int(lane), lane) if lane.isdecimal() else (1 << 30, lane)


# Derived from the table alone: made again it is the same but for the order of numbers.
_known: WeakKeyDictionary[SeriesTable, Roster] = WeakKeyDictionary()


def roster(table: SeriesTable) -> Roster:
    """Return the roster of a table."""
    return _known.setdefault(table, Roster())
