"""What the embedded store promises about kills, full disks, second processes and strangers."""

import ctypes
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import RX_BYTES
from fabrichealth.errors import StoreError, StoreReadOnly
from fabrichealth.model import Batch
from fabrichealth.store.embedded import EmbeddedStore
from tests.fabrichealth.store_samples import poll, polls

WRITER = """
import sys
from pathlib import Path
from fabrichealth.store.embedded import EmbeddedStore
from tests.fabrichealth.store_samples import poll
store = EmbeddedStore.open(Path(sys.argv[1]))
start = int(sys.argv[2])
for at in range(start, start + 10**6):
    store.append([poll(store.table, target, float(at)) for target in range(at % 7 + 1)])
    print(at, flush=True)
    if at % 11 == 0:
        store.fold_now()
    store.maintain(0.002)
"""


@contextmanager
def writer(folder: Path, start: int) -> Iterator[subprocess.Popen[str]]:
    """Run a process that appends seconds from `start` on and says each one it has kept."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(start)], stdout=subprocess.PIPE, text=True
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def acknowledged(child: subprocess.Popen[str], lines: int) -> list[int]:
    """Read so many acknowledgements, kill, and return all that were made."""
    assert child.stdout is not None
    seconds = [int(child.stdout.readline()) for _ in range(lines)]
    os.kill(child.pid, signal.SIGKILL)
    return seconds + [int(line) for line in child.stdout if line.endswith("\n")]


def test_a_kill_at_any_moment_loses_no_acknowledged_batch(tmp_path: Path) -> None:
    chance = random.Random(7)
    kept: list[int] = []
    for _ in range(5):
        start = max(kept, default=0) + 10
        with writer(tmp_path / "store", start) as child:
            kept += acknowledged(child, chance.randint(1, 80))
        store = EmbeddedStore.open(tmp_path / "store")
        window = store.window(RX_BYTES, until=1e6, seconds=1e6)
        row = window.row("leaf-0", "Ethernet0")
        assert row is not None
        times = window.at[window.clock[row]]
        assert set(times[~np.isnan(times)].astype(int).tolist()) >= set(kept)
        there = ~np.isnan(window.values)
        assert (window.values[there] == window.times[there] * 1e9).all()
        store.close()


def test_another_process_sees_every_acknowledged_batch_at_once(tmp_path: Path) -> None:
    with writer(tmp_path / "store", 0) as child:
        assert child.stdout is not None
        seen = [int(child.stdout.readline())]
        reader = EmbeddedStore.open(tmp_path / "store", read_only=True)
        while seen[-1] < 150:
            seen.append(int(child.stdout.readline()))
            if seen[-1] % 3 == 0:
                at, _ = reader.one(0, -1.0, 1e9)
                window = reader.window(RX_BYTES, until=1e9, seconds=1e9 + 1)
                assert set(at.astype(int).tolist()) >= set(seen)
                assert set(window.at[window.clock[0]].astype(int).tolist()) >= set(seen)
    assert reader.table.labels(0) == ("leaf-0", "Ethernet0")
    with pytest.raises(StoreError, match="read only"):
        reader.append([poll(reader.table, 0, 1.0)])
    reader.close()


def test_a_second_writer_is_told_so(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    with pytest.raises(StoreError, match="another process writes to this store"):
        EmbeddedStore.open(tmp_path)
    store.close()
    EmbeddedStore.open(tmp_path).close()


def test_what_is_no_store_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store there yet"):
        EmbeddedStore.open(tmp_path / "none", read_only=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be the store's folder"):
        EmbeddedStore.open(tmp_path / "file")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "store.sqlite").write_text("x" * 5000)
    with pytest.raises(StoreError, match="cannot be opened as a store"):
        EmbeddedStore.open(tmp_path / "text")


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    EmbeddedStore.open(tmp_path).close()
    newer = sqlite3.connect(tmp_path / "store.sqlite")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StoreError, match="newer version") as refused:
        EmbeddedStore.open(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_torn_or_damaged_entry_costs_only_itself(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    for at in (10.0, 20.0, 30.0):
        store.append([poll(store.table, 0, at)])
    store.close()
    (log,) = tmp_path.glob("head-*.log")
    raw = bytearray(log.read_bytes())
    third = len(raw) // 3
    raw[third + 80] ^= 0xFF
    log.write_bytes(raw + raw[:50])
    store = EmbeddedStore.open(tmp_path)
    store.append([poll(store.table, 0, 40.0)])
    store.close()
    store = EmbeddedStore.open(tmp_path)
    assert store.window(RX_BYTES, 40.0, 40.0).at.tolist() == [[10.0, 30.0, 40.0]]
    store.close()


def test_a_damaged_chunk_costs_only_itself(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    for start in (0.0, 100.0):
        store.append(polls(store.table, start, start + 50))
        store.fold_now()
        while store.maintain():
            pass
    store.close()
    file = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    file.execute("UPDATE chunk SET body = x'28b52ffd00' WHERE last < 100")
    file.close()
    store = EmbeddedStore.open(tmp_path)
    assert store.window(RX_POWER, 200.0, 300.0).values.shape == (4, 5)
    store.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    libc = ctypes.CDLL(None, use_errno=True)
    target = tmp_path / "disk"
    target.mkdir()
    if libc.mount(b"tmpfs", str(target).encode(), b"tmpfs", 0, b"size=4m") != 0:
        pytest.skip("no right to mount a small file system (run as root)")
    yield target
    libc.umount2(str(target).encode(), 2)


def filled_up(store: EmbeddedStore) -> float:
    """Append until the disk is full; return the time of the last poll that was kept."""
    kept = 0.0
    try:
        while True:
            store.append([poll(store.table, target, kept + 10) for target in range(200)])
            kept += 10
    except StoreReadOnly:
        return kept


def test_a_full_disk_stops_writing_and_nothing_else(small_disk: Path) -> None:
    (small_disk / "other").write_bytes(b"x" * (1 << 20))
    store = EmbeddedStore.open(small_disk / "store")
    kept = filled_up(store)
    assert store.window(RX_BYTES, 1e6, 1e6).at[0, -1] == kept
    with pytest.raises(StoreReadOnly, match="make room"):
        store.append([poll(store.table, target, kept + 10) for target in range(200)])
    store.fold_now()
    store.maintain(0.1)
    (small_disk / "other").unlink()
    store.append([poll(store.table, target, kept + 20) for target in range(200)])
    store.fold_now()
    store.maintain(0.1)
    assert store.window(RX_BYTES, 1e6, 1e6).at[0, -2:].tolist() == [kept, kept + 20]
    store.close()
    store = EmbeddedStore.open(small_disk / "store", read_only=True)
    assert store.window(RX_BYTES, 1e6, 1e6).at[0, -2:].tolist() == [kept, kept + 20]
    store.close()


def test_a_series_that_the_table_does_not_know_is_refused(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    stranger = Batch(0, 1.0, np.array([5], np.int32), np.ones(1))
    with pytest.raises(StoreError, match="table does not know"):
        store.append([stranger])
    store.close()


def test_threads_may_append_maintain_and_read_at_once(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    store.append([poll(store.table, 0, 0.0)])

    def tend() -> int:
        rounds = 0
        while not done.is_set():
            store.fold_now()
            store.maintain(0.001)
            rounds += 1
        return rounds

    def look() -> list[int]:
        return [store.window(RX_BYTES, 1e6, 2e6).values.shape[1] for _ in range(60)]

    done = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        tending, looking = pool.submit(tend), pool.submit(look)
        for at in range(1, 300):
            store.append([poll(store.table, target, float(at)) for target in range(at % 5 + 1)])
        columns = looking.result()
        done.set()
        assert tending.result() > 0
    assert columns == sorted(columns)
    assert store.window(RX_BYTES, 1e6, 2e6).at[0].tolist() == [float(at) for at in range(300)]
    store.close()
