"""Gathering: what a pass knows of pauses, from the windows of the store to queues of a graph."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from analyzer.evidence.pause.containment import CLOSER
from analyzer.evidence.pause.crossings import PRIORITIES, Crossings, crossings
from analyzer.evidence.pause.hidden import before_anew, before_hidden, speaking
from analyzer.evidence.pause.shares import Shares, count_time, paused, placed
from analyzer.evidence.pause.uncounted import uncounted
from analyzer.evidence.pause.waiting import PAUSED, Bools, Places, Queues
from fabrichealth.catalogue.congestion import (
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
    QUEUE_OCCUPANCY,
    QUEUE_TX_BYTES,
    QUEUE_TX_PACKETS,
)
from fabrichealth.catalogue.ports import SPEED, TRANSMIT_WAIT, TX_BYTES
from fabrichealth.model import Floats, View, Window

POLLS = 8
"""So many of the last polls are looked at one by one."""

AT_LINE_RATE = 0.9
"""A port that carries so much cannot carry more, whatever a snapshot of its queue says: preambles,
headers and coding are line rate too, and are counted by some and not by others (C3)."""

DEEP_SECONDS = 20e-6
"""A queue that takes the line longer than this to drain is full: a base RTT or two."""

PACKET_BYTES = 1024
"""Of a packet, where a queue counts packets only; that it moves is all that is asked."""

STOOD = 2
"""A counter that stood for so many polls has stopped, if the other end counts on."""

COUNTS_ON = 0.5
"""Of the time, at least: the polls of two devices are up to one apart."""

METRICS = (
    PFC_RX_PAUSE, PFC_TX_PAUSE, PFC_RX_FRAMES, PFC_TX_FRAMES, QUEUE_OCCUPANCY, QUEUE_TX_BYTES,
    QUEUE_TX_PACKETS, TX_BYTES, TRANSMIT_WAIT,
)  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class Pauses:
    """All queues of a fabric, [q] each: port times eight, plus priority."""

    crossings: Crossings
    stopped: Shares
    """For how much of the time the far end stopped the queue."""
    stops: Shares
    """For how much of the time this end stopped the far end's queue."""
    speed: Floats
    """bit/s; NaN unknown."""
    carried: Floats
    """Share of line rate that the port sent, [p, k]."""
    occupancy: Floats
    """Bytes in the queue, mean of the last polls; NaN unknown."""
    sent: Floats
    """Share of line rate that the queue sent by its own counter, [q, k]; NaN where it has none."""
    period: float
    """Seconds between polls of the usual queue; NaN if none was read twice."""
    pace: Floats
    """The same of each queue, [q]: some targets are read closely for a while."""
    silent: Bools
    """Devices that say nothing of pauses themselves, whatever their neighbours say of them, [d]."""
    speaks: Bools
    """Ports that say anything of pauses themselves, [p]."""
    heard: Floats
    """When each device last said anything of pauses, unix seconds, [d]; NaN: never."""

    @property
    def congested(self) -> Floats:
        """How full each queue is, 0 to 1: by the port's load, or by the time it takes to drain."""
        last = self.carried[:, -2:]
        known = np.isfinite(last)
        mean = np.where(known, last, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        load = np.repeat(mean, PRIORITIES)
        drain = self.occupancy * 8.0 / self.speed
        deep = np.nan_to_num(np.clip(drain / DEEP_SECONDS, 0.0, 1.0))
        busy = np.where(load >= AT_LINE_RATE, 1.0, deep)
        return np.asarray(np.where(busy >= 0.5, busy, 0.0), np.float64)

    def active(self) -> Places:
        """Return the queues that have to do with pauses, and those that face them."""
        level = np.nan_to_num(self.stopped.share).mean(axis=1)
        some = np.flatnonzero((level > PAUSED) | (self.congested > 0))
        some = np.union1d(some, uncounted(self.crossings, self.stopped))
        far = self.crossings.far_queues(some)
        return np.union1d(some, far[far >= 0])

    def queues(self, chosen: Places) -> Queues:
        """Return some queues (ascending) as vertices of a graph."""
        ports = self.crossings
        port = chosen // PRIORITIES
        far = ports.far_queues(chosen)
        place = np.minimum(np.searchsorted(chosen, far), max(len(chosen) - 1, 0))
        met = (far >= 0) & (chosen[place] == far) if len(chosen) else np.zeros(0, bool)
        unseen = np.append(self.silent, True)[ports.far_device[port]]
        return Queues(
            ports.device[port],
            port,
            chosen % PRIORITIES,
            np.where(met, place, -1),
            ports.far_device[port],
            ports.ends[port],
            unseen,
            ports.upward[port],
            self.stopped.share[chosen],
            self.congested[chosen],
            self._dark()[ports.far_device[port]],
            self.speed[chosen],
            self.stopped.exact[chosen],
            self.stopped.pace[chosen],
            self.stopped.read[chosen],
            before_hidden(
                ports, chosen, self.stopped, self.speaks, self.silent, self.speed[::PRIORITIES]
            ),
        )

    def behind(self, chosen: Places) -> Bools:
        """Return which queues' far ends have not told yet of what stops these queues now ([n]).

        Either they were not read since, or their counters are refreshed more seldom: they stand at
        no pause while this end has just begun to count. After a whole window they keep none. Or
        what may stop them there counts anew, and was read once since: its other queues tell no more
        than that these are not the reason.
        """
        ports = self.crossings
        far, device = ports.far_queues(chosen), ports.far_device[chosen // PRIORITIES]
        now = np.fmax.reduce(self.heard, initial=-np.inf)
        own = self.stopped.share[chosen]
        with np.errstate(invalid="ignore"):
            spoke = np.append(self.heard, np.nan)[device]
            late = now - spoke > STOOD * self.pace[chosen]
            held = (own[:, -STOOD:] > COUNTS_ON).all(axis=1) & ~(own > COUNTS_ON).all(axis=1)
            theirs = self.stops.share[far][:, -STOOD:]
            denies = (far >= 0) & (np.fmax.reduce(theirs, axis=1) <= PAUSED)
        return np.asarray(
            late | (held & denies) | before_anew(ports, chosen, self.stopped), np.bool_
        )

    def _dark(self) -> Places:
        """Return each device's number, the same for silent switches that are cabled together ([d]).

        What stops others from there has one reason, as far as can be seen; the last is -1's.
        """
        ports = self.crossings
        near, far = ports.device, ports.far_device
        between = (far >= 0) & ~ports.ends & ~ports.ends[ports.far]  # both ends forward
        inside = np.flatnonzero(between & self.silent[near] & self.silent[far])
        n = len(self.silent)
        matrix = csr_array((np.ones(len(inside)), (near[inside], far[inside])), shape=(n, n))
        return np.append(connected_components(matrix, directed=False)[1], -1)


def gather(view: View) -> Pauses | None:
    """Return what is known of pauses now, None if nothing speaks of them."""
    return view.once(("pauses", view[PFC_RX_PAUSE].seconds), lambda: _gather(view))


def _gather(view: View) -> Pauses | None:
    told = [view[metric] for metric in (PFC_RX_PAUSE, PFC_TX_PAUSE, PFC_RX_FRAMES, PFC_TX_FRAMES)]
    waits = view[TRANSMIT_WAIT]
    if not any(len(window) for window in (*told, waits)):
        return None
    ports = crossings(told[0].table, view.topology)
    by_queue = [(w, ports.queues(w.table, w.metric, w.series)) for w in told]
    load = view[TX_BYTES]
    load_place = ports.places(load.table, TX_BYTES, load.series)
    waiting = ports.places(waits.table, TRANSMIT_WAIT, waits.series)
    filled = view[QUEUE_OCCUPANCY]
    filled_queue = ports.queues(filled.table, QUEUE_OCCUPANCY, filled.series)
    emptied = [
        (w, ports.queues(w.table, w.metric, w.series), size)
        for w, size in ((view[QUEUE_TX_PACKETS], PACKET_BYTES), (view[QUEUE_TX_BYTES], 1))
    ]
    speed = ports.speed(view.changes(SPEED))
    n = len(speed)  # every port is met by now
    each = np.repeat(speed, PRIORITIES)
    size = n * PRIORITIES
    stopped = paused(size, POLLS, by_queue[0], by_queue[2], each)
    stops = paused(size, POLLS, by_queue[1], by_queue[3], each)
    if len(waits):  # time without credits (InfiniBand) counts as pauses of priority 0
        count_time(stopped, waits, np.where(waiting < 0, -1, waiting * PRIORITIES), POLLS)
    speaks = speaking(stopped, stops)
    far = ports.far_queues(np.arange(size))
    _fill_in(stopped, stops, far)
    periods = np.concatenate([w.period[np.isfinite(w.period)] for w in (*told, waits)])
    carried = _load(n, speed, load, load_place)
    return Pauses(
        ports,
        stopped,
        stops,
        each,
        carried,
        _occupancy(size, filled, filled_queue),
        _sent(each, emptied),
        float(np.median(periods)) if len(periods) else float("nan"),
        _pace(size, [*by_queue, (waits, np.where(waiting < 0, -1, waiting * PRIORITIES))], far),
        _silent(ports, speaks),
        speaks,
        _heard(
            ports, [*zip(told, (queue for _, queue in by_queue), strict=True), (waits, waiting)]
        ),
    )


def _heard(ports: Crossings, told: list[tuple[Window, Places]]) -> Floats:
    """Return when each device was last read, [d]; `told` has queues, or ports in the last."""
    heard = np.full(int(ports.device.max(initial=-1)) + 1, np.nan)
    for place, (window, rows) in enumerate(told):
        known = np.flatnonzero((rows >= 0) & np.isfinite(window.last_at))
        port = rows[known] // (1 if place == len(told) - 1 else PRIORITIES)
        np.fmax.at(heard, ports.device[port], window.last_at[known])
    return heard


def _pace(size: int, told: list[tuple[Window, Places]], far: Places) -> Floats:
    """Return the seconds between polls of each queue, by its own counters, else its far end's."""
    pace = np.full(size, np.nan)
    for window, queue in told:
        known = (queue >= 0) & np.isfinite(window.period)
        pace[queue[known]] = window.period[known]
    return np.asarray(np.where(np.isnan(pace) & (far >= 0), pace[far], pace), np.float64)


def _silent(ports: Crossings, speaks: Bools) -> Bools:
    """Return which devices say nothing of pauses, whatever their neighbours say of them."""
    silent = np.ones(int(ports.device.max(initial=-1)) + 1, np.bool_)
    silent[ports.device[speaks]] = False
    return silent


def _fill_in(stopped: Shares, stops: Shares, far: Places) -> None:
    """Fill in what only the other end says, what it alone counts as time, or what moves there only.

    Of two that count, the one that is read more often tells more of when. A counter that stands
    still while the other end counts on is not kept by its device, or not any more.
    """
    both = np.flatnonzero(far >= 0)
    own, other = stopped.share[both], stops.share[far[both]]
    exact = stops.exact[far[both]]
    better = ~stopped.exact[both] & np.isfinite(other).any(axis=1) & exact
    stands = stopped.exact[both] & (np.nan_to_num(own).max(axis=1, initial=0.0) == 0)
    better |= stands & exact & (np.nan_to_num(other).mean(axis=1) > PAUSED)
    ended = (own[:, -STOOD:] == 0).all(axis=1) & (other[:, -STOOD:] > COUNTS_ON).all(axis=1)
    better |= stopped.exact[both] & exact & ended
    with np.errstate(invalid="ignore"):
        often = CLOSER * stops.pace[far[both]] < stopped.pace[both]
    some = np.flatnonzero(often & stopped.exact[both] & exact)
    denied = (own[some, -STOOD:] > COUNTS_ON).all(axis=1)
    denied &= (np.nan_to_num(other[some]) <= PAUSED).all(axis=1)
    better[some] |= ~denied
    missing = np.flatnonzero(~np.isfinite(own).any(axis=1) | better)
    stopped.take(both[missing], stops, far[both[missing]])


def _load(n: int, speed: Floats, window: Window, place: Places) -> Floats:
    """Return the share of line rate of each port, [p, k]."""
    load = np.full((n, POLLS), np.nan)
    if len(window):
        still, moved, rate = placed(window, place, POLLS)
        load[still] = 0.0
        load[moved] = rate * 8.0 / speed[moved][:, None]
    return load


def _sent(speed: Floats, emptied: list[tuple[Window, Places, int]]) -> Floats:
    """Return the share of line rate that each queue sent by its own counter, [q, k]."""
    sent = np.full((len(speed), POLLS), np.nan)
    for window, queue, size in emptied:
        if len(window):
            still, moved, rate = placed(window, queue, POLLS)
            sent[still] = 0.0
            sent[moved] = rate * size * 8.0 / speed[moved][:, None]
    return sent


def _occupancy(size: int, window: Window, queue: Places) -> Floats:
    """Return the mean bytes of each queue over the last two polls, [q]."""
    found = np.full(size, np.nan)
    if len(window):
        last = window.values[:, -2:]
        known = np.isfinite(last)
        mean = np.where(known, last, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        told = (queue >= 0) & known.any(axis=1)
        found[queue[told]] = mean[told]
    return found
