"""SqliteJournal: events and incidents in the order in which they became known.

One file; each append is a transaction of its own that has reached the disk when the call
returns, because there are few of them and each one matters. Other processes read meanwhile.
"""

import sqlite3
import threading
from pathlib import Path
from typing import Any, Self

import orjson

from fabrichealth.errors import StoreError
from fabrichealth.store.database import BUSY_MILLISECONDS, refusal
from fabrichealth.store.protocol import Entry

SCHEMA = 1
APPLICATION = 0x66684A4E  # "fhJN"

_TABLE = """
CREATE TABLE entry (position INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL,
    kind TEXT NOT NULL, body BLOB NOT NULL);
"""


class SqliteJournal:
    """See `fabrichealth.store.protocol.Journal`; `open` is the way in."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._read_only = read_only
        if read_only and not path.exists():
            raise StoreError(f"{path}: no journal there yet; start the collecting process first")
        try:
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=ro" if read_only else path,
                uri=read_only,
                isolation_level=None,
                check_same_thread=False,
                timeout=BUSY_MILLISECONDS / 1000,
            )
            self._prepare()
        except (OSError, sqlite3.Error) as wrong:
            raise StoreError(f"{path}: cannot be opened as a journal ({wrong})") from None

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Open the journal in a file; the writer creates it if it is not there.

        Raises:
            StoreError: it is no journal, a newer version wrote it, or there is none to read.
        """
        return cls(path, read_only=read_only)

    def _prepare(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == APPLICATION and version > SCHEMA:
            raise StoreError(
                f"{self._path}: written by a newer version (schema {version}, this one knows"
                f" {SCHEMA}); upgrade fabrichealth"
            )
        if not tables and not self._read_only:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(
                f"BEGIN IMMEDIATE; {_TABLE} PRAGMA application_id = {APPLICATION};"
                f" PRAGMA user_version = {SCHEMA}; COMMIT;"
            )
        elif (application, version) != (APPLICATION, SCHEMA):
            raise StoreError(f"{self._path}: not a fabrichealth journal; name another file")
        self._db.execute("PRAGMA synchronous = FULL")

    def append(self, kind: str, at: float, body: dict[str, Any]) -> int:
        """Keep one object durably; return its position.

        Raises:
            StoreReadOnly: the disk is full.
            StoreError: opened to read only, or the body is not JSON.
        """
        if self._read_only:
            raise StoreError(f"{self._path}: opened to read only")
        try:
            raw = orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
        except TypeError as wrong:
            raise StoreError(f"{self._path}: an entry must be JSON ({wrong})") from None
        with self._lock:
            try:
                made = self._db.execute(
                    "INSERT INTO entry (at, kind, body) VALUES (?, ?, ?)", (at, kind, raw)
                )
            except sqlite3.Error as wrong:
                raise refusal(wrong, self._path) from None
        return int(made.lastrowid or 0)

    def since(self, position: int, kind: str | None = None, limit: int = 10_000) -> list[Entry]:
        """Return entries after a position, oldest first."""
        with self._lock:
            try:
                rows = self._db.execute(
                    "SELECT position, at, kind, body FROM entry"
                    " WHERE position > ? AND kind = coalesce(?, kind) ORDER BY position LIMIT ?",
                    (position, kind, limit),
                ).fetchall()
            except sqlite3.Error as wrong:
                raise refusal(wrong, self._path) from None
        return [Entry(number, at, what, orjson.loads(body)) for number, at, what, body in rows]

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._db.close()
