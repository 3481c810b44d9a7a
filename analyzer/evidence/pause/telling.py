"""Telling: since when an origin stops others, and its tree, as findings tell them."""

from collections.abc import Callable

import numpy as np

from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.reasons import Origin, Reasons
from analyzer.evidence.pause.waiting import Bools
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import (
    PAUSE_WAIT,
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
)
from fabrichealth.catalogue.ports import TRANSMIT_WAIT, TX_BYTES
from fabrichealth.counters import increases
from fabrichealth.metric import Metric
from fabrichealth.model import Evidence, Floats, Labels, Place, Port, View


def begun(view: View, origin: Origin, level: float) -> float:
    """Return since when an origin stops its peer for more than `level` of each poll (unix s)."""
    return _begun(view, origin.stopped, origin.port, origin.priority, level)


def has_told(found: Reasons, origin: Origin, since: float) -> bool:
    """Return whether the device that stops others said what stops itself, well after it began.

    What is silent never does, and is told of as such, once its neighbours have been asked.
    """
    pauses = found.pauses
    place = pauses.crossings.find(origin.port)
    if place is None:
        return True
    if pauses.silent[device := int(pauses.crossings.device[place])]:
        return _neighbours_told(found, device, since)
    late = bool(pauses.behind(np.array([origin.queue], np.intp))[0])
    return not late and bool(pauses.heard[device] >= since + 0.5 * _pace(found, device))


def _neighbours_told(found: Reasons, device: int, since: float) -> bool:
    """Return whether every neighbour of a silent device that is read was read well after it began.

    Or not for so long that it is silent itself.
    """
    pauses, ports = found.pauses, found.pauses.crossings
    far = np.unique(ports.far_device[ports.device == device])
    far = far[(far >= 0) & ~np.append(pauses.silent, True)[far]]
    return all(pauses.heard[one] >= since + 0.5 * _pace(found, one) for one in far.tolist())


def _pace(found: Reasons, device: int) -> float:
    """Return the seconds between polls of a device's usual queue; 0 where none was read twice."""
    pauses = found.pauses
    mine = np.flatnonzero(pauses.crossings.device == device)
    paces = pauses.pace.reshape(-1, PRIORITIES)[mine]
    paces = paces[np.isfinite(paces)]
    return float(np.median(paces)) if len(paces) else 0.0


def begun_of(view: View, found: Reasons, place: int, level: float) -> float:
    """Return since when a vertex is stopped for more than `level` of each poll (unix s)."""
    stopped, priority = found.port(place), int(found.queues.priority[place])
    return _begun(view, stopped, found.far_port(place) or stopped, priority, level)


def _begun(view: View, stopped: Port | None, stopping: Port, priority: int, level: float) -> float:
    """Read it off the counter of either end, over the whole window; now if neither tells."""
    ends: list[tuple[Metric, Labels]] = [
        (PFC_TX_PAUSE, (*stopping, str(priority))),
        (PFC_TX_FRAMES, (*stopping, str(priority))),
    ]
    if stopped is not None:
        ends[:0] = [(PFC_RX_PAUSE, (*stopped, str(priority))), (TRANSMIT_WAIT, stopped)]
        ends.append((PFC_RX_FRAMES, (*stopped, str(priority))))
    for metric, labels in ends:
        window = view[metric]
        row = window.row(*labels)
        if row is None:
            continue
        one = window.select(np.array([row]))
        rate = increases(one.values, one.times).rate()[0]
        known = np.flatnonzero(np.isfinite(rate))
        if len(known):
            low = known[rate[known] < level]
            first = known[known > (low[-1] if len(low) else -1)]
            at = first[0] - 1 if len(first) else known[-1]
            return float(np.nan_to_num(one.times[0, at], nan=view.now))
    return view.now


def carried_since(
    view: View, found: Reasons, origin: Origin, holds: Callable[[Floats], Bools]
) -> float:
    """Return since when without a break the load of an origin's port holds (unix seconds).

    `holds` says of shares of line rate ([k]) whether they do.
    """
    window = view[TX_BYTES]
    row = window.row(*origin.port)
    if row is None:
        return view.now
    one = window.select(np.array([row]))
    load = increases(one.values, one.times).rate()[0] * 8.0 / found.pauses.speed[origin.queue]
    known = np.flatnonzero(np.isfinite(load))
    broken = known[~holds(load[known])]
    first = known[known > (broken[-1] if len(broken) else -1)]
    return float(one.times[0, first[0] - 1]) if len(first) else view.now


def explains(view: View, origin: Origin) -> str:
    """Return in words what an origin explains, and by what the ways to it are known."""
    ways = "" if view.topology.routing or origin.queues < 2 else " (ways by tiers and capacity)"
    return (
        f"it explains {origin.share:.0%} of the paused time of {origin.queues} "
        f"queue{'' if origin.queues == 1 else 's'}{ways}"
    )


def branches(origin: Origin, now: float) -> list[Evidence]:
    """Return the nearest edges of an origin's tree as lines of evidence."""
    return [
        evidence(
            PAUSE_WAIT,
            (str(waiting), str(blocking), str(origin.priority)),
            min(share, 1.0),
            now,
            f"{waiting} waits for {blocking} {share:.0%} of the time",
            0.0,
        )
        for waiting, blocking, share in origin.edges
    ]


def waiting_places(origin: Origin) -> tuple[Place, ...]:
    """Return the ports that wait for an origin, as victims."""
    return tuple(Place("port", str(port)) for port in origin.waiting if port != origin.port)
