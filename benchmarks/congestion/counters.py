"""What the ports of a fabric count, and what of it is read at a poll."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.congestion.case import Case
from benchmarks.congestion.fabrics import BUSY
from benchmarks.congestion.fluid import MTU, Bools, Floats, Settled
from benchmarks.congestion.watchdog import Look
from fabrichealth.catalogue import congestion, ports
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Ids, SeriesTable

MOST_QUANTA_BITS = 512 * 65_535
"""Bit times for which a frame can stop a port; a sender refreshes when half of it is over."""

DROPPED = 40.0
"""Packets a second that are lost where headroom is short."""

ANY_PAUSE = 0.01
"""Share of time from which on a queue counts as stopped at all."""

LITTLE = 2e4
"""Bytes in a queue that is not full."""

CODEWORD_BITS = 5440
"""Of RS(544,514)."""

Row = tuple[Metric, Callable[[str, str], tuple[str, ...]], Floats]


class Counters:
    """Counters of every port from step to step, arrays [q] by queue."""

    def __init__(self, case: Case, table: SeriesTable, chance: np.random.Generator) -> None:
        self._case, self._chance = case, chance
        fluid = case.fabric.fluid
        n = len(fluid.names)
        self._far = np.array([fluid.number[name[::-1]] for name in fluid.names])
        self._is_switch = np.array([name[0] in case.fabric.switches for name in fluid.names])
        self._device_of = np.unique([name[0] for name in fluid.names], return_inverse=True)[1]
        self._stopped, self._frames, self._sent = np.zeros(n), np.zeros(n), np.zeros(n)
        self._own_frames = np.zeros(n)
        self._marked, self._dropped, self._errors = np.zeros(n), np.zeros(n), np.zeros(n)
        self._notified = np.zeros(n)
        self._occupancy = np.full(n, LITTLE)
        self._begun = self._mark()
        self._layouts: dict[str, tuple[int, Ids, NDArray[np.intp], NDArray[np.intp]]] = {}
        self._table = table
        self._refresh = fluid.line * 8 / MOST_QUANTA_BITS * 2

    def pass_by(
        self, seconds: float, end: float, now: Settled, acting: Bools, marks: Bools
    ) -> None:
        """Count so many seconds until `end` in which the fabric is settled so.

        `acting` are the queues that a watchdog empties: what stops them is not counted ([q]).
        """
        case, told = self._case, self._case.told
        ill = end > case.began
        fluid = case.fabric.fluid
        stops = np.where(acting, 0.0, now.stopped) * seconds
        self._stopped += stops
        self._frames += stops * self._refresh
        self._own_frames += now.stopped * seconds * self._refresh
        self._sent += now.sent * seconds
        self._marked += now.marked * seconds
        heard = np.array([name[1] not in told.deaf for name in fluid.names])
        self._notified += np.where(heard, now.marked * seconds * 0.05, 0.0)
        if ill:
            for queue in told.dropping:
                place = fluid.number[queue]
                if now.stopped[place] > ANY_PAUSE:
                    self._dropped[self._far[place]] += DROPPED * seconds
            for queue, rate in told.resuming.items():
                self._frames[fluid.number[queue]] += rate * seconds
            for queue, rate in told.uncorrectable.items():
                self._errors[self._far[fluid.number[queue]]] += rate * seconds
        self._occupancy = self._held(now, marks & ~acting)

    def look(self) -> Look:
        """Return what a watchdog sees since its last look."""
        past, self._begun = self._begun, self._mark()
        stopped, frames, sent = (new - old for new, old in zip(self._begun, past, strict=True))
        return Look(self._occupancy > LITTLE, sent > MTU, frames, stopped)

    def _mark(self) -> tuple[Floats, Floats, Floats]:
        return self._stopped.copy(), self._frames.copy(), self._sent.copy()

    def _held(self, now: Settled, marks: Bools) -> Floats:
        """Return the bytes in each queue: between the marks where they work, else all it may."""
        buffers = self._case.fabric.buffers
        many = np.bincount(self._device_of, now.full)[self._device_of]
        most = buffers.alpha * buffers.pool / (1.0 + buffers.alpha * np.maximum(many, 1.0))
        swing = self._chance.uniform(0.9, 1.0, len(most))
        between = self._chance.uniform(buffers.least, buffers.most, len(most))
        bytes_ = np.where(marks & (now.marked > 0), np.minimum(between, most), most * swing)
        return np.where(now.full, bytes_, LITTLE)

    def poll(self, at: float, start: float) -> list[Batch]:
        """Return one batch a device, read `at` seconds after `start` (unix seconds)."""
        rows = self._rows(at)
        values = np.stack([column for _, _, column in rows])
        found = []
        for number, (device, places) in enumerate(self._read().items()):
            known = self._layouts.get(device)
            if known is None:
                known = self._layouts[device] = self._layout(device, places, rows)
            clock, series, row, place = known
            told = values[row, place]
            found.append(Batch(clock, start + at + (number % 37) * 0.01, series, told))
        return found

    def _read(self) -> dict[str, list[int]]:
        case = self._case
        by_device: dict[str, list[int]] = {}
        for place, (device, _) in enumerate(case.fabric.fluid.names):
            if device not in case.read.silent and (case.read.hosts or self._is_switch[place]):
                by_device.setdefault(device, []).append(place)
        return by_device

    def _rows(self, at: float) -> list[Row]:
        """Return every column that is read, [q] each, with how its series are named."""
        case, fluid = self._case, self._case.fabric.fluid
        priority = case.fabric.priority
        far, ill = self._far, at > case.began

        def queue(device: str, port: str) -> tuple[str, ...]:
            return device, port, priority

        def port(device: str, name: str) -> tuple[str, ...]:
            return device, name

        speed = np.full(len(far), fluid.line * 8)
        for name, share in case.told.speed.items():
            speed[fluid.number[name]] *= share if ill else 1.0
        rows: list[Row] = [
            (congestion.PFC_RX_FRAMES, queue, np.floor(self._frames)),
            (congestion.PFC_TX_FRAMES, queue, np.floor(self._own_frames[far])),
            (congestion.ECN_MARKED_PACKETS, queue, np.floor(self._marked)),
            (congestion.PFC_RX_DROPPED_PACKETS, queue, self._dropped),
            (congestion.QUEUE_OCCUPANCY, queue, self._occupancy),
            (congestion.QUEUE_TX_BYTES, queue, self._sent),
            (ports.TX_BYTES, port, self._sent),
            (ports.RX_BYTES, port, self._sent[far]),
            (ports.SPEED, port, speed),
        ]
        if case.read.rx_time:
            rows.append((congestion.PFC_RX_PAUSE, queue, self._stopped))
        if case.read.tx_time:
            own = self._own_frames[far] / self._refresh
            rows.append((congestion.PFC_TX_PAUSE, queue, own))
        if case.read.hosts:
            rows += [(congestion.ECN_RX_PACKETS, port, np.floor(self._marked[far])),
                     (congestion.CNP_TX_PACKETS, port, np.floor(self._notified[far]))]  # fmt: skip
        if case.also_links:
            up, rate = np.ones(len(far)), fluid.line * 8 / CODEWORD_BITS
            rows += [
                (ports.UP, port, up),
                (ports.ADMIN_UP, port, up),
                (ports.FEC_UNCORRECTABLE_CODEWORDS, port, np.floor(self._errors)),
                (ports.FEC_CORRECTED_BITS, port, np.floor(np.full(len(far), at * rate * 1e-4))),
            ]
        return rows + (self._thresholds(ill) if case.read.thresholds else [])

    def _thresholds(self, ill: bool) -> list[Row]:
        """Return what is configured, where it is read; hosts configure nothing."""
        fabric, told = self._case.fabric, self._case.told
        priority, buffers = fabric.priority, fabric.buffers
        limit = buffers.fair(BUSY)
        times = np.array([told.mark_from.get(name, 0.0) for name, _ in fabric.fluid.names])
        most = np.where((times > 0) & ill, times * limit, buffers.most)
        whole = np.ones(len(most))
        return [
            (congestion.ECN_THRESHOLD, lambda d, p: (d, p, priority, "max"), most),
            (congestion.ECN_THRESHOLD, lambda d, p: (d, p, priority, "min"), most / 4),
            (congestion.BUFFER_ALPHA, lambda d, p: (d, p, priority), whole * buffers.alpha),
            (congestion.BUFFER_POOL, lambda d, p: (d,), whole * buffers.pool),
        ]

    def _layout(
        self, device: str, places: list[int], rows: list[Row]
    ) -> tuple[int, Ids, NDArray[np.intp], NDArray[np.intp]]:
        """Intern the series of a device: (clock, series, row and place of each)."""
        names = self._case.fabric.fluid.names
        host = device not in self._case.fabric.switches
        keys: dict[tuple[Metric, tuple[str, ...]], tuple[int, int]] = {}
        for number, (metric, labels, _) in enumerate(rows):
            if metric in (SWITCHES_ONLY if host else HOSTS_ONLY):
                continue
            for place in places:
                keys.setdefault((metric, labels(*names[place])), (number, place))
        row, place_of = np.array(list(keys.values()), np.intp).T
        table = self._table
        return table.clock("sim", device), table.intern_all(list(keys)), row, place_of


SWITCHES_ONLY = frozenset({
    congestion.ECN_MARKED_PACKETS, congestion.QUEUE_OCCUPANCY, congestion.ECN_THRESHOLD,
    congestion.BUFFER_ALPHA, congestion.BUFFER_POOL,
})  # fmt: skip
HOSTS_ONLY = frozenset({congestion.ECN_RX_PACKETS, congestion.CNP_TX_PACKETS})
