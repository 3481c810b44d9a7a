"""Codec: a matrix of float64, one series a row, as few bytes, bit for bit.

Instruments speak in decimals and counters in integers, so a row is first tried as an integer
times a step (0.01 dBm, 1/256 degree, 1 byte); what fits is stored as differences of those
integers, what does not as the xor with the bits before. Either way the small numbers that
remain are cut into planes of equal significance, which zstandard then finds mostly empty.

A step is believed only if it gives back the same bits, so -0.0, subnormals and 1e300 survive:
they fail the trial and are kept as bits. NaN means absent: a bit mask says where, and such
cells cost nothing else.
"""

import struct
import threading

import numpy as np
import zstandard
from numpy.typing import NDArray

from fabrichealth.model import Floats

Words = NDArray[np.uint64]
Modes = NDArray[np.uint8]

BITS = 0
"""Mode of a row kept as bits; mode n > 0 is `STEPS[n - 1]`."""

STEPS: tuple[tuple[float, bool], ...] = (
    *((10.0**power, True) for power in (0, 2, 1, 3, 4, 6)),  # n / 100: correctly rounded text
    (256.0, True),  # fixed point of SFF-8636 and CMIS temperatures
    (2.0**22, True),  # what float64 can tell of a unix time
    *((step, False) for step in (0.1, 0.01, 0.001, 1e-4, 2e-6, 1e-6)),  # n * 0.01: scaled reading
)
"""(factor, divides): a reading is integer / factor or integer * factor; the order is the code."""

LEVEL = 1
PROBED = 128
"""Rows looked at to see whether a step is worth trying on all."""

_MATRIX = struct.Struct("<IIB")
_WIDTH = struct.Struct("<B")
_own = threading.local()


def compress(raw: bytes) -> bytes:
    """Return one zstandard frame."""
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    packed: bytes = _own.compressor.compress(raw)
    return packed


def decompress(frame: bytes) -> bytes:
    """Return what `compress` was given.

    Raises:
        ValueError: not a whole frame.
    """
    if not hasattr(_own, "decompressor"):
        _own.decompressor = zstandard.ZstdDecompressor()
    try:
        raw: bytes = _own.decompressor.decompress(frame)
    except zstandard.ZstdError as wrong:
        raise ValueError(f"chunk is damaged: {wrong}") from None
    return raw


