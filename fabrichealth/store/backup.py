"""Backup: a copy of the embedded store and of the journal, whole, while others write to them.

The log files are copied first, then the database as of one moment (SQLite's online backup). What
was folded meanwhile is in both, as after a kill, and told by its number. Only if a file that began
after the copy is partly folded already would its rest be missing: then the copy is made again.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fabrichealth.errors import StoreError
from fabrichealth.store.database import BUSY_MILLISECONDS, refusal
from fabrichealth.store.head import Segment

STORE = "store.sqlite"
LOGS = "head-*.log"

TRIES = 20
"""A log file lives for minutes and is folded in seconds: the second try is one too many already."""


def copy_store(folder: Path, into: Path) -> None:
    """Copy the embedded store in a folder into another, which is made.

    Raises:
        StoreError: there is no store, the copy cannot be written, or the disk is too slow for it.
    """
    with _read(folder / STORE) as source:
        for _ in range(TRIES):
            with _written(into):
                shutil.rmtree(into, ignore_errors=True)
                into.mkdir(parents=True)
                last = _copy_logs(folder, into)
            with _moment(source):
                whole, most = source.execute(
                    "SELECT coalesce(max(number) FILTER (WHERE metric = 0), 0),"
                    " coalesce(max(number), 0) FROM folded"
                ).fetchone()
                if most <= max(whole, last):
                    _copy(source, into / STORE)
                    return
    raise StoreError(f"{into}: the store is folded faster than it is copied; take a faster disk")


def copy_database(path: Path, into: Path) -> None:
    """Copy one SQLite file, the journal's for example, as of one moment.

    Raises:
        StoreError: it is not there, or the copy cannot be written.
    """
    with _read(path) as source:
        _copy(source, into)


def _copy_logs(folder: Path, into: Path) -> int:
    """Copy the log files, and return the number of the newest whole entry."""
    last = 0
    for path in sorted(folder.glob(LOGS)):
        with suppress(FileNotFoundError):  # folded and deleted since it was listed
            shutil.copyfile(path, into / path.name)
            segment = Segment.open(into / path.name, write=False)
            last = max(last, segment.last)
            segment.close()
    return last


def _copy(source: sqlite3.Connection, into: Path) -> None:
    """Copy what a connection sees; the copy is checked, and is on the disk when this returns."""
    with _written(into):
        target = sqlite3.connect(into, isolation_level=None)
        try:
            source.backup(target)
            (said,) = target.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as wrong:
            raise refusal(wrong, into) from None
        finally:
            target.close()
        if said != "ok":
            raise StoreError(f"{into}: the copy is damaged ({said}); is the disk sound?")
        with into.open("rb") as file:
            os.fsync(file.fileno())


@contextmanager
def _read(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database of ours to read."""
    if not path.exists():
        raise StoreError(f"{path}: nothing there yet to back up; start the daemon first")
    address = f"{path.resolve().as_uri()}?mode=ro"
    wait = BUSY_MILLISECONDS / 1000
    try:
        found = sqlite3.connect(address, uri=True, isolation_level=None, timeout=wait)
    except sqlite3.Error as wrong:
        raise refusal(wrong, path) from None
    try:
        yield found
    except sqlite3.Error as wrong:
        raise refusal(wrong, path) from None
    finally:
        found.close()


@contextmanager
def _moment(source: sqlite3.Connection) -> Iterator[None]:
    """Let a connection see one moment, however long it is read."""
    source.execute("BEGIN")
    try:
        yield
    finally:
        source.execute("ROLLBACK")


@contextmanager
def _written(into: Path) -> Iterator[None]:
    try:
        yield
    except OSError as wrong:
        raise StoreError(
            f"{into}: cannot be written ({wrong.strerror}); give a folder with room"
        ) from None
