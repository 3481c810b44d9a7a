"""Groups: values of one form in a memory, decoded side by side for many modules."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collectors.protocols.module import DIAGNOSTICS, HALF
from collectors.protocols.optics.field import Cell, Form

Octets = NDArray[np.uint8]
Floats = NDArray[np.float64]
Columns = NDArray[np.intp]

TENS = np.array([10.0 ** (exponent - 24) for exponent in range(32)])
"""Factor of an F16 by its exponent."""


def half_of(cell: Cell) -> str:
    """Return the name of the half page that a value lies in."""
    return cell.page if cell.byte >= HALF or cell.page == DIAGNOSTICS else ""


def place_of(start: dict[str, int], half: str, byte: int) -> int:
    """Return where a byte of a half page lies in an image."""
    return start[half] + byte % HALF


@dataclass(frozen=True, slots=True)
class Group:
    """Values of one form side by side: columns `start` to `stop` of what is decoded."""

    start: int
    stop: int
    octets: Columns
    """Where their bytes lie in an image, value after value."""
    dtype: np.dtype[np.generic]
    shifts: NDArray[np.uint8] | None
    masks: NDArray[np.uint8] | None
    is_f16: bool
    scales: Floats | None
    none: tuple[tuple[Columns, int], ...]
    """Columns in which a raw number says: not measured."""
    powers: Floats | None
    """Coefficients [power, value] from the highest on."""

    def decode(self, images: Octets, out: Floats) -> None:
        """Write values [module, value] of images [module, byte]."""
        raw = images.take(self.octets, axis=1).view(self.dtype)
        if self.shifts is not None and self.masks is not None:
            raw = (raw >> self.shifts) & self.masks
        part = out[:, self.start : self.stop]
        if self.is_f16:
            np.multiply(raw & 0x7FF, TENS[raw >> 11], out=part)
        else:
            part[:] = raw
        if self.powers is not None:
            steps = part.copy()
            part[:] = self.powers[0]
            for coefficients in self.powers[1:]:
                part *= steps
                part += coefficients
        if self.scales is not None:
            part *= self.scales
        for columns, code in self.none:
            picked = part[:, columns]
            picked[(raw[:, columns] & _bits_of(self.dtype)) == code] = np.nan
            part[:, columns] = picked


def _bits_of(dtype: np.dtype[np.generic]) -> int:
    return (1 << 8 * dtype.itemsize) - 1 if dtype.kind == "u" else -1


def group_of(first: int, cells: Sequence[Cell], start: dict[str, int]) -> Group:
    """Return the group of cells of one form; its first column is `first`."""
    row = cells[0].field
    octets = [
        place_of(start, half_of(cell), cell.byte) + step
        for cell in cells
        for step in range(row.size)
    ]
    letter = {Form.SIGNED: "i", Form.FLOAT: "f"}.get(row.form, "u")
    dtype = np.dtype(f"{'<' if row.little else '>'}{letter}{row.size}")
    bits = row.size == 1 and any(cell.field.width < 8 for cell in cells)
    scales = np.array([cell.field.scale * cell.factor for cell in cells])
    none: dict[int, list[int]] = {}
    for number, cell in enumerate(cells):
        for code in cell.field.none:
            signed = (
                code - (1 << 8 * row.size) if letter == "i" and code >> 8 * row.size - 1 else code
            )
            none.setdefault(signed, []).append(number)
    most = max(len(cell.powers) for cell in cells)
    powers = [[*cell.powers, *[0.0] * (most - len(cell.powers))][::-1] for cell in cells]
    return Group(
        first,
        first + len(cells),
        np.array(octets, np.intp),
        dtype,
        np.array([cell.low for cell in cells], np.uint8) if bits else None,
        np.array([(1 << cell.field.width) - 1 for cell in cells], np.uint8) if bits else None,
        row.form is Form.F16,
        None if (scales == 1.0).all() else scales,
        tuple((np.array(columns, np.intp), code) for code, columns in none.items()),
        np.array(powers).T if most else None,
    )
