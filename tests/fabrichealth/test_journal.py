"""The journal keeps what happened, in order, whatever happens to its process."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrichealth.errors import StoreError
from fabrichealth.store.journal import SqliteJournal

WORDS = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def test_entries_come_back_in_order_and_by_kind(tmp_path: Path) -> None:
    journal = SqliteJournal.open(tmp_path / "state" / "journal.sqlite")
    first = journal.append("event", 30.0, {"kind": "boot"})
    second = journal.append("incident", 20.0, {"incident": "i-1"})
    assert [entry.body for entry in journal.since(0)] == [{"kind": "boot"}, {"incident": "i-1"}]
    assert [entry.position for entry in journal.since(first)] == [second]
    assert [entry.at for entry in journal.since(0, "event")] == [30.0]
    assert len(journal.since(0, limit=1)) == 1


def test_positions_go_on_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    journal = SqliteJournal.open(path)
    before = journal.append("event", 1.0, {})
    journal.close()
    journal = SqliteJournal.open(path)
    assert journal.append("event", 2.0, {}) > before
    assert len(journal.since(0)) == 2


def test_another_reader_sees_each_entry_at_once(tmp_path: Path) -> None:
    journal = SqliteJournal.open(tmp_path / "journal.sqlite")
    reader = SqliteJournal.open(tmp_path / "journal.sqlite", read_only=True)
    seen = 0
    for number in range(5):
        journal.append("event", float(number), {"n": number})
        (entry,) = reader.since(seen)
        assert entry.body == {"n": number}
        seen = entry.position
    with pytest.raises(StoreError, match="read only"):
        reader.append("event", 0.0, {})


def test_what_is_no_journal_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no journal there yet"):
        SqliteJournal.open(tmp_path / "none.sqlite", read_only=True)
    (tmp_path / "text").write_text("x" * 5000)
    with pytest.raises(StoreError, match="cannot be opened as a journal"):
        SqliteJournal.open(tmp_path / "text")
    SqliteJournal.open(tmp_path / "newer").close()
    with sqlite3.connect(tmp_path / "newer") as newer:
        newer.execute("PRAGMA user_version = 9")
    newer.close()
    with pytest.raises(StoreError, match="newer version"):
        SqliteJournal.open(tmp_path / "newer")
    journal = SqliteJournal.open(tmp_path / "good")
    with pytest.raises(StoreError, match="must be JSON"):
        journal.append("event", 0.0, {"what": object()})


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(bodies=st.lists(st.dictionaries(WORDS, JSON, max_size=3), max_size=4))
def test_any_json_comes_back_as_it_was(bodies: list[dict[str, object]], tmp_path: Path) -> None:
    journal = SqliteJournal.open(tmp_path / "journal.sqlite")
    start = max((entry.position for entry in journal.since(0)), default=0)
    for body in bodies:
        journal.append("event", 0.0, body)
    assert [entry.body for entry in journal.since(start)] == bodies
    journal.close()


CHILD = """
import sys
from pathlib import Path
from fabrichealth.store.journal import SqliteJournal
journal = SqliteJournal.open(Path(sys.argv[1]))
while True:
    print(journal.append("event", 0.0, {"text": "x" * 2000}), flush=True)
"""


def test_a_kill_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    for lines in (1, 7, 40):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(lines)]
        os.kill(child.pid, signal.SIGKILL)
        acknowledged += [int(line) for line in child.stdout if line.endswith("\n")]
        child.wait()
        child.stdout.close()
        journal = SqliteJournal.open(path)
        assert {entry.position for entry in journal.since(0)} >= set(acknowledged)
        journal.close()
