"""A copy made while others write is whole, and goes on where it was put in place."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fabrichealth.catalogue.ports import RX_BYTES
from fabrichealth.errors import StoreError
from fabrichealth.store import backup
from fabrichealth.store.backup import copy_database, copy_store
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.journal import SqliteJournal
from tests.end_to_end.processes import until
from tests.fabrichealth.store_samples import poll
from tests.fabrichealth.terminal import Terminal


class Writer:
    """Appends, folds and keeps house in a thread, new series too, as fast as it can."""

    def __init__(self, folder: Path) -> None:
        self.store = EmbeddedStore.open(folder)
        self.journal = SqliteJournal.open(folder.parent / "journal.db")
        self.kept = -1
        self.noted = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        at = 0
        while not self._stop.is_set():
            table = self.store.table
            self.store.append([poll(table, target, float(at)) for target in range(at // 50 + 1)])
            self.kept = at
            if at % 20 == 0:
                self.noted = self.journal.append("event", float(at), {"at": at})
            if at % 11 == 0:
                self.store.fold_now()
            self.store.maintain(0.002)
            at += 1

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self.store.close()
        self.journal.close()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    one = Writer(tmp_path / "state/series")
    yield one
    one.close()


def seconds(store: EmbeddedStore) -> set[int]:
    """Return the times of the readings of the first series, whose values are held to be right."""
    window = store.window(RX_BYTES, until=1e6, seconds=1e6 + 1)
    row = window.row("leaf-0", "Ethernet0")
    assert row is not None
    there = ~np.isnan(window.values)
    assert (window.values[there] == window.times[there] * 1e9).all()
    times = window.at[window.clock[row]]
    return set(times[~np.isnan(times)].astype(int).tolist())


def test_copies_made_under_load_hold_all_that_was_kept_before_and_go_on(
    writer: Writer, tmp_path: Path
) -> None:
    before = []
    for number in range(6):
        until(lambda: writer.kept >= 40 * (number + 1), "readings")  # noqa: B023 - called at once
        before.append((writer.kept, writer.noted))
        copy_store(tmp_path / "state/series", tmp_path / f"copy-{number}/series")
        copy_database(tmp_path / "state/journal.db", tmp_path / f"copy-{number}/journal.db")
    writer.close()
    for number, (kept, noted) in enumerate(before):
        store = EmbeddedStore.open(tmp_path / f"copy-{number}/series")
        assert seconds(store) >= set(range(kept + 1))
        for at in range(10_000, 10_050):
            store.append([poll(store.table, 0, float(at))])
        store.fold_now()
        assert seconds(store) >= {*range(kept + 1), *range(10_000, 10_050)}
        store.close()
        journal = SqliteJournal.open(tmp_path / f"copy-{number}/journal.db")
        assert [entry.position for entry in journal.since(0)][-1] >= noted
        journal.append("event", 10_000.0, {})
        journal.close()


def test_a_copy_that_could_lose_its_newest_readings_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EmbeddedStore.open(tmp_path / "series")
    store.append([poll(store.table, 0, 0.0)])
    found = backup._copy_logs
    told: list[int] = []

    def late(folder: Path, into: Path) -> int:
        last = found(folder, into)
        if not told:  # between the copy of the logs and that of the database
            store.fold_now()
            store.append([poll(store.table, 0, 1.0)])
            store._database.rows("INSERT OR REPLACE INTO folded VALUES (1, 2)")
        told.append(last)
        return last

    monkeypatch.setattr(backup, "_copy_logs", late)
    copy_store(tmp_path / "series", tmp_path / "copy")
    store.close()
    assert len(told) == 2
    assert (tmp_path / "copy").is_dir()


def test_where_nothing_is_nothing_is_copied(tmp_path: Path, terminal: Terminal) -> None:
    with pytest.raises(StoreError, match="nothing there yet"):
        copy_store(tmp_path, tmp_path / "copy")
    (tmp_path / "site.yaml").write_text("state: state\ntargets: []\n")
    said = terminal("backup", "-c", tmp_path / "site.yaml", tmp_path / "copy")
    assert said.status == 1
    assert "nothing there yet to back up" in said.err
    assert not (tmp_path / "copy").exists()
    (tmp_path / "copy").mkdir()
    assert terminal("backup", "-c", tmp_path / "site.yaml", tmp_path / "copy").status == 2


def test_a_site_is_restored_from_its_copy(
    writer: Writer, tmp_path: Path, terminal: Terminal
) -> None:
    (tmp_path / "site.yaml").write_text("state: state\ntargets: []\n")
    (tmp_path / "state/ledger.json").write_text("{}")
    (tmp_path / "state/remedies.json").write_text("[]")
    until(lambda: writer.kept >= 100, "readings")
    said = terminal("backup", "-c", tmp_path / "site.yaml", tmp_path / "copy")
    assert (said.status, said.err) == (0, "")
    names = [line.split()[0] for line in said.out.splitlines()]
    assert names == [
        "ledger.json",
        "remedies.json",
        "journal.db",
        "series",
        f"{tmp_path / 'copy'}:",
    ]
    writer.close()
    shutil.rmtree(tmp_path / "state")
    (tmp_path / "copy").rename(tmp_path / "state")
    store = EmbeddedStore.open(tmp_path / "state/series")
    assert seconds(store) >= set(range(101))
    store.close()