def residuals(values: Floats) -> tuple[Words, Modes]:
    """Return what is left of finite `values[r, k]` after prediction, and the mode of each row.

    Column 0 holds the first integer (or bits) of a row, the others the zigzag difference to
    the one before (or the xor).
    """
    left = np.empty(values.shape, np.uint64)
    modes = np.zeros(len(values), np.uint8)
    waiting = np.arange(len(values))
    for mode, step in enumerate(STEPS, 1):
        probe = waiting[:: max(len(waiting) // PROBED, 1)]
        if not _integers(values[probe, -1:], step)[1].any():
            continue
        promising = waiting[_integers(values[waiting, -1:], step)[1]]
        whole = values if len(promising) == len(values) else values[promising]
        integers, fits = _integers(whole, step)
        if not fits.all():
            promising, integers = promising[fits], integers[fits]
        modes[promising] = mode
        if len(promising) == len(values):
            return _zigzag(integers), modes
        left[promising] = _zigzag(integers)
        waiting = waiting[modes[waiting] == BITS]
    if len(waiting):
        bits = np.ascontiguousarray(values[waiting]).view(np.uint64)
        bits[:, 1:] ^= bits[:, :-1].copy()
        left[waiting] = bits
    return left, modes


def _integers(
    values: Floats, step: tuple[float, bool]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the integers that `values[r, k]` may be, and which rows come back bit for bit.

    What is too large for an integer does not come back, nor does -0.0.
    """
    factor, divides = step
    with np.errstate(over="ignore", invalid="ignore"):
        near = values if factor == 1.0 else values * factor if divides else values / factor
        integers = np.rint(near).astype(np.int64)
        back = integers.astype(np.float64)
        if factor != 1.0:
            back = (
                np.divide(back, factor, out=back)
                if divides
                else np.multiply(back, factor, out=back)
            )
    same = back.view(np.int64) == np.ascontiguousarray(values).view(np.int64)
    return integers, same.all(axis=1)


def _zigzag(integers: NDArray[np.int64]) -> Words:
    """Return differences along rows with the sign in the lowest bit; they may wrap around."""
    steps = np.empty_like(integers)
    steps[:, :1] = integers[:, :1]
    np.subtract(integers[:, 1:], integers[:, :-1], out=steps[:, 1:])
    signs = steps >> 63
    steps <<= 1
    steps ^= signs
    return steps.view(np.uint64)


def restore(left: Words, mode: int) -> Floats:
    """Return the values[r, k] of rows of one mode; the inverse of `residuals`."""
    if mode == BITS:
        return np.bitwise_xor.accumulate(left, axis=1).view(np.float64)
    factor, divides = STEPS[mode - 1]
    steps = (left >> np.uint64(1)).view(np.int64) ^ -(left & np.uint64(1)).view(np.int64)
    integers = np.cumsum(steps, axis=1)
    return integers / factor if divides else integers * factor


def pack(left: Words, modes: Modes, present: NDArray[np.bool_] | None) -> bytes:
    """Return residuals[r, k] as bytes (not yet compressed); `present` only if cells are absent."""
    rows, columns = left.shape
    parts = [_MATRIX.pack(rows, columns, present is not None), modes.tobytes()]
    if present is not None:
        parts.append(np.packbits(present).tobytes())
    for mode in np.unique(modes):
        mine = np.flatnonzero(modes == mode)
        group = left if len(mine) == rows else left[mine]
        for part in (group[:, :1], group[:, 1:]):
            width = (int(part.max(initial=0)).bit_length() + 7) // 8
            parts.append(_WIDTH.pack(width))
            narrow = part.astype(f"<u{_whole(width)}").reshape(-1, 1).view(np.uint8)
            parts.append(np.ascontiguousarray(narrow[:, :width].T).tobytes())
    return b"".join(parts)


def _whole(width: int) -> int:
    """Return the size of the unsigned integer that holds so many bytes."""
    return 1 if width <= 1 else 2 if width == 2 else 4 if width <= 4 else 8


class Packed:
    """A matrix as `pack` left it; whole or single rows come out without touching the rest.

    Raises:
        ValueError: the bytes are not what `pack` makes.
    """

    def __init__(self, raw: bytes | memoryview, at: int = 0) -> None:
        if len(raw) < at + _MATRIX.size:
            raise ValueError("matrix is cut off")
        self.rows, self.columns, masked = _MATRIX.unpack_from(raw, at)
        if self.rows and not self.columns:
            raise ValueError("matrix has rows without columns")
        at += _MATRIX.size
        self._modes: Modes = np.frombuffer(raw, np.uint8, self.rows, at)
        if int(self._modes.max(initial=0)) > len(STEPS):
            raise ValueError("matrix has rows of an unknown mode")
        at += self.rows
        self._mask: NDArray[np.uint8] | None = None
        if masked:
            size = (self.rows * self.columns + 7) // 8
            self._mask = np.frombuffer(raw, np.uint8, size, at)
            at += size
        self._groups: dict[int, tuple[NDArray[np.uint8], NDArray[np.uint8]]] = {}
        for mode, rows in zip(*np.unique(self._modes, return_counts=True), strict=True):
            planes = []
            for size in (int(rows), int(rows) * (self.columns - 1)):
                (width,) = raw[at : at + 1] or (9,)
                if width > 8:
                    raise ValueError("matrix is cut off, or numbers are wider than 8 bytes")
                plane = np.frombuffer(raw, np.uint8, width * size, at + 1)
                planes.append(plane.reshape(width, size))
                at += 1 + width * size
            self._groups[int(mode)] = (planes[0], planes[1])
        self.end = at

    def matrix(self) -> Floats:
        """Return values[r, k]; NaN where absent."""
        if len(self._groups) == 1:
            ((mode, planes),) = self._groups.items()
            values = self._restored(mode, planes, self.rows)
        else:
            values = np.empty((self.rows, self.columns))
            for mode, planes in self._groups.items():
                mine = self._modes == mode
                values[mine] = self._restored(mode, planes, int(mine.sum()))
        if self._mask is not None:
            present = np.unpackbits(self._mask, count=values.size).view(bool)
            values[~present.reshape(values.shape)] = np.nan
        return values

    def row(self, row: int) -> Floats:
        """Return the values[k] of one row; NaN where absent."""
        mode = int(self._modes[row])
        first, rest = self._groups[mode]
        at = int((self._modes[:row] == mode).sum())
        steps = self.columns - 1
        mine = (first[:, at : at + 1], rest[:, at * steps : (at + 1) * steps])
        values: Floats = self._restored(mode, mine, 1)[0]
        if self._mask is not None:
            start, end = row * self.columns, (row + 1) * self.columns
            bits = np.unpackbits(self._mask[start // 8 : (end + 7) // 8])
            values[bits[start % 8 : start % 8 + self.columns] == 0] = np.nan
        return values

    def _restored(
        self, mode: int, planes: tuple[NDArray[np.uint8], NDArray[np.uint8]], rows: int
    ) -> Floats:
        left = np.empty((rows, self.columns), np.uint64)
        left[:, :1] = _joined(planes[0], rows).reshape(rows, 1)
        steps = self.columns - 1
        left[:, 1:] = _joined(planes[1], rows * steps).reshape(rows, steps)
        return restore(left, mode)


def _joined(planes: NDArray[np.uint8], size: int) -> NDArray[np.unsignedinteger]:
    """Return the integers of planes[width, size]; without planes they are all 0."""
    width = len(planes) if size else 0
    whole = _whole(width)
    narrow = np.zeros((size, whole), np.uint8)
    if width:
        narrow[:, :width] = planes.T
    return narrow.view(f"<u{whole}").ravel()


def encode(values: Floats) -> bytes:
    """Return values[r, k] (NaN is absent, k > 0) as bytes; `Packed.matrix` gives them back."""
    filled, present = fill(values)
    left, modes = residuals(filled)
    return pack(left, modes, present)


def fill(values: Floats) -> tuple[Floats, NDArray[np.bool_] | None]:
    """Return values[r, k] with absent cells repeating the one before, and where they were not.

    The mask is None if nothing is absent. What has nothing before it takes the first there is.
    """
    absent = np.isnan(values)
    holed = np.flatnonzero(absent.any(axis=1))
    if not len(holed):
        return values, None
    present = ~absent[holed]
    index = np.where(present, np.arange(values.shape[1]), 0)
    np.maximum.accumulate(index, axis=1, out=index)
    index = np.maximum(index, present.argmax(axis=1)[:, None])
    filled = values.copy()
    filled[holed] = np.take_along_axis(values[holed], index, axis=1)
    filled[holed[~present.any(axis=1)]] = 0.0
    return filled, ~absent
