"""Entry: one append as it stands in a log file.

Little endian:

    0   4  magic "fhe1"          8   8  number of the entry, counting from 1
    4   4  CRC-32 of the rest   16   4  metrics m, then 4 reserved
    24  8  oldest time stamp    32   8  newest (float64, unix seconds)
    40  m * 12   per metric: its number, runs b, samples n (uint32 each), padded to 8
    then per metric: at float64[b], values float64[n], clock int32[b], count int32[b],
    series int32[n], padded to 8
"""

import struct
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Batch
from fabrichealth.store.runs import Runs

MAGIC = b"fhe1"
HEADER = struct.Struct("<4sIQIIdd")
_NUMBERED = struct.Struct("<QIIdd")
"""What of the header the checksum covers."""
_PADDING = (b"", b"", b"", b"", b"\0" * 4)
"""By size modulo 8; every size is a multiple of 4."""
CHECKED = 8
"""The checksum covers what follows it."""


class Entry(NamedTuple):
    """One entry ready to be written, in pieces: copying them together would cost more."""

    pieces: list[Any]
    """Buffers: bytes and arrays."""
    size: int
    parts: list[list[int]]
    """Per metric: its number, runs, samples."""
    number: int
    times: tuple[float, float]
    """Oldest and newest time stamp."""


def entry(number: int, batches: Sequence[Batch], metric_of: NDArray[np.uint16]) -> Entry:
    """Return batches as one entry; `metric_of[series]` is the number of each one's metric.

    Values that are not finite are left out: they are no readings.

    Raises:
        IndexError: a series has no metric there.
    """
    series = np.concatenate([batch.series for batch in batches]).astype(np.int32, copy=False)
    values = np.concatenate([batch.values for batch in batches]).astype(np.float64, copy=False)
    clock = np.array([batch.clock for batch in batches], np.int32)
    at = np.array([batch.at for batch in batches], np.float64)
    length = np.array([len(batch.series) for batch in batches], np.int64)
    run = np.repeat(np.arange(len(batches), dtype=np.int32), length)
    finite = np.isfinite(values)
    if not finite.all():
        series, values, run = series[finite], values[finite], run[finite]
    metric = metric_of[series]
    order = np.argsort(metric, kind="stable")  # a radix sort, on 16 bits
    series, values, run = series[order], values[order], run[order]
    total = np.bincount(metric)
    present = np.flatnonzero(total)
    bounds = [0, *np.cumsum(total[present]).tolist()]
    new = np.ones(len(run), bool)
    np.not_equal(run[1:], run[:-1], out=new[1:])
    new[bounds[:-1]] = True
    starts = np.flatnonzero(new)
    count = np.diff(starts, append=len(run)).astype(np.int32)
    run = run[starts]
    clock, at = clock[run], at[run]
    run_bounds = np.searchsorted(starts, bounds).tolist()
    index = np.empty((len(present), 3), "<u4")
    index[:, 0] = present
    index[:, 1] = np.diff(run_bounds)
    index[:, 2] = np.diff(bounds)
    times = (float(at.min(initial=np.inf)), float(at.max(initial=-np.inf)))
    head = _NUMBERED.pack(number, len(present), 0, *times)
    pieces: list[Any] = [head, index, _PADDING[index.nbytes % 8]]
    for place in range(len(present)):
        runs = slice(run_bounds[place], run_bounds[place + 1])
        mine = slice(bounds[place], bounds[place + 1])
        pieces += (at[runs], values[mine], clock[runs], count[runs], series[mine])
        pieces.append(_PADDING[4 * (mine.stop - mine.start) % 8])
    checksum, size = 0, CHECKED
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
        size += len(piece) if isinstance(piece, bytes) else piece.nbytes
    pieces.insert(0, MAGIC + checksum.to_bytes(4, "little"))
    return Entry(pieces, size, index.tolist(), number, times)


def part_size(runs: int, samples: int) -> int:
    """Return the bytes of one metric's part."""
    return 8 * (2 * runs + samples) + (4 * samples + 7) // 8 * 8


def parts_size(index: list[list[int]]) -> int:
    """Return the bytes of all parts of an entry."""
    return sum(part_size(runs, samples) for _, runs, samples in index)


def decoded(raw: bytes, runs: int, samples: int) -> Runs:
    """Return one metric's part of an entry."""
    words = 8 * (runs + samples)
    return Runs(
        clock=np.frombuffer(raw, np.int32, runs, words),
        at=np.frombuffer(raw, np.float64, runs),
        count=np.frombuffer(raw, np.int32, runs, words + 4 * runs),
        series=np.frombuffer(raw, np.int32, samples, words + 8 * runs),
        values=np.frombuffer(raw, np.float64, samples, 8 * runs),
    )
