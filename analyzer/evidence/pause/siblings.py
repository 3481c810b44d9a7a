"""Siblings: parallel links that should share a load, and how they do."""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.pause.crossings import Crossings, crossings
from analyzer.evidence.pause.shares import heard
from analyzer.evidence.pause.waiting import Places
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.counters import increases
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, View, Window
from fabrichealth.model.quantiles import row_median

FASTEST = 1 << 32
"""Mbit/s: no port is faster."""

SORTS = 64
"""More than there are technologies."""


@dataclass(frozen=True, eq=False, slots=True)
class Siblings:
    """Upward ports of one device and one speed; `load[m, k]` is each one's share of line rate."""

    device: str
    places: Places
    load: Floats


@dataclass(frozen=True, eq=False, slots=True)
class Families:
    """All groups of parallel links at once: `load[m, k]` of each, `group[m]` ascending."""

    ports: Crossings
    places: Places
    load: Floats
    group: Places

    def __len__(self) -> int:
        return int(self.group[-1]) + 1 if len(self.group) else 0

    def of(self, number: int) -> Siblings:
        """Return one group."""
        start, end = np.searchsorted(self.group, [number, number + 1]).tolist()
        device = self.ports.name(int(self.ports.device[self.places[start]]))
        return Siblings(device, self.places[start:end], self.load[start:end])

    def median(self) -> Floats:
        """Return the median load of each link's group at each poll ([m, k])."""
        start = np.searchsorted(self.group, np.arange(len(self)))
        member = np.arange(len(self.group)) - start[self.group]
        polls = self.load.shape[1]
        cube = np.full((len(self), polls, int(member.max(initial=-1)) + 1), np.nan)
        cube[self.group, :, member] = self.load
        middle = row_median(cube.reshape(-1, cube.shape[2])).reshape(len(self), polls)
        return np.asarray(middle[self.group], np.float64)

    def highest(self) -> Floats:
        """Return the highest load in each link's group at each poll ([m, k])."""
        if not len(self.group):
            return self.load
        start = np.searchsorted(self.group, np.arange(len(self)))
        return np.asarray(np.fmax.reduceat(self.load, start, axis=0)[self.group], np.float64)


def siblings(view: View, metric: Metric, least: int) -> Families:
    """Return groups of at least so many parallel links, by bytes sent or received.

    Uplinks of a switch, or the rails of a host: ports of one speed and technology that lead away
    from hosts.
    """
    window = view[metric]
    ports = crossings(window.table, view.topology)
    place = ports.places(window.table, metric, window.series)
    speed = ports.speed(view.changes(SPEED))
    rows = np.flatnonzero(ports.upward[place] & heard(window, window.values.shape[1]))
    rows = rows[speed[place[rows]] > 0]
    alike = ports.device[place[rows]] * SORTS + ports.sort[place[rows]]
    key = alike * FASTEST + np.rint(speed[place[rows]] / 1e6).astype(np.int64)
    order = np.argsort(key, kind="stable")
    rows, key = rows[order], key[order]
    _, group, size = np.unique(key, return_inverse=True, return_counts=True)
    enough = size[group] >= least
    rows, key = rows[enough], key[enough]
    _, group = np.unique(key, return_inverse=True)
    load = _load(window, rows) / speed[place[rows]][:, None]
    return Families(ports, place[rows], load, group.astype(np.intp))


def _load(window: Window, rows: Places) -> Floats:
    """Return the bit/s of some rows between polls, [m, k - 1]."""
    times = np.where(np.isfinite(window.values[rows]), window.at[window.clock[rows]], np.nan)
    return np.asarray(increases(window.values[rows], times).rate()[:, 1:] * 8.0, np.float64)
