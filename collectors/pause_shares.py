"""Pause shares: for which share of the time a port stood paused since the poll before.

What every source decodes into the catalogue's pause counters is enough; no source is asked. Time
paused is exact. Frames alone give an upper bound, for each may stop a port for at most 65,535
quanta of 512 bit times (IEEE 802.1Q-2018, 36; IEEE 802.3-2018, 31B.2), and are looked at only
where the port has no counter of time for that direction.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.congestion import (
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    PFC_TX_PAUSE,
)
from fabrichealth.catalogue.pause import (
    PAUSE_RX,
    PAUSE_RX_FRAMES,
    PAUSE_TX,
    PAUSE_TX_FRAMES,
    PFC_ALL_RX_FRAMES,
    PFC_ALL_TX_FRAMES,
)
from fabrichealth.catalogue.ports import SPEED, TRANSMIT_WAIT
from fabrichealth.model import Batch, Floats, SeriesTable

RX, TX = 0, 1
"""Who stops whom: rx, the peer stops this port."""

TIME = {PFC_RX_PAUSE: RX, PFC_TX_PAUSE: TX, PAUSE_RX: RX, PAUSE_TX: TX, TRANSMIT_WAIT: RX}
"""Counters of seconds, by direction; InfiniBand's wait for credits is a pause by the peer."""

FRAMES = {
    PFC_RX_FRAMES: RX,
    PFC_TX_FRAMES: TX,
    PAUSE_RX_FRAMES: RX,
    PAUSE_TX_FRAMES: TX,
    PFC_ALL_RX_FRAMES: RX,
    PFC_ALL_TX_FRAMES: TX,
}

BITS_PER_FRAME = 65_535 * 512
"""Bit times for which one frame may stop a port."""

SENSELESS = 5.0
"""A switch may refresh its counters once in some polls; a rise beyond this is a wrong unit."""

ASSUMED_SPEED = 100e9
"""Bits per second of a port that does not say; a faster one is stopped for less."""

_TIME, _FRAMES, _SPEED = 0, 1, 2

Cell = TypeVar("Cell", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Paused:
    """The worst paused queue of a poll: share of the time (0..1), and the counter that says so."""

    share: float
    series: int


class PauseShares:
    """Remembers the pause counters of every series of a table; a poll costs array operations."""

    def __init__(self, table: SeriesTable) -> None:
        self._table = table
        self._known = 0
        self._place = np.empty(0, np.int32)  # by series: its row below, -1 where it has none
        self._rows = 0
        self._role = np.empty(0, np.int8)
        self._port = np.empty(0, np.int32)
        self._direction = np.empty(0, np.int8)
        self._last = np.empty(0)  # value at the poll before
        self._at = np.empty(0)  # when that was, unix seconds; NaN: never
        self._ports: dict[tuple[str, str], int] = {}
        self._speed = np.empty(0)  # by port, bits per second; NaN: not said
        self._timed = np.empty((0, 2), np.bool_)  # by port and direction

    def worst(self, batches: Iterable[Batch]) -> Paused | None:
        """Return what was paused most since each counter's last reading; None if none can tell.

        Takes readings for known: asked once a poll. A counter that went back tells nothing.
        """
        self._learn()
        worst: Paused | None = None
        for batch in batches:
            found = self._of(batch)
            if found is not None and (worst is None or found.share > worst.share):
                worst = found
        return worst

    def _of(self, batch: Batch) -> Paused | None:
        rows = self._place[batch.series]
        held = np.flatnonzero(rows >= 0)
        if not len(held):
            return None
        rows, values, series = rows[held], batch.values[held], batch.series[held]
        speeds = self._role[rows] == _SPEED
        positive = speeds & (values > 0)
        self._speed[self._port[rows[positive]]] = values[positive]
        rows, values, series = rows[~speeds], values[~speeds], series[~speeds]
        gone, grown = batch.at - self._at[rows], values - self._last[rows]
        self._last[rows], self._at[rows] = values, batch.at
        port, frames = self._port[rows], self._role[rows] == _FRAMES
        with np.errstate(invalid="ignore", divide="ignore"):
            share = grown * np.where(frames, self._per_frame(port), 1.0) / gone
            tells = (gone > 0) & (grown >= 0)
        tells &= frames | (share < SENSELESS)
        tells &= ~(frames & self._timed[port, self._direction[rows]])
        if not tells.any():
            return None
        top = int(np.argmax(np.where(tells, share, -1.0)))
        return Paused(min(float(share[top]), 1.0), int(series[top]))

    def _per_frame(self, port: NDArray[np.int32]) -> Floats:
        """Return the seconds for which one frame may stop each of these ports."""
        speed = self._speed[port]
        seconds: Floats = BITS_PER_FRAME / np.where(np.isnan(speed), ASSUMED_SPEED, speed)
        return seconds

    def _learn(self) -> None:
        """Give rows to series that are new in the table; others may add to it meanwhile."""
        known, number = self._known, len(self._table)
        if known == number:
            return
        self._place = _grown(self._place, number, -1)
        for role, told in ((_TIME, TIME), (_FRAMES, FRAMES), (_SPEED, {SPEED: RX})):
            for metric, direction in told.items():
                every = self._table.of(metric)
                first, last = np.searchsorted(every, [known, number])
                for series in every[first:last].tolist():
                    self._add(series, role, direction)
        self._known = number

    def _add(self, series: int, role: int, direction: int) -> None:
        device, port, *_ = self._table.labels(series)
        place = self._ports.setdefault((device, port), len(self._ports))
        self._speed = _grown(self._speed, place + 1, np.nan)
        self._timed = _grown(self._timed, place + 1, False)
        row, self._rows = self._rows, self._rows + 1
        self._place[series] = row
        self._role = _grown(self._role, self._rows, 0)
        self._port = _grown(self._port, self._rows, 0)
        self._direction = _grown(self._direction, self._rows, 0)
        self._last = _grown(self._last, self._rows, np.nan)
        self._at = _grown(self._at, self._rows, np.nan)
        self._role[row], self._port[row], self._direction[row] = role, place, direction
        self._timed[place, direction] |= role == _TIME


def _grown(array: NDArray[Cell], needed: int, fill: float) -> NDArray[Cell]:
    """Return an array with room for so many rows, those that are new holding `fill`."""
    if len(array) >= needed:
        return array
    wider = np.full((max(needed, 2 * len(array)), *array.shape[1:]), fill, array.dtype)
    wider[: len(array)] = array
    return wider
