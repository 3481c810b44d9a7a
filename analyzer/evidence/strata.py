"""What each port was built for, and which ports it can be compared with.

Both follow from the topology and from what the port says it is, so they are worked out once for
each series and kept beside its table; a pass only indexes arrays.
"""

from weakref import WeakKeyDictionary

import numpy as np

from fabrichealth.catalogue.ports import PORT_INFO, SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Port, SeriesTable
from fabrichealth.topology import Topology


class Strata:
    """Facts of the series of one port metric, by place in `table.of(metric)`."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._written: Floats = np.empty(0)
        self._code: Ids = np.empty(0, np.int32)
        self._names: dict[tuple[str, ...], int] = {}
        self._infos = 0

    def written(self, table: SeriesTable, topology: Topology, series: Ids) -> Floats:
        """Return the speed (bit/s) or the lanes written for the link of each series, or NaN."""
        self._learn(table, topology)
        return self._written[np.searchsorted(table.of(self._metric), series)]

    def codes(self, table: SeriesTable, topology: Topology, series: Ids) -> Ids:
        """Return one integer per series, equal for ports that should be alike."""
        self._learn(table, topology)
        return self._code[np.searchsorted(table.of(self._metric), series)]

    def _learn(self, table: SeriesTable, topology: Topology) -> None:
        numbers, infos = table.of(self._metric), len(table.of(PORT_INFO))
        if infos != self._infos:  # ports say more of themselves now
            self._written, self._code, self._infos = np.empty(0), np.empty(0, np.int32), infos
        fresh = numbers[len(self._code) :]
        if not len(fresh):
            return
        told = _technologies(table)
        ports = [Port(*table.labels(int(number))[:2]) for number in fresh]
        written = [_written(topology, port, self._metric) for port in ports]
        names = [_stratum(topology, port, told.get(port, "")) for port in ports]
        codes = [self._names.setdefault(name, len(self._names)) for name in names]
        self._written = np.concatenate([self._written, np.array(written, np.float64)])
        self._code = np.concatenate([self._code, np.array(codes, np.int32)])


# Derived and never decided upon: a view made again gives the same, only slower.
_known: WeakKeyDictionary[SeriesTable, WeakKeyDictionary[Topology, dict[Metric, Strata]]]
_known = WeakKeyDictionary()


def strata(table: SeriesTable, topology: Topology, metric: Metric) -> Strata:
    """Return the facts of a metric's series."""
    mine = _known.setdefault(table, WeakKeyDictionary()).setdefault(topology, {})
    if metric not in mine:
        mine[metric] = Strata(metric)
    return mine[metric]


def _technologies(table: SeriesTable) -> dict[Port, str]:
    """Return the technology that ports say they are of; the latest word counts."""
    place = PORT_INFO.labels.index("technology")
    rows = (table.labels(int(number)) for number in table.of(PORT_INFO))
    return {Port(*labels[:2]): labels[place] for labels in rows}


def _written(topology: Topology, port: Port, metric: Metric) -> float:
    link = topology.link_of.get(port)
    if link is None:
        return float("nan")
    if metric is SPEED:
        return link.speed_gbps * 1e9 if link.speed_gbps else float("nan")
    return float(link.lanes) if link.lanes else float("nan")


def _stratum(topology: Topology, port: Port, technology: str) -> tuple[str, ...]:
    """Name the group of a port: role, technology, role at the far end.

    Without a written device only the ports of the same device are compared; without a written
    cable those of the same kind of name.
    """
    link, other = topology.link_of.get(port), topology.peer(port)
    here = topology.devices.get(port.device)
    there = topology.devices.get(other.device) if other else None
    return (
        here.role if here else "",
        link.technology if link else technology,
        "" if link else port.port.rstrip("0123456789/"),
        there.role if there else "",
        "" if here else port.device,
    )
