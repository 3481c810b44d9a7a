"""A log file as it grows, through rotation by renaming and by truncation, and over restarts.

The cursor is the file's number (inode) and the place in it. A file that was renamed is read to its
end before the new one; one that was renamed while nobody read is looked for as `NAME.1`.
"""

import os
from pathlib import Path
from typing import Any

LONGEST = 65_536
"""Bytes of a line; the rest of a longer one is dropped."""


class LogFile:
    """Follows one path. At the first contact it reads the last `most_bytes` of the file."""

    def __init__(self, path: Path, cursor: Any, most_bytes: int) -> None:
        self._path = path
        self._most = most_bytes
        self._descriptor = -1
        self._inode = 0
        self._place = 0
        self._partial = b""
        self._skip = False
        self._known: tuple[int, int] | None = None
        match cursor:
            case {"inode": int(inode), "place": int(place)} if place >= 0:
                self._known = (inode, place)

    async def lines(self) -> list[str]:
        """Return the whole lines that came, at most about `most_bytes` of them."""
        if self._descriptor < 0:
            self._open_first()
        found, room = self._taken(self._most)
        while room > 0 and self._turned():
            more, room = self._taken(room)
            found += more
        return found

    def lost(self) -> int:
        """Return nothing: what a file still holds is not lost."""
        return 0

    def cursor(self) -> dict[str, Any]:
        """Return the file's number and how far its whole lines are read."""
        if self._descriptor < 0:
            inode, place = self._known or (0, 0)
            return {"inode": inode, "place": place}
        return {"inode": self._inode, "place": self._place - len(self._partial)}

    async def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open_first(self) -> None:
        inode, place = self._known or (0, -1)
        older = self._path.with_name(f"{self._path.name}.1")
        for path in (self._path, older) if self._known else (self._path,):
            try:
                stat = path.stat()
            except OSError:
                if path is self._path and not self._known:
                    raise
                continue
            if stat.st_ino == inode and stat.st_size >= place >= 0:
                self._open(path, place)
                return
        self._open(self._path, 0)
        if not self._known:
            size = os.fstat(self._descriptor).st_size
            self._place = max(0, size - self._most)
            self._skip = self._place > 0  # it lands in the middle of a line
            os.lseek(self._descriptor, self._place, os.SEEK_SET)

    def _open(self, path: Path, place: int) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._place = descriptor, place
        self._inode = os.fstat(descriptor).st_ino
        self._partial, self._skip = b"", False
        os.lseek(descriptor, place, os.SEEK_SET)

    def _turned(self) -> bool:
        """Return whether the path now is another file, or was cut, and take that up."""
        try:
            stat = self._path.stat()
        except OSError:
            return False  # between two files
        if stat.st_ino != self._inode:
            self._open(self._path, 0)
            return True
        if stat.st_size < self._place:
            self._open(self._path, 0)
            return True
        return False

    def _taken(self, room: int) -> tuple[list[str], int]:
        found: list[str] = []
        while room > 0:
            part = os.read(self._descriptor, min(room, 1 << 20))
            if not part:
                break
            room -= len(part)
            self._place += len(part)
            *whole, self._partial = (self._partial + part).split(b"\n")
            if whole and self._skip:
                whole, self._skip = whole[1:], False
            found += [line[:LONGEST].decode("utf-8", "replace") for line in whole]
            if len(self._partial) > LONGEST:
                if not self._skip:
                    found.append(self._partial[:LONGEST].decode("utf-8", "replace"))
                self._partial, self._skip = b"", True
        return found, room
