"""Falls of links, and which of them were a whole device going down."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.ports import LINK_DOWNS, UP
from fabrichealth.model import Changes, Floats, Port, View

TOGETHER = 0.8
"""A device whose links fall together by this share was restarted (rack reboots fell so in the field)."""

AT_LEAST = 3
"""With fewer links than this falling together nothing is said of the device."""

SLACK_SECONDS = 20.0
"""Falls count as one moment within this, beyond the poll steps in which they were seen."""


@dataclass(frozen=True)
class Falls:
    """Transitions to down, ascending in time: `row[i]` names one of `ports`.

    Both ends of a cable see the same fall; it is kept once, for the port (the first of the
    two in `ports`) under which the link is judged. `step[i]` is the poll step it was seen in.
    """

    ports: list[Port]
    at: Floats
    weight: Floats
    step: Floats
    row: NDArray[np.intp]


def falls(view: View) -> Falls:
    """Return every fall of every link within the detector's memory."""
    found: dict[Port, list[tuple[float, float, float]]] = {}
    for port, at, weight, step in (*_counted(view.changes(LINK_DOWNS)), *_seen(view.changes(UP))):
        found.setdefault(port, []).append((at, weight, step))
    merged: dict[Port, list[tuple[float, float, float]]] = {}
    for port in sorted(found):
        other = view.topology.peer(port)
        home = other if other is not None and other in merged else port
        merged[home] = _joined([*merged.get(home, []), *found[port]])
    ports = list(merged)
    flat = [
        (at, weight, step, row)
        for row, port in enumerate(ports)
        for at, weight, step in merged[port]
    ]
    flat.sort()
    columns = np.array(flat, np.float64).reshape(-1, 4)
    return Falls(ports, columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3].astype(np.intp))


def _counted(changes: Changes) -> list[tuple[Port, float, float, float]]:
    up = np.flatnonzero(changes.increase > 0)
    return [
        (Port(*changes.labels(int(changes.row_of[i]))), float(changes.at[i]),
         float(changes.increase[i]), float(changes.step[i]))
        for i in up
    ]  # fmt: skip


def _seen(changes: Changes) -> list[tuple[Port, float, float, float]]:
    fell = np.flatnonzero((changes.before == 1) & (changes.after == 0))
    return [
        (Port(*changes.labels(int(changes.row_of[i]))), float(changes.at[i]), 1.0,
         float(changes.step[i]))
        for i in fell
    ]  # fmt: skip


def _joined(sightings: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Merge sightings of the same fall: counter and state, near and far end, one poll apart."""
    merged: list[tuple[float, float, float]] = []
    for at, weight, step in sorted(sightings):
        if merged and at - merged[-1][0] <= max(step, merged[-1][2]) * 1.5:
            then, heavier, wider = merged[-1]
            merged[-1] = (then, max(heavier, weight), max(wider, step))
        else:
            merged.append((at, weight, step))
    return merged


def shared(view: View, seen: Falls) -> NDArray[np.bool_]:
    """Return which falls were part of a whole device's fall ([i])."""
    topology = view.topology
    devices: dict[str, list[int]] = {}
    for entry, row in enumerate(seen.row):
        port = seen.ports[row]
        other = topology.peer(port)
        for device in {port.device, *([other.device] if other else [])}:
            devices.setdefault(device, []).append(entry)
    together = np.zeros(len(seen.at), bool)
    for device, entries in devices.items():
        cabled = len(topology.links_of.get(device, ()))
        if cabled < AT_LEAST:
            continue
        mine = np.array(entries)
        at, step = seen.at[mine], seen.step[mine]
        reach = np.maximum(step * 2, SLACK_SECONDS)
        near = np.abs(at[:, None] - at[None, :]) <= np.maximum(reach[:, None], reach[None, :])
        rows = seen.row[mine]
        links = np.array([len(set(rows[one].tolist())) for one in near])
        together[mine[links >= max(TOGETHER * cabled, AT_LEAST)]] = True
    return together
