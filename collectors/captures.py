"""Captured tool outputs: the files of one poll, each with what stood on stderr beside it.

A tool's stderr lies in `NAME.stderr` beside `NAME` (`NAME.stderr.txt` beside `NAME.stdout.txt`). A
folder is all the files below it.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabrichealth.errors import SourceUnavailable

STDERR = ".stderr"
STDOUT = ".stdout"

MOST_FILES = 10_000
"""Files and folders of one poll; what holds more is no capture but a wrong path, such as `/`."""

MOST_BYTES = 128 * 2**20
"""Files that together hold more than this are no capture of one poll."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What one run of a tool, or one answer, said."""

    name: str
    """The file's name, without `.stderr`."""
    path: Path
    text: str
    stderr: str = ""


def captured(paths: Iterable[Path]) -> list[Captured]:
    """Return the files of one poll, sorted within a folder.

    Raises:
        SourceUnavailable: one of them cannot be read, or a folder holds too many.
    """
    files = dict.fromkeys(file for path in paths for file in _files(path))
    texts = dict(_texts(files))
    own = [file for file in files if STDERR not in file.suffixes]
    beside = {_stderr(file) for file in own}
    alone = [file for file in files if STDERR in file.suffixes and file not in beside]
    found = [Captured(file.name, file, texts[file], _beside(file, texts)) for file in own]
    return found + [
        Captured(file.name.partition(STDERR)[0], file, "", texts[file]) for file in alone
    ]


def files_below(folder: Path) -> list[Path]:
    """Return the files below a folder, sorted; links to folders are not followed.

    What cannot be looked at (a file or a folder) is among them, and says so when it is read.

    Raises:
        SourceUnavailable: there are more than any poll leaves.
    """
    found: list[Path] = []
    closed: list[OSError] = []
    seen = 0
    for at, folders, names in os.walk(folder, onerror=closed.append):
        seen += len(folders) + len(names)
        if seen > MOST_FILES:
            raise SourceUnavailable(
                f"{folder}: more than {MOST_FILES} files and folders, no capture of one poll; "
                "give the folder that holds the captured files"
            )
        found += [file for name in names if may_be_file(file := Path(at, name))]
    return sorted([*found, *(Path(os.fsdecode(wrong.filename)) for wrong in closed)])


def may_be_file(path: Path) -> bool:
    """Return whether a path is a file, or cannot be looked at; a pipe or socket is none."""
    try:
        return path.is_file()
    except OSError:
        return True


def content(file: Path, most: int = MOST_BYTES) -> bytes:
    """Return what a file holds, whatever its size is said to be.

    Raises:
        OSError: it cannot be read, is a pipe, socket or device, or holds more than `most` bytes.
    """
    # a pipe would wait for a writer, and a device never ends
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "a folder, pipe, socket or device, no file")
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            held = opened.read(most + 1)
    finally:
        os.close(descriptor)
    if len(held) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 10} KiB, no capture")
    return held


def _files(path: Path) -> list[Path]:
    return files_below(path) if path.is_dir() else [path]


def _beside(file: Path, texts: Mapping[Path, str]) -> str:
    stderr = _stderr(file)
    if stderr in texts:
        return texts[stderr]
    return next((text for _, text in _texts([stderr])), "") if stderr.is_file() else ""


def _stderr(file: Path) -> Path:
    if STDOUT in file.suffixes:
        return file.with_name(file.name.replace(STDOUT, STDERR))
    return file.with_name(file.name + STDERR)


def _texts(files: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    room = MOST_BYTES
    for file in files:
        try:
            held = content(file, MOST_BYTES)
        except OSError as wrong:
            raise SourceUnavailable(f"{file}: cannot be read ({wrong.strerror})") from None
        room -= len(held)
        if room < 0:
            raise SourceUnavailable(
                f"{file}: with the files before it more than {MOST_BYTES >> 20} MiB, no capture of "
                "one poll; give the folder that holds the captured files"
            )
        yield file, held.decode("utf-8", "replace")
