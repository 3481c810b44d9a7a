"""Captured tool outputs: the files of one poll, each with what stood on stderr beside it.

A tool's stderr lies in `NAME.stderr` beside `NAME` (`NAME.stderr.txt` beside `NAME.stdout.txt`). A
folder is all the files below it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fabrichealth.errors import SourceUnavailable

STDERR = ".stderr"
STDOUT = ".stdout"

MOST_FILES = 10_000
"""Files of one poll; a folder with more is no capture but a wrong path, such as `/`."""

MOST_BYTES = 256 * 2**20
"""A file beyond this size is no capture of one poll."""


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
        SourceUnavailable: one of them cannot be read.
    """
    files = dict.fromkeys(file for path in paths for file in _files(path))
    own = [file for file in files if STDERR not in file.suffixes]
    beside = {_stderr(file) for file in own}
    alone = [file for file in files if STDERR in file.suffixes and file not in beside]
    found = [Captured(file.name, file, _text(file), _beside(file)) for file in own]
    return found + [
        Captured(file.name.partition(STDERR)[0], file, "", _text(file)) for file in alone
    ]


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = (entry for entry in path.rglob("*") if entry.is_file())
    yield from sorted(islice(found, MOST_FILES))


def _beside(file: Path) -> str:
    stderr = _stderr(file)
    return _text(stderr) if stderr.is_file() else ""


def _stderr(file: Path) -> Path:
    if STDOUT in file.suffixes:
        return file.with_name(file.name.replace(STDOUT, STDERR))
    return file.with_name(file.name + STDERR)


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise SourceUnavailable(f"{file}: larger than {MOST_BYTES >> 20} MiB, no capture")
        return file.read_bytes().decode("utf-8", "replace")
    except OSError as wrong:
        raise SourceUnavailable(f"{file}: cannot be read ({wrong.strerror})") from None
