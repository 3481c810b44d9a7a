"""Spool: requests that wait on disk until a server has taken them, oldest first.

A file a request, named by its place in the order and by how many samples it holds, written whole
or not at all. What was spooled before a restart is sent after it. The spool is bounded: beyond
that the oldest goes, counted, for what is new says most of the present.
"""

import os
import threading
from collections import OrderedDict
from pathlib import Path

from fabrichealth.errors import StoreError, StoreReadOnly
from fabrichealth.store.claim import claimed

ENDING = ".request"


class Spool:
    """The requests in one folder; one process uses it (a lock says so), by several threads."""

    def __init__(self, folder: Path, bound: int) -> None:
        """`bound` is how many bytes may wait; 0 sets none.

        Raises:
            StoreError: another process uses the folder, or it cannot be used.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise StoreError(f"{folder}: cannot be the spool's folder ({wrong})") from None
        self._folder = folder
        self._bound = bound
        self._lock = threading.Lock()
        self._claim = claimed(folder)
        self._waiting: OrderedDict[Path, tuple[int, int]] = OrderedDict()
        """(bytes, samples) of each file, oldest first."""
        for path in sorted(folder.glob(f"*{ENDING}")):
            number, _, samples = path.name.removesuffix(ENDING).partition("-")
            if number.isdecimal() and samples.isdecimal():
                self._waiting[path] = (path.stat().st_size, int(samples))
        self._under_way: Path | None = None
        """What is being sent: it stays, for it may have been taken by the time it would go."""
        last = next(reversed(self._waiting), None)
        self._next = 1 if last is None else int(last.name.partition("-")[0]) + 1
        self.dropped = 0
        """Samples that went because the spool was full."""

    @property
    def samples(self) -> int:
        """Samples that wait."""
        with self._lock:
            return sum(samples for _, samples in self._waiting.values())

    def put(self, body: bytes, samples: int) -> None:
        """Keep a request; when this returns it survives a kill -9 of this process.

        Raises:
            StoreReadOnly: the disk is full; the request is not kept.
        """
        with self._lock:
            path = self._folder / f"{self._next:012d}-{samples}{ENDING}"
            draft = self._folder / "draft"
            try:
                draft.write_bytes(body)
                draft.replace(path)
            except OSError as wrong:
                raise StoreReadOnly.because(self._folder, wrong) from None
            self._next += 1
            self._waiting[path] = (len(body), samples)
            stay = (path, self._under_way)
            while self._bound and self._bytes() > self._bound:
                oldest = next((one for one in self._waiting if one not in stay), None)
                if oldest is None:
                    break
                self.dropped += self._waiting[oldest][1]
                self._remove(oldest)

    def oldest(self) -> tuple[Path, bytes, int] | None:
        """Return the request to send now, with its samples; one that is unreadable is dropped.

        Until it is `done` or `given_back` it stays, though the spool be full.
        """
        with self._lock:
            while self._waiting:
                path, (_, samples) = next(iter(self._waiting.items()))
                try:
                    body = path.read_bytes()
                except OSError:
                    self.dropped += samples
                    self._remove(path)
                else:
                    self._under_way = path
                    return path, body, samples
            return None

    def done(self, path: Path) -> None:
        """Let go of a request that was taken."""
        with self._lock:
            self._under_way = None
            self._remove(path)

    def given_back(self) -> None:
        """Take back what was under way: the server did not take it."""
        with self._lock:
            self._under_way = None

    def close(self) -> None:
        """Let another process have the folder; what waits stays."""
        with self._lock:
            if self._claim >= 0:
                os.close(self._claim)
                self._claim = -1

    def _bytes(self) -> int:
        return sum(size for size, _ in self._waiting.values())

    def _remove(self, path: Path) -> None:
        self._waiting.pop(path, None)
        path.unlink(missing_ok=True)
