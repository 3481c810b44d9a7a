"""/dev/kmsg: the kernel's ring of records, one per read (kernel ABI dev-kmsg).

A reader that was overtaken is told so (EPIPE) and goes on with the oldest record that is left. The
sequence number is the cursor; it holds for one boot only.
"""

import errno
import os
from pathlib import Path
from typing import Any

MOST_BYTES = 8192
"""The longest record; a shorter buffer would be refused."""


class Kmsg:
    """The live ring. `boot` names the boot that sequence numbers count in."""

    def __init__(self, path: Path, boot: str, cursor: Any, most_bytes: int) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._boot = boot
        self._most = most_bytes
        self._lost = 0
        self._next = 0
        match cursor:
            case {"boot": str(known), "next": int(number)} if known == boot:
                self._next = number

    async def lines(self) -> list[str]:
        """Return the records behind the cursor."""
        found: list[str] = []
        size = 0
        while size < self._most:
            try:
                record = os.read(self._descriptor, MOST_BYTES)
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # overtaken: the next read gives the oldest record; the gap is counted
            except OSError as wrong:
                if wrong.errno == errno.EINVAL:
                    continue  # a record longer than any should be
                raise
            if not record:
                break
            number = _sequence(record)
            if number < self._next:
                continue
            if self._next:
                self._lost += number - self._next
            self._next = number + 1
            size += len(record)
            found.append(record.decode("utf-8", "replace"))
        return found

    def lost(self) -> int:
        """Return how many records were overwritten before they could be read."""
        lost, self._lost = self._lost, 0
        return lost

    def cursor(self) -> dict[str, Any]:
        """Return the number of the next record."""
        return {"boot": self._boot, "next": self._next}

    async def close(self) -> None:
        """Close the device."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _sequence(record: bytes) -> int:
    part = record.split(b",", 2)[1:2]
    return int(part[0]) if part and part[0].isdigit() else 0
