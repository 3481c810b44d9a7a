"""A folder of tool outputs: which files are of which device and which moment.

Subfolders are moments if their names are numbers (`0001`, unix seconds) or times
(`2026-01-31T04:05`, `20260131-0405`), else devices; either may hold the other. Files that lie
flat are of the folder's own name, and of one moment unless their dates fall apart.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fabrichealth.errors import SiteError, UsageError

APART = 120.0
"""Files of one device whose dates lie further apart than this (seconds) are of two moments."""

EPOCH = 1e9
"""A number from here on is unix seconds; a smaller one only counts."""

STAMP = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:[T_. -]?(\d\d)[:.h-]?(\d\d)(?:[:.m-]?(\d\d))?)?Z?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Visit:
    """What was taken of one device at one moment."""

    device: str
    files: tuple[Path, ...]
    order: float
    """By this the moments are in order."""
    at: float | None
    """Unix seconds as a folder's name says; None where only the files can tell."""


def visits(folder: Path) -> list[Visit]:
    """Return the visits of a folder, in order of time.

    Raises:
        SiteError: it cannot be listed.
        UsageError: there is no file in it.
    """
    try:
        found = sorted(_visits(folder, _name(folder), None), key=lambda one: one.order)
    except OSError as wrong:
        raise SiteError(f"{wrong.filename}: cannot be listed ({wrong.strerror})") from None
    if not found:
        raise UsageError(f"{folder}: holds no file; give a folder of what the tools printed")
    return found


def _visits(folder: Path, device: str, moment: float | None) -> Iterator[Visit]:
    entries = [one for one in sorted(folder.iterdir()) if not one.name.startswith(".")]
    files = [one for one in entries if one.is_file() and one.suffix != ".stderr"]
    if moment is None:
        for group in _apart(files):
            yield Visit(device, tuple(group), _dated(group), None)
    elif files:
        told = moment if moment >= EPOCH else None
        yield Visit(device, tuple(files), moment, told)
    for entry in entries:
        if entry.is_symlink() and entry.is_dir():
            continue  # it may lead back here
        if entry.is_dir():
            said = moment_of(entry.name)
            if said is None:
                yield from _visits(entry, _name(entry), moment)
            else:
                yield from _visits(entry, device, said)


def _name(folder: Path) -> str:
    """Return the name of a folder's device; what is no UTF-8 in it becomes `_`."""
    name = folder.resolve().name.replace("--", "-_")
    return "".join("_" if "\ud800" <= one <= "\udfff" else one for one in name) or "device"


def moment_of(name: str) -> float | None:
    """Return when a folder of this name was filled (unix seconds, UTC), or its number; or None."""
    if re.fullmatch(r"\d{1,7}|\d{9,10}(\.\d+)?", name, re.ASCII):
        return float(name)
    found = STAMP.fullmatch(name)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _apart(files: Iterable[Path]) -> list[list[Path]]:
    """Return files in groups by their dates."""
    groups: list[list[Path]] = []
    last = float("-inf")
    for at, file in sorted((file.stat().st_mtime, file) for file in files):
        if at - last > APART:
            groups.append([])
        groups[-1].append(file)
        last = at
    return groups


def _dated(files: Iterable[Path]) -> float:
    return max(file.stat().st_mtime for file in files)
