"""Head: the newest readings, as they came, in log files beside the database.

An append is one `write` of one entry (see `entry`): what the kernel has taken survives a
kill -9, and costs a fraction of a database transaction. Entries are sorted by metric, so that
one metric's part is read alone. A file (`head-NUMBER.log`, named by its first entry) that has
grown enough is closed, folded into compressed chunks metric by metric, and deleted.

A torn entry (power lost, killed while writing) is cut off when the writer opens the file again.
Another process reads whole entries while the writer appends.
"""

import logging
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fabrichealth.store.entry import (
    CHECKED,
    HEADER,
    MAGIC,
    Entry,
    decoded,
    part_size,
    parts_size,
)
from fabrichealth.store.runs import Runs

log = logging.getLogger(__name__)

_PROBE = 4096
"""Bytes read to learn an entry's index; longer ones take a second read."""


MOST_PIECES = 1000
"""Of one write; Linux takes 1024."""

LOOKS = 3
"""A listing made while files come and go may miss one; a gap in the numbers tells."""


class Part(NamedTuple):
    """Where one metric's readings stand in a file."""

    number: int
    """Of the entry."""
    offset: int
    runs: int
    samples: int


@dataclass
class Segment:
    """One log file and where each metric's parts stand in it."""

    path: Path
    first: int
    """Number of its first entry."""
    file: int
    """Descriptor."""
    size: int = 0
    last: int = 0
    """Number of its newest entry; `first - 1` when there is none."""
    samples: int = 0
    newest: float = -np.inf
    oldest: float = np.inf
    parts: dict[int, list[Part]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, *, write: bool) -> "Segment":
        """Open a log file and learn its whole entries.

        Raises:
            OSError: it is not there, or cannot be opened.
        """
        flags = os.O_RDWR | os.O_CREAT if write else os.O_RDONLY
        first = int(path.stem.removeprefix("head-"))
        segment = cls(path, first, os.open(path, flags | os.O_CLOEXEC, 0o640), last=first - 1)
        segment.scan(check=write)
        return segment

    def scan(self, *, check: bool = False) -> None:
        """Learn entries added since; stops at one that is not whole (with `check`: not right)."""
        end = os.fstat(self.file).st_size
        while self.size + HEADER.size <= end:
            probe = os.pread(self.file, _PROBE, self.size)
            magic, crc, number, metrics, _, oldest, newest = HEADER.unpack_from(probe)
            head = HEADER.size + (12 * metrics + 7) // 8 * 8
            if magic != MAGIC or number <= self.last or self.size + head > end:
                return
            if head > len(probe):
                probe = os.pread(self.file, head, self.size)
            index = np.frombuffer(probe, "<u4", metrics * 3, HEADER.size).reshape(-1, 3).tolist()
            size = head + parts_size(index)
            if self.size + size > end:
                return
            if check:
                body = os.pread(self.file, size - CHECKED, self.size + CHECKED)
                if zlib.crc32(body) != crc:
                    if os.pread(self.file, len(MAGIC), self.size + size) != MAGIC:
                        return
                    log.warning(
                        "%s: entry %d is damaged; what it held is missing", self.path, number
                    )
                    self.size += size  # what follows is good
                    continue
            self._learn(number, index, head, (oldest, newest))

    def _learn(
        self, number: int, index: list[list[int]], head: int, times: tuple[float, float]
    ) -> None:
        offset = self.size + head
        for metric, runs, samples in index:
            self.parts.setdefault(metric, []).append(Part(number, offset, runs, samples))
            offset += part_size(runs, samples)
            self.samples += samples
        self.size = offset
        self.last = number
        self.oldest, self.newest = min(self.oldest, times[0]), max(self.newest, times[1])

    def append(self, made: Entry) -> None:
        """Write one entry; a failed write leaves nothing of it.

        Raises:
            OSError: the disk is full or broken.
        """
        try:
            written = os.pwritev(self.file, made.pieces[:MOST_PIECES], self.size)
            if written < made.size:  # a short write, or too many pieces for one
                rest = b"".join(made.pieces)
                while written < made.size:
                    written += os.pwrite(self.file, rest[written:], self.size + written)
        except OSError:
            os.ftruncate(self.file, self.size)
            raise
        self._learn(made.number, made.parts, made.size - parts_size(made.parts), made.times)

    def cut(self) -> int:
        """Cut off what stands after the last whole entry; return how many bytes."""
        torn = os.fstat(self.file).st_size - self.size
        if torn > 0:
            os.ftruncate(self.file, self.size)
        return torn

    def runs(self, metric: int, after: int = 0) -> Iterator[Runs]:
        """Yield a metric's readings of each entry numbered beyond `after`, oldest first."""
        for _, offset, runs, samples in _beyond(self.parts.get(metric, ()), after):
            raw = os.pread(self.file, part_size(runs, samples), offset)
            yield decoded(raw, runs, samples)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.file)


def _beyond(parts: Sequence[Part], after: int) -> list[Part]:
    """Return the parts of entries beyond `after`, oldest first; cheap when few are new."""
    new = len(parts)
    while new and parts[new - 1].number > after:
        new -= 1
    return list(parts[new:])


class Head:
    """The log files of a store, oldest first."""

    def __init__(self, folder: Path, *, write: bool) -> None:
        self.folder = folder
        self._write = write
        self.segments: list[Segment] = []
        self.refresh()
        for segment in self.segments if write else ():
            segment.cut()

    def refresh(self) -> None:
        """Learn files and entries that the writing process has added or deleted since."""
        for _ in range(LOOKS):
            self._look()
            gaps = [b.first - a.last for a, b in pairwise(self.segments)]
            if self.segments and max(gaps, default=1) <= 1:
                return

    def _look(self) -> None:
        paths = {path.name: path for path in self.folder.glob("head-*.log")}
        known = {segment.path.name: segment for segment in self.segments}
        for name in known.keys() - paths.keys():
            known.pop(name).close()
        for name in sorted(paths):
            if name in known:
                if not self._write:
                    known[name].scan()
                continue
            try:
                known[name] = Segment.open(paths[name], write=self._write)
            except FileNotFoundError:
                continue  # folded and deleted since it was listed
        self.segments = [known[name] for name in sorted(known)]

    @property
    def first(self) -> int:
        """Number that the oldest file starts with; 0 if there is no file."""
        return self.segments[0].first if self.segments else 0

    @property
    def last(self) -> int:
        """Number of the newest entry; 0 if there is none."""
        return self.segments[-1].last if self.segments else 0

    def start(self, number: int) -> Segment:
        """Start a new file whose first entry has this number.

        Raises:
            OSError: the disk is full.
        """
        segment = Segment.open(self.folder / f"head-{number:015d}.log", write=True)
        self.segments.append(segment)
        return segment

    def drop(self, segment: Segment) -> None:
        """Delete a folded file; who has it open can still read it."""
        self.segments.remove(segment)
        segment.path.unlink()
        segment.close()

    def runs(self, metric: int, after: int) -> list[Runs]:
        """Return a metric's readings of entries numbered beyond `after`, oldest first."""
        return [
            runs
            for segment in self.segments
            if segment.last > after
            for runs in segment.runs(metric, after)
        ]

    @property
    def size(self) -> int:
        """Bytes in all files."""
        return sum(segment.size for segment in self.segments)

    def close(self) -> None:
        """Let go of the files."""
        for segment in self.segments:
            segment.close()
        self.segments.clear()
