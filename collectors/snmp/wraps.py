"""32-bit counters of whole columns, with their wraps undone.

`fabrichealth.counters.Repair` decides what a fall was; this hands it only the few that fell, and
keeps the rest as arrays. A cell is one counter of one port, known by names, so that it outlives
both a renumbering of the rows and a restart of the collector.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabrichealth.counters import Repair
from fabrichealth.model import Floats

Cells = NDArray[np.intp]
BITS = 32
MOST = 2.0**64
"""No value, offset or time is beyond it."""

UNTOLD_SPEED = 1e9
"""bit/s of a port that does not tell its speed, where a wrap is to be believed."""


class Wraps:
    """The 32-bit counters of one device; values are integers as floats, times device seconds."""

    def __init__(self) -> None:
        self._repair = Repair()
        self._cells: dict[tuple[str, str], int] = {}
        self._raw = np.empty(0)
        self._at = np.empty(0)
        self._offset = np.empty(0)

    def cells(self, column: str, ports: Sequence[str]) -> Cells:
        """Return the numbers of the cells of a column, one a port."""
        known = self._cells
        found = np.array([known.setdefault((column, port), len(known)) for port in ports], np.intp)
        more = len(known) - len(self._raw)
        if more:
            self._raw = np.append(self._raw, np.full(more, np.nan))
            self._at = np.append(self._at, np.full(more, np.nan))
            self._offset = np.append(self._offset, np.zeros(more))
        return found

    def monotone(
        self, cells: Cells, values: Floats, at: float, most: Floats, restarted: NDArray[np.bool_]
    ) -> Floats:
        """Return values [p] with wraps undone; NaN stays NaN.

        `most` is what each can rise by in a second. A counter that fell over a restart was reset,
        however near its end it stood.
        """
        before = self._raw[cells]
        for row in np.flatnonzero(values < before):  # NaN is never less
            cell, repair = int(cells[row]), self._repair
            repair.raw[cell], repair.at[cell] = int(before[row]), float(self._at[cell])
            limit = 0.0 if restarted[row] else float(most[row])
            repair.monotone(cell, int(values[row]), at, bits=BITS, most_per_second=limit)
            self._offset[cell] = repair.offsets.get(cell, 0)
        known = np.isfinite(values)
        self._raw[cells[known]] = values[known]
        self._at[cells[known]] = at
        repaired: Floats = values + self._offset[cells]
        return repaired

    def changed(self, cells: Cells, values: Floats) -> NDArray[np.bool_]:
        """Return where values [p] that only ever change at a restart differ from the last ones."""
        before = self._raw[cells]
        known = np.isfinite(values)
        self._raw[cells[known]] = values[known]
        self._at[cells[known]] = 0.0
        moved: NDArray[np.bool_] = known & np.isfinite(before) & (values != before)
        return moved

    def kept(self) -> list[list[Any]]:
        """Return column, port, offset, last value and its time of every cell, as JSON values."""
        return [
            [column, port, int(self._offset[cell]), int(self._raw[cell]), float(self._at[cell])]
            for (column, port), cell in self._cells.items()
            if np.isfinite(self._raw[cell])
        ]

    def restore(self, rows: object) -> None:
        """Take up what `kept` returned; rows that cannot be used are passed over."""
        for row in rows if isinstance(rows, list) else []:
            if not (isinstance(row, list) and len(row) == 5):
                continue
            column, port, offset, raw, at = row
            if not (isinstance(column, str) and isinstance(port, str)):
                continue
            if not all(
                isinstance(one, int | float) and 0 <= one < MOST for one in (offset, raw, at)
            ):
                continue
            (cell,) = self.cells(column, (port,))
            self._offset[cell], self._raw[cell], self._at[cell] = int(offset), int(raw), at
            if offset:
                self._repair.offsets[int(cell)] = int(offset)


def most_per_second(kind: str, speed: Floats) -> Floats:
    """Return what a counter of octets or of frames can rise by in a second at a speed (bit/s) [p].

    A frame takes at least 84 octets of the line: 64 of its own, preamble and gap (IEEE 802.3).
    Devices that count in 32 bits and do not tell their speed are taken for slow ones.
    """
    octets = np.where(speed > 0, speed, UNTOLD_SPEED) / 8
    return octets if kind == "octets" else octets / 84
