"""Database: names, compressed chunks and what has been folded, in one SQLite file (WAL mode).

One process writes; others read whole transactions of it meanwhile.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fabrichealth.errors import StoreError, StoreReadOnly

SCHEMA = 1
APPLICATION = 0x66684442  # "fhDB", so that `file` and we know it
PAGE_BYTES = 4096
LOG_BYTES = 8 * 2**20
"""SQLite's log is moved into the file when it has grown by this."""
BUSY_MILLISECONDS = 5_000

_TABLES = """
CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,
    unit TEXT NOT NULL, labels TEXT NOT NULL);
CREATE TABLE series (first INTEGER PRIMARY KEY, many INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE clock (id INTEGER PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL);
CREATE TABLE chunk (id INTEGER PRIMARY KEY AUTOINCREMENT, tier INTEGER NOT NULL,
    metric INTEGER NOT NULL, block INTEGER NOT NULL, first REAL NOT NULL, last REAL NOT NULL,
    columns INTEGER NOT NULL, age INTEGER NOT NULL, bytes INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX chunk_place ON chunk (tier, metric, last, first, block, columns, age, bytes);
CREATE TABLE folded (metric INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE imported (metric INTEGER PRIMARY KEY, many INTEGER NOT NULL);
CREATE TABLE horizon (tier INTEGER PRIMARY KEY, since REAL NOT NULL);
CREATE TABLE cooked (metric INTEGER PRIMARY KEY, until REAL NOT NULL);
CREATE TABLE late (metric INTEGER NOT NULL, hour REAL NOT NULL, PRIMARY KEY (metric, hour));
"""
"""`chunk.age`: of equal (clock, at, series) the sample in the chunk of greater age is the later."""


class Chunk(NamedTuple):
    """One compressed grid as it goes into the database."""

    tier: int
    metric: int
    block: int
    first: float
    last: float
    columns: int
    body: bytes


class Place(NamedTuple):
    """Where a chunk stands, without its body."""

    id: int
    block: int
    first: float
    last: float
    columns: int
    age: int
    """Greater is later."""


