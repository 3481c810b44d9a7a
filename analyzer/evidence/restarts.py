"""Falls of links, and which of them were a whole device going down."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools
from fabrichealth.catalogue.ports import ADMIN_UP, LINK_DOWNS, UP
from fabrichealth.model import Changes, Floats, Port, View

TOGETHER = 0.8
"""A device whose links fall together by this share was restarted (rack reboots, field.md 0.3)."""

AT_LEAST = 3
"""With fewer links than this falling together nothing is said of the device."""

SLACK_SECONDS = 20.0
"""Falls count as one moment within this, beyond the poll steps in which they were seen."""

WITNESSES = 4
"""Of one fall: counter and state of both ends."""

FALLS_PER_SECOND = 1.0
"""A link trains for longer than a second; a counter that claims more falls was replaced."""


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


@dataclass(frozen=True)
class Moments:
    """When all links of a device fell, ascending, and how many times in that poll step ([i])."""

    at: Floats
    weight: Floats


def falls(view: View, memory: float) -> Falls:
    """Return every fall of every enabled link within a memory in seconds; once a pass for all."""
    return view.once((falls, view.topology, memory), lambda: _falls(view))


def _falls(view: View) -> Falls:
    found: dict[Port, list[_Sighting]] = {}
    for one in (*_counted(view.changes(LINK_DOWNS)), *_seen(view.changes(UP))):
        found.setdefault(one.port, []).append(one)
    off = _disabled(view.changes(ADMIN_UP))
    every: dict[Port, list[_Sighting]] = {}
    for port in sorted(found):
        other = view.topology.peer(port)
        home = other if other is not None and other in every else port
        spans = [*off.get(port, ()), *(off.get(other, ()) if other else ())]
        own = [fall for fall in found[port] if not _within(fall, spans)]
        every.setdefault(home, []).extend(own)
    merged = {port: _joined(seen) for port, seen in every.items()}
    ports = list(merged)
    flat = [
        (at, weight, step, row)
        for row, port in enumerate(ports)
        for at, weight, step in merged[port]
    ]
    flat.sort()
    columns = np.array(flat, np.float64).reshape(-1, 4)
    return Falls(ports, columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3].astype(np.intp))


@dataclass(frozen=True, slots=True)
class _Sighting:
    """One witness's word on a fall: a counter or a state of one end, in one poll step."""

    at: float
    weight: float
    step: float
    port: Port
    counted: bool


def _counted(changes: Changes) -> list[_Sighting]:
    with np.errstate(invalid="ignore"):
        possible = changes.increase <= np.maximum(changes.step * FALLS_PER_SECOND, 1.0)
        up = np.flatnonzero((changes.increase > 0) & possible)
    return [
        _Sighting(float(changes.at[i]), float(changes.increase[i]), float(changes.step[i]),
                  Port(*changes.labels(int(changes.row_of[i]))), counted=True)
        for i in up
    ]  # fmt: skip


def _seen(changes: Changes) -> list[_Sighting]:
    fell = np.flatnonzero((changes.before == 1) & (changes.after == 0))
    return [
        _Sighting(float(changes.at[i]), 1.0, float(changes.step[i]),
                  Port(*changes.labels(int(changes.row_of[i]))), counted=False)
        for i in fell
    ]  # fmt: skip


def _disabled(admin: Changes) -> dict[Port, list[tuple[float, float]]]:
    """Return (from, until) of each time in which a port was disabled by configuration."""
    spans: dict[Port, list[tuple[float, float]]] = {}
    rows = np.union1d(admin.row_of, np.flatnonzero(admin.value == 0))
    for row in rows.tolist():
        mine = np.flatnonzero(admin.row_of == row)
        since = -np.inf if not len(mine) or admin.before[mine[0]] == 0 else None
        found = spans.setdefault(Port(*admin.labels(row)), [])
        for entry in mine.tolist():
            if admin.after[entry] == 0:
                since = float(admin.at[entry] - admin.step[entry])
            elif since is not None:
                found.append((since, float(admin.at[entry])))
                since = None
        if since is not None:
            found.append((since, np.inf))
    return spans


