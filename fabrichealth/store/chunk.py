"""Chunk: a compressed grid of up to `BLOCK` neighbouring series of one metric.

Blocks are small, so that no step takes long and one series is read without its fleet; they are
cut by rank (the how-manieth of its metric a series is), so that a block is always the same
series. A body is one zstandard frame of

    rows, clocks (uint32 each), series and clock slot of each row as differences (int32[rows]
    each), clock numbers (int32[clocks]), then time lines and values as `codec.pack` leaves them
"""

import logging
import struct
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats
from fabrichealth.store.codec import Packed, compress, decompress, fill, pack, residuals
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import merged

log = logging.getLogger(__name__)

BLOCK = 512

_SHAPE = struct.Struct("<II")


def bodies(grid: Grid, rank: NDArray[np.int32]) -> Iterator[tuple[int, Grid, bytes]]:
    """Yield (block, its part of the grid, its body); `rank[r]` of each row, ascending.

    The part's `values` are left whole, its time lines are those of its clocks.
    """
    filled, present = fill(grid.values)
    left, modes = residuals(filled)
    time_filled, time_present = fill(grid.times)
    time_left, time_modes = residuals(time_filled)
    block = rank // BLOCK
    edges = [*np.flatnonzero(np.diff(block, prepend=-1)).tolist(), len(grid)]
    for start, end in pairwise(edges):
        mine = slice(start, end)
        slots, clock = np.unique(grid.clock[mine], return_inverse=True)
        part = Grid(
            grid.series[mine], clock, grid.clocks[slots], grid.times[slots], grid.values[mine]
        )
        times_there = None if time_present is None else time_present[slots]
        there = None if present is None else present[mine]
        raw = b"".join(
            (
                _SHAPE.pack(end - start, len(slots)),
                np.diff(part.series, prepend=np.int32(0)).astype("<i4").tobytes(),
                np.diff(clock, prepend=0).astype("<i4").tobytes(),
                part.clocks.astype("<i4").tobytes(),
                pack(time_left[slots], time_modes[slots], _if_any(times_there)),
                pack(left[mine], modes[mine], _if_any(there)),
            )
        )
        yield int(block[start]), part, compress(raw)


def _if_any(present: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Return the mask only if it hides anything."""
    return None if present is None or present.all() else present


class Opened:
    """A chunk's body, opened: its grid, or single series of it.

    Raises:
        ValueError: the body is damaged.
    """

    def __init__(self, body: bytes) -> None:
        raw = decompress(body)
        try:
            rows, clocks = _SHAPE.unpack_from(raw)
            at = _SHAPE.size
            self.series = np.cumsum(np.frombuffer(raw, "<i4", rows, at), dtype=np.int32)
            self.clock = np.cumsum(np.frombuffer(raw, "<i4", rows, at + 4 * rows), dtype=np.int64)
            self.clocks = np.frombuffer(raw, "<i4", clocks, at + 8 * rows).astype(np.int32)
            self._times = Packed(raw, at + 8 * rows + 4 * clocks)
            self._values = Packed(raw, self._times.end)
        except (struct.error, ValueError) as wrong:
            raise ValueError(f"chunk is damaged: {wrong}") from None
        slots = self.clock
        if (
            (self._times.rows, self._values.rows) != (clocks, rows)
            or self._times.columns != self._values.columns
            or int(slots.min(initial=0)) < 0
            or int(slots.max(initial=-1)) >= clocks
        ):
            raise ValueError("chunk is damaged: its parts do not fit each other")

    def grid(self) -> Grid:
        """Return everything in it."""
        return Grid(
            self.series, self.clock, self.clocks, self._times.matrix(), self._values.matrix()
        )

    def samples(self, series: int) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield (clock, at, values) of one series for each clock that read it."""
        for row in range(*np.searchsorted(self.series, [series, series + 1]).tolist()):
            values = self._values.row(row)
            there = ~np.isnan(values)
            at = self._times.row(int(self.clock[row]))[: len(values)]
            yield int(self.clocks[self.clock[row]]), at[there], values[there]


def opened(body: bytes, series: int | None = None) -> Grid:
    """Return a chunk's grid, or that of one series of it; nothing, and a warning, if damaged."""
    try:
        chunk = Opened(body)
    except ValueError as wrong:
        log.warning("%s; what it held is missing", wrong)
        return Grid.empty()
    if series is None:
        return chunk.grid()
    return merged(
        [
            Grid(
                np.array([series], np.int32),
                np.zeros(1, np.int64),
                np.array([clock], np.int32),
                at.reshape(1, -1),
                values.reshape(1, -1),
            )
            for clock, at, values in chunk.samples(series)
            if len(at)
        ]
    )
