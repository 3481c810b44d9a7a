"""The fast decoder: many modules of one layout at once, as columns.

A layout is compiled once from what a module has; every other module whose consulted bytes
(advertisements, descriptors, lanes in use) are the same shares it. Then a batch of images is
turned into values with a few array operations, whatever the number of fields.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from collectors.protocols.module import DIAGNOSTICS, HALF, Memory
from collectors.protocols.optics.field import Cell, Form
from collectors.protocols.optics.presence import Presence, resolve, usable
from collectors.protocols.optics.standard import Reader, standard_of

Octets = NDArray[np.uint8]
Floats = NDArray[np.float64]
Columns = NDArray[np.intp]

TENS = np.array([10.0 ** (exponent - 24) for exponent in range(32)])
"""Factor of an F16 by its exponent."""
FOUR_LIMITS = 8
"""Bytes of the four limits of a quantity."""


MOST_LAYOUTS = 256
"""Layouts kept of modules with the same pages; a site has a handful."""


def half_of(cell: Cell) -> str:
    """Return the name of the half page that a value lies in."""
    return cell.page if cell.byte >= HALF or cell.page == DIAGNOSTICS else ""


@dataclass(frozen=True, slots=True)
class _Group:
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


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the values of one kind of module lie."""

    presence: Presence
    halves: tuple[str, ...]
    """Names of the half pages of an image, in order; an image is these behind each other."""
    cells: tuple[Cell, ...]
    """What each column is."""
    _groups: tuple[_Group, ...]
    _limits: tuple[Columns, Columns]
    """Bytes of sets of four limits, set after set; and columns [set, 4] of what they become."""
    _veils: tuple[tuple[Callable[[Reader], NDArray[np.bool_]], Columns], ...]
    _expected: tuple[Columns, Octets]
    _floats: Columns
    """Columns that need not be finite whatever the bytes: floats of IEEE 754 and what they make."""

    def image(self, memory: Memory) -> bytes:
        """Return a module's image; every half was read."""
        return b"".join(memory.pages[half] if half else memory.lower for half in self.halves)

    def fits(self, images: Octets) -> NDArray[np.bool_]:
        """Return for images [module, byte] whether this is their layout: bool [module]."""
        places, octets = self._expected
        same: NDArray[np.bool_] = (images.take(places, axis=1) == octets).all(axis=1)
        return same

    def decode(self, images: Octets) -> Floats:
        """Return values [module, column] of images [module, byte]; NaN where there is none."""
        out = self._numbers(images)
        out[:, self._limits[1]] = self._believed(images, out)
        reader = _reader(images, self.halves)
        for holds, columns in self._veils:
            rows = np.flatnonzero(holds(reader))
            if len(rows):
                out[np.ix_(rows, columns)] = np.nan
        if len(self._floats):
            picked = out[:, self._floats]
            picked[~np.isfinite(picked)] = np.nan
            out[:, self._floats] = picked
        return out

    def unbelieved(self, image: bytes) -> list[Cell]:
        """Return the high alarms of those limits of a module that are set and make no sense."""
        images = stacked([image])
        octets, columns = self._limits
        whole = self._numbers(images)
        lost = np.isnan(self._believed(images, whole)).all(axis=2) & ~_unset(images, octets)
        return [self.cells[columns[row, 0]] for row in np.flatnonzero(lost[0])]

    def _numbers(self, images: Octets) -> Floats:
        """Return [module, column] what stands in memory, scaled; believed or not."""
        out = np.empty((len(images), len(self.cells)))
        with np.errstate(all="ignore"):  # a calibration of nonsense overflows: not finite
            for group in self._groups:
                group.decode(images, out)
        return out

    def _believed(self, images: Octets, out: Floats) -> Floats:
        """Return limits [module, set, 4] as decoded; NaN where never set, or none is within."""
        octets, columns = self._limits
        four = out[:, columns]
        with np.errstate(invalid="ignore"):
            four[_unset(images, octets) | ~(four[:, :, 0] > four[:, :, 1])] = np.nan
        return four


def _unset(images: Octets, octets: Columns) -> NDArray[np.bool_]:
    """Return [module, set] whether four limits are all 00h or all FFh."""
    four = images.take(octets, axis=1).view(np.uint64)
    unset: NDArray[np.bool_] = (four == 0) | (four == np.iinfo(np.uint64).max)
    return unset