def _within(fall: _Sighting, spans: list[tuple[float, float]]) -> bool:
    """Return whether a fall may have been a port's being disabled, or while it was."""
    return any(start <= fall.at and fall.at - fall.step <= end for start, end in spans)


def _joined(sightings: list[_Sighting]) -> list[tuple[float, float, float]]:
    """Merge sightings of the same fall: counter and state, near and far end, one poll apart.

    What one witness saw twice were two falls.
    """
    merged: list[tuple[float, float, float]] = []
    witnesses: list[set[tuple[Port, bool]]] = []
    for one in sorted(sightings, key=lambda one: (one.at, one.port, one.counted)):
        who = (one.port, one.counted)
        for place in range(max(len(merged) - WITNESSES, 0), len(merged)):
            then, heavier, wider = merged[place]
            near = one.at - then <= max(one.step, wider) * 1.5
            if near and who not in witnesses[place]:
                merged[place] = (then, max(heavier, one.weight), max(wider, one.step))
                witnesses[place].add(who)
                break
        else:
            merged.append((one.at, one.weight, one.step))
            witnesses.append({who})
    return merged


def shared(view: View, seen: Falls) -> Bools:
    """Return which falls were part of a whole device's fall ([i])."""
    together = np.zeros(len(seen.at), bool)
    for entries in _together(view, seen).values():
        together[entries] = True
    return together


def outright(view: View, seen: Falls) -> dict[str, Moments]:
    """Return the moments at which (nearly) all links of a device fell, by device.

    Falls that the far ends' own going down explains are left out: when a rack of hosts restarts
    the switch above it did not.
    """
    every = _together(view, seen)
    found: dict[str, Moments] = {}
    for device, entries in every.items():
        theirs = [each for name, each in every.items() if name != device]
        own = np.setdiff1d(entries, np.concatenate(theirs) if theirs else []).astype(np.intp)
        needed = max(TOGETHER * len(view.topology.links_of[device]), AT_LEAST)
        own = own[_company(seen, own) >= needed]
        if len(own):
            found[device] = _moments(seen, own)
    return found


def _moments(seen: Falls, entries: NDArray[np.intp]) -> Moments:
    """Return when all fell, as one of its links saw it: that of which the number is the median."""
    rows, place = np.unique(seen.row[entries], return_inverse=True)
    total = np.bincount(place, weights=seen.weight[entries], minlength=len(rows))
    middle = int(np.argsort(total, kind="stable")[(len(rows) - 1) // 2])
    mine = entries[place == middle]
    return Moments(seen.at[mine], seen.weight[mine])


def _together(view: View, seen: Falls) -> dict[str, NDArray[np.intp]]:
    """Return the falls that came with those of (nearly) all links of a device, by device."""
    topology = view.topology
    devices: dict[str, list[int]] = {}
    for entry, row in enumerate(seen.row):
        port = seen.ports[row]
        other = topology.peer(port)
        for device in {port.device, *([other.device] if other else [])}:
            devices.setdefault(device, []).append(entry)
    found: dict[str, NDArray[np.intp]] = {}
    for device in sorted(devices):
        cabled = len(topology.links_of.get(device, ()))
        mine = np.array(devices[device], np.intp)
        needed = max(TOGETHER * cabled, AT_LEAST)
        if cabled < AT_LEAST or len(np.unique(seen.row[mine])) < needed:
            continue  # too few of its links ever fell
        if len(mine := mine[_company(seen, mine) >= needed]):
            found[device] = mine
    return found


def _company(seen: Falls, entries: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many links fell at the moment of each of some falls, itself among them."""
    at, row = seen.at[entries], seen.row[entries]
    reach = np.maximum(seen.step[entries] * 2, SLACK_SECONDS)
    return np.array(
        [
            len(np.unique(row[np.abs(at - at[one]) <= np.maximum(reach, reach[one])]))
            for one in range(len(entries))
        ],
        np.intp,
    )
