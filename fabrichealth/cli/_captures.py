"""Captures on disk: which polls a path holds, in order, and when each was taken (contract 1)."""

import re
from pathlib import Path

from collectors.source import Source


def in_order(path: Path) -> list[list[Path]]:
    """Return the polls in a path: a file, a folder of numbered polls, or a folder that is one."""
    if path.is_dir():
        try:
            entries = sorted(path.iterdir())
        except OSError:
            entries = []  # what may not be listed says so when it is read
        numbered = [entry for entry in entries if re.fullmatch(r"\d{4}", entry.name)]
        if numbered:
            return [[entry] for entry in numbered]
    return [[path]]


def taken_at(source: Source, files: list[Path]) -> float:
    """Return when a capture was taken (unix seconds): as stamped inside, or as its file is dated.

    Raises:
        OSError: a file of it is not there any more.
    """
    stamped = source.moment(files)
    if stamped is not None:
        return stamped
    return max(file.stat().st_mtime for path in files for file in _dated(path))


def _dated(path: Path) -> list[Path]:
    """Return what a capture's time is read from: the file, or the files of a flat folder."""
    try:
        inside = [file for file in path.iterdir() if file.is_file()] if path.is_dir() else []
    except OSError:
        inside = []  # as above
    return inside or [path]
