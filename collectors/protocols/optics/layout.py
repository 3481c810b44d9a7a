"""The fast decoder: many modules of one layout at once, as columns.

A layout is compiled once from what a module has; every other module whose consulted bytes
(advertisements, descriptors, lanes in use) are the same shares it. Then a batch of images is
turned into values with a few array operations, whatever the number of fields.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from collectors.protocols.module import HALF, Memory
from collectors.protocols.optics.field import Cell, Form
from collectors.protocols.optics.groups import (
    Columns,
    Floats,
    Group,
    Octets,
    group_of,
    half_of,
    place_of,
)
from collectors.protocols.optics.presence import Presence, resolve, usable
from collectors.protocols.optics.standard import Reader, standard_of

FOUR_LIMITS = 8
"""Bytes of the four limits of a quantity."""


MOST_LAYOUTS = 256
"""Layouts kept of modules with the same pages; a site has a handful."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the values of one kind of module lie."""

    presence: Presence
    halves: tuple[str, ...]
    """Names of the half pages of an image, in order; an image is these behind each other."""
    cells: tuple[Cell, ...]
    """What each column is."""
    _groups: tuple[Group, ...]
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
    found: list[Group] = []
    for group in groups.values():
        found.append(group_of(found[-1].stop if found else 0, group, start))
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


def _limit_sets(cells: Sequence[Cell], start: dict[str, int]) -> tuple[Columns, Columns]:
    """Return the bytes and the columns of every four limits; the four stand behind each other."""
    first = [number for number, cell in enumerate(cells) if cell.field.of_four == 0]
    octets = [
        place_of(start, half_of(cells[number]), cells[number].byte) + step
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
    places = [place_of(start, page, byte) for page, byte in asked]
    octets = [memory.byte(page, byte) for page, byte in asked]
    return np.array(places, np.intp), np.array(octets, np.uint8)


def _reader(images: Octets, halves: tuple[str, ...]) -> Reader:
    start = {half: HALF * number for number, half in enumerate(halves)}

    def read(page: str, byte: int, size: int = 1, *, signed: bool = False) -> NDArray[np.int64]:
        first = place_of(start, page, byte)
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