def compiled(presence: Presence, memory: Memory, *, told_only: bool = False) -> Layout:
    """Compile the layout of a module, for all its numbers or those that the catalogue takes."""
    cells = [
        cell
        for cell in presence.cells
        if cell.field.numeric and (cell.field.tells is not None or not told_only)
    ]
    needed = {half_of(cell) for cell in cells} | {page for page, _ in presence.consulted}
    needed |= {veil.page for veil in presence.standard.veils if any(map(veil.hides, cells))}
    there = {"", *memory.pages} - presence.unusable.keys()
    halves = tuple(sorted(needed & there))
    start = {half: HALF * number for number, half in enumerate(halves)}
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        row = cell.field
        bits = row.size == 1 and (row.width < 8 or cell.low > 0)
        key = (row.form, row.size, row.little, bits, bool(cell.powers))
        groups.setdefault(key, []).append(cell)
    ordered = [cell for group in groups.values() for cell in group]
    found: list[_Group] = []
    for group in groups.values():
        found.append(_group(found[-1].stop if found else 0, group, start))
    return Layout(
        presence,
        halves,
        tuple(ordered),
        tuple(found),
        _limit_sets(ordered, start),
        tuple(_veils(presence, ordered, start)),
        _expected(presence, memory, start),
        np.array([n for n, cell in enumerate(ordered) if _may_overflow(cell)], np.intp),
    )


def _may_overflow(cell: Cell) -> bool:
    return bool(cell.powers) or cell.field.form is Form.FLOAT


def _at(start: dict[str, int], half: str, byte: int) -> int:
    return start[half] + byte % HALF


def _group(first: int, cells: Sequence[Cell], start: dict[str, int]) -> _Group:
    row = cells[0].field
    octets = [
        _at(start, half_of(cell), cell.byte) + step for cell in cells for step in range(row.size)
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
    return _Group(
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


def _limit_sets(cells: Sequence[Cell], start: dict[str, int]) -> tuple[Columns, Columns]:
    """Return the bytes and the columns of every four limits; the four stand behind each other."""
    first = [number for number, cell in enumerate(cells) if cell.field.of_four == 0]
    octets = [
        _at(start, half_of(cells[number]), cells[number].byte) + step
        for number in first
        for step in range(FOUR_LIMITS)
    ]
    columns = [[number + step for step in range(4)] for number in first]
    return np.array(octets, np.intp), np.array(columns, np.intp).reshape(-1, 4)


def _veils(
    presence: Presence, cells: Sequence[Cell], start: dict[str, int]
) -> Iterator[tuple[Callable[[Reader], NDArray[np.bool_]], Columns]]:
    for veil in presence.standard.veils:
        columns = [number for number, cell in enumerate(cells) if veil.hides(cell)]
        if columns and veil.page in start:
            yield veil.holds, np.array(columns, np.intp)


def _expected(presence: Presence, memory: Memory, start: dict[str, int]) -> tuple[Columns, Octets]:
    asked = sorted((page, byte) for page, byte in presence.consulted if page in start)
    places = [_at(start, page, byte) for page, byte in asked]
    octets = [memory.byte(page, byte) for page, byte in asked]
    return np.array(places, np.intp), np.array(octets, np.uint8)


def _reader(images: Octets, halves: tuple[str, ...]) -> Reader:
    start = {half: HALF * number for number, half in enumerate(halves)}

    def read(page: str, byte: int, size: int = 1, *, signed: bool = False) -> NDArray[np.int64]:
        first = _at(start, page, byte)
        whole = np.zeros(len(images), np.int64)
        for step in range(size):
            whole = whole << 8 | images[:, first + step]
        top = 1 << 8 * size - 1
        return (whole ^ top) - top if signed else whole

    return read


@dataclass(slots=True)
class Layouts:
    """The layouts seen so far, by what can be told without reading a map."""

    told_only: bool = True
    """Only what the catalogue takes, or every number."""
    _known: dict[tuple[str, frozenset[str]], list[Layout]] = field(default_factory=dict)

    def of(self, memory: Memory) -> Layout:
        """Return the layout of a module, compiled if it is the first of its kind.

        Raises:
            MalformedReply: the identifier is not known, or lower memory or page 00h is not whole.
        """
        standard = standard_of(memory)
        pages, _ = usable(memory, standard)
        known = self._known.setdefault((standard.name, pages), [])
        for layout in known:
            if layout.fits(stacked([layout.image(memory)]))[0]:
                return layout
        layout = compiled(resolve(memory), memory, told_only=self.told_only)
        if len(known) >= MOST_LAYOUTS:
            known.clear()  # a module that says something else each time must not fill the memory
        known.append(layout)
        return layout


def stacked(images: Iterable[bytes]) -> Octets:
    """Return images of one layout as [module, byte]."""
    whole = list(images)
    return np.frombuffer(b"".join(whole), np.uint8).reshape(len(whole), -1)
