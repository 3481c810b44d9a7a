"""A tree of small files: a folder on disk, or a JSON map of path to content.

sysfs and procfs, live, captured or emulated, are read through the same three questions. Paths
are relative to the root and have no leading slash.
"""

import errno
import os
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

from fabrichealth.errors import MalformedReply

CHUNK = 1 << 16
MOST = 64 << 20
"""Bytes of a file that are read: what goes on is a device that never ends."""
FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe would wait for a writer without the last."""
_NUMBERS = {name: number for number, name in errno.errorcode.items()} | {
    "EOPNOTSUPP": errno.EOPNOTSUPP
}


class Tree(Protocol):
    """What a reader of trees needs."""

    @property
    def name(self) -> str:
        """The name of the root, for a root that is one device."""
        ...

    def read(self, path: str) -> bytes:
        """Return what a file holds.

        Raises:
            OSError: the file system's errno; what drivers refuse comes as EINVAL and the like.
        """
        ...

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted; nothing where there is no such folder."""
        ...

    def link(self, path: str) -> str:
        """Return where a symbolic link points; empty where it is none."""
        ...


class FolderTree:
    """A tree on disk.

    Files are opened anew at each read: a kept descriptor saves 2 us of 5, but would go on
    serving a deleted file of a captured or emulated tree as if it were still there.
    """

    def __init__(self, root: Path) -> None:
        self._root = f"{root}/"
        self.name = root.resolve().name

    def read(self, path: str) -> bytes:
        """Return what a file holds, raising the file system's OSError."""
        descriptor = os.open(self._root + path, FLAGS)
        try:
            content = os.read(descriptor, CHUNK)
            if content:
                # procfs answers in parts
                while len(content) < MOST and (more := os.read(descriptor, CHUNK)):
                    content += more
            return content
        finally:
            os.close(descriptor)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted."""
        try:
            with os.scandir(self._root + folder) as entries:
                return tuple(sorted(entry.name for entry in entries))
        except OSError:
            return ()

    def link(self, path: str) -> str:
        """Return where a symbolic link points."""
        try:
            return str(Path(self._root + path).readlink())
        except OSError:
            return ""


class MapTree:
    """A tree as a JSON map of path to content, and of path to the errno that reading gives."""

    def __init__(
        self, files: Mapping[str, object], errors: Mapping[str, object], name: str = ""
    ) -> None:
        self.name = name
        self._files = {_relative(path): content for path, content in files.items()}
        self._errors = {_relative(path): str(error) for path, error in errors.items()}

    @cached_property
    def _folders(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for path in (*self._files, *self._errors):
            folder, _, name = path.rpartition("/")
            while name and name not in found[folder]:
                found[folder].add(name)
                folder, _, name = folder.rpartition("/")
        return found

    def read(self, path: str) -> bytes:
        """Return what a file holds, or raise the OSError that the map tells of."""
        path = path.removeprefix("./")
        error = self._errors.get(path)
        if error is not None:
            number = _NUMBERS.get(error, errno.EIO)
            raise OSError(number, os.strerror(number), path)
        content = self._files.get(path)
        if content is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return str(content).encode("utf-8", "surrogatepass")

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted."""
        folder = "" if folder == "." else folder.removeprefix("./")
        return tuple(sorted(self._folders.get(folder, ())))

    def link(self, path: str) -> str:
        """Return nothing: a map has no links."""
        return ""


def map_tree(plain: object, name: str = "") -> MapTree | None:
    """Return a JSON value as a tree; None where it is no map of paths.

    Raises:
        MalformedReply: it names `files` that are no map of path to content.
    """
    if not isinstance(plain, dict):
        return None
    if "files" in plain:
        files, errors = plain["files"], plain.get("read_errors", {})
        if not isinstance(files, dict) or not isinstance(errors, dict):
            raise MalformedReply(f"{name}: `files` and `read_errors` map paths; mend the capture")
        return MapTree(files, errors, name)
    if plain and all("/" in path and isinstance(text, str) for path, text in plain.items()):
        return MapTree(plain, {}, name)
    return None


def _relative(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in {"", "."})