class Database:
    """The SQLite file of a store."""

    def __init__(self, path: Path, *, write: bool) -> None:
        """Open or create the file.

        Raises:
            StoreError: not a store of ours, of a newer version, or it cannot be opened.
        """
        self.path = path
        self._age = 0
        self.unsettled = 0
        """Bytes of chunks in SQLite's log since it was last moved into the file."""
        self._noted: dict[tuple[str, Sequence[object]], list[tuple[Any, ...]]] | None = (
            {} if write else None
        )
        self._noted_after = 0
        new = not path.exists()
        if new and not write:
            raise StoreError(f"{path}: no store there yet; start the collecting process first")
        try:
            self._db = sqlite3.connect(
                path if write else f"{path.resolve().as_uri()}?mode=ro",
                uri=not write,
                isolation_level=None,
                check_same_thread=False,
                timeout=BUSY_MILLISECONDS / 1000,
            )
            self._prepare(write=write)
        except sqlite3.DatabaseError as wrong:
            raise StoreError(f"{path}: cannot be opened as a store ({wrong})") from None

    def _prepare(self, *, write: bool) -> None:
        if write:
            self._db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            self._db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
            self._db.execute("PRAGMA wal_autocheckpoint = 0")  # `checkpoint` does it in its time
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version > SCHEMA and application == APPLICATION:
            raise StoreError(
                f"{self.path}: written by a newer version (schema {version}, this one knows"
                f" {SCHEMA}); upgrade fabrichealth or name another folder under `state`"
            )
        if not tables and write:
            self._db.executescript(
                f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {APPLICATION};"
                f" PRAGMA user_version = {SCHEMA}; COMMIT;"
            )
        elif application != APPLICATION or version != SCHEMA:
            raise StoreError(f"{self.path}: not a fabrichealth store; name another folder")

        (self._age,) = self._db.execute("SELECT coalesce(max(age), 0) FROM chunk").fetchone()

    @contextmanager
    def transaction(self, mode: str = "IMMEDIATE") -> Iterator[None]:
        """Run one transaction; nothing of it is kept when it fails.

        Raises:
            StoreReadOnly: the disk is full.
            StoreError: the database is broken or locked.
        """
        try:
            self._db.execute(f"BEGIN {mode}")
            try:
                yield
            except BaseException:
                self._rollback()
                raise
            self._commit()
        except sqlite3.Error as wrong:
            raise refusal(wrong, self.path) from None

    def _commit(self) -> None:
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error:
            self._rollback()
            raise

    def _rollback(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement; return its rows.

        Raises:
            StoreError: the database is broken or locked.
        """
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as wrong:
            raise refusal(wrong, self.path) from None

    def noted(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query that is put at every turn.

        One process writes, so that it knows the answer until it has written something.

        Raises:
            StoreError: the database is broken or locked.
        """
        if self._noted is None or self._db.in_transaction:
            return self.rows(statement, values)
        if self._noted_after != self._db.total_changes:
            self._noted_after = self._db.total_changes
            self._noted.clear()
        found = self._noted.get((statement, values))
        if found is None:
            found = self._noted[statement, values] = self.rows(statement, values)
        return found

    def many(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run a statement for each row (inside a transaction)."""
        self._db.executemany(statement, rows)

    # Chunks

    def add(self, chunks: Sequence[Chunk], age: int | None = None) -> None:
        """Insert chunks (inside a transaction), as the latest ones or of a given age."""
        if age is None:
            self._age += 1
            age = self._age
        self.unsettled += sum(len(chunk.body) for chunk in chunks)
        self._db.executemany(
            "INSERT INTO chunk (tier, metric, block, first, last, columns, age, bytes, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*chunk[:-1], age, len(chunk.body), chunk.body) for chunk in chunks],
        )

    def bodies(
        self, tier: int, metric: int, start: float, end: float, block: int | None = None
    ) -> list[bytes]:
        """Return the chunks that may hold samples in (start, end], earlier made first."""
        ids = self._db.execute(
            "SELECT id FROM chunk WHERE tier = ? AND metric = ? AND last > ? AND first <= ?"
            " AND block = coalesce(?, block) ORDER BY age, id",
            (tier, metric, start, end, block),
        ).fetchall()
        return [self.body(number) for (number,) in ids]

    def body(self, number: int) -> bytes:
        """Return one chunk."""
        (body,) = self._db.execute("SELECT body FROM chunk WHERE id = ?", (number,)).fetchone()
        return bytes(body)

    def places(self, tier: int, metric: int, start: float, end: float) -> list[Place]:
        """Return where the chunks stand that may hold samples in (start, end], by block and age."""
        rows = self._db.execute(
            "SELECT id, block, first, last, columns, age FROM chunk"
            " WHERE tier = ? AND metric = ? AND last > ? AND first <= ? ORDER BY block, age, id",
            (tier, metric, start, end),
        )
        return [Place(*row) for row in rows]

    def delete(self, ids: Sequence[int]) -> None:
        """Delete chunks (inside a transaction)."""
        self._db.executemany("DELETE FROM chunk WHERE id = ?", [(number,) for number in ids])

    def expired(self, tier: int, before: float, limit: int) -> list[int]:
        """Return some chunks of a tier whose newest sample is older than `before`."""
        rows = self._db.execute(
            "SELECT id FROM chunk WHERE tier = ? AND metric IN (SELECT id FROM metric)"
            " AND last <= ? LIMIT ?",
            (tier, before, limit),
        )
        return [number for (number,) in rows]

    def oldest(self, tier: int, limit: int) -> list[tuple[int, float, int]]:
        """Return (id, newest time stamp, bytes) of the chunks of a tier that end first."""
        return self._db.execute(
            "SELECT id, last, bytes FROM chunk WHERE tier = ? ORDER BY last LIMIT ?", (tier, limit)
        ).fetchall()

    def span(self) -> tuple[float, float] | None:
        """Return the oldest and newest time stamp in chunks."""
        ((first, last),) = self.noted("SELECT min(first), max(last) FROM chunk")
        return None if first is None else (first, last)

    def span_of(self, tier: int, metric: int) -> tuple[float, float] | None:
        """Return the oldest and newest time stamp of one metric in a tier."""
        ((first, last),) = self.noted(
            "SELECT min(first), max(last) FROM chunk WHERE tier = ? AND metric = ?", (tier, metric)
        )
        return None if first is None else (first, last)

    def first_after(self, tier: int, metric: int, after: float) -> float | None:
        """Return a time stamp after this one, the first that a chunk of the metric begins with."""
        (first,) = self._db.execute(
            "SELECT min(first) FROM chunk WHERE tier = ? AND metric = ? AND last > ?",
            (tier, metric, after),
        ).fetchone()
        return None if first is None else max(float(first), after)

    # Housekeeping

    @property
    def pages(self) -> tuple[int, int]:
        """Pages in use, and free ones in the file."""
        (every,) = self._db.execute("PRAGMA page_count").fetchone()
        (free,) = self._db.execute("PRAGMA freelist_count").fetchone()
        return every - free, free

    def checkpoint(self) -> None:
        """Move what was committed from the log into the file; readers are not waited for."""
        self.rows("PRAGMA wal_checkpoint(PASSIVE)")
        self.unsettled = 0

    def shrink(self, pages: int) -> None:
        """Give some free pages back to the file system."""
        with self.transaction():
            self._db.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def refusal(wrong: sqlite3.Error, path: Path) -> StoreError:
    """Return the error of this house for one of SQLite's."""
    code = getattr(wrong, "sqlite_errorcode", 0) or 0
    if code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreReadOnly(
            f"{path}: cannot be written ({wrong}); make room, writing resumes by itself"
        )
    return StoreError(f"{path}: {wrong}")
