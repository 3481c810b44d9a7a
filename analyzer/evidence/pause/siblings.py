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


@dataclass(frozen=True, eq=False, slots=True)
class Siblings:
    """Upward ports of one device and one speed; `load[m, k]` is each one's share of line rate."""

    device: str
    places: Places
    load: Floats


def siblings(view: View, metric: Metric, least: int) -> tuple[Crossings, list[Siblings]]:
    """Return groups of at least so many parallel links, by bytes sent or received.

    Uplinks of a switch, or the rails of a host: ports of one speed that lead away from hosts.
    """
    window = view[metric]
    ports = crossings(window.table, view.topology)
    place = ports.places(window.table, metric, window.series)
    speed = ports.speed(view.changes(SPEED))
    rows = np.flatnonzero(ports.upward[place] & heard(window, window.values.shape[1]))
    rows = rows[speed[place[rows]] > 0]
    key = np.stack([ports.device[place[rows]], np.rint(speed[place[rows]] / 1e6)])
    _, group = np.unique(key, axis=1, return_inverse=True)
    group = group.reshape(-1)
    rows = rows[np.bincount(group)[group] >= least]
    group = group[np.bincount(group)[group] >= least]
    order = np.argsort(group, kind="stable")
    rows = rows[order]
    load = _load(window, rows) / speed[place[rows]][:, None]
    if not len(rows):
        return ports, []
    bounds = np.flatnonzero(np.diff(group[order], prepend=-1)).tolist()
    return ports, [
        Siblings(ports.name(int(ports.device[place[rows[start]]])), place[rows[start:end]],
                 load[start:end])
        for start, end in zip(bounds, [*bounds[1:], len(rows)], strict=True)
    ]  # fmt: skip


def _load(window: Window, rows: Places) -> Floats:
    """Return the bit/s of some rows between polls, [m, k - 1]."""
    times = np.where(np.isfinite(window.values[rows]), window.at[window.clock[rows]], np.nan)
    return np.asarray(increases(window.values[rows], times).rate()[:, 1:] * 8.0, np.float64)
