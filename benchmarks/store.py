"""The embedded store against DuckDB, fed the same seconds in the same run.

`python -m benchmarks.store [--targets 1000 --polls 2160] [--quick] [--kills N]`

Each engine runs in a process of its own. Readings are handed over a second at a time (group
commit). Ours is asked cold (first call of a fresh process; the files are in the page cache) and
warm (the judge's case: nearly the same window again, ten seconds later), and by a second process
while the first one writes. DuckDB is asked three times in the process that wrote; the best counts.
Ratios are DuckDB's time over ours.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.store_fleet import METRICS, PORTS, SERIES, START, Fleet
from benchmarks.store_kills import kills
from benchmarks.store_peer import best, measure
from fabrichealth.store.embedded import EmbeddedStore

WINDOW = 60
"""Polls in the window asked for."""

MAINTAIN = 0.01
"""Seconds of maintenance after each append."""

ASKED = METRICS[4]


def writes(folder: Path, targets: int, polls: int) -> dict[str, float]:
    """Append everything; say in a shared file what is acknowledged."""
    store = EmbeddedStore.open(folder / "store")
    fleet = Fleet(targets)
    series, clocks = fleet.intern(store.table)
    shared = np.memmap(folder / "acknowledged", np.float64, "r+", shape=(1,))
    appends, rounds = [], []
    for poll in range(polls):
        for second in range(10):
            said = fleet.second(poll, second, series, clocks)
            started = time.perf_counter()
            store.append(said.batches)
            appended = time.perf_counter()
            store.maintain(MAINTAIN)
            rounds.append(time.perf_counter() - appended)
            appends.append(appended - started)
            shared[0] = said.at.max(initial=shared[0])
    size = store.size
    middle = int(series[targets // 2, 4 * PORTS])
    until = START + polls * 10.0
    one = best(lambda: store.one(middle, START, until), 3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    store.close()
    return {
        "append": sum(appends),
        "append_median": float(np.median(appends)),
        "append_max": max(appends),
        "first": appends[0],
        "maintain": sum(rounds),
        "maintain_max": max(rounds),
        "one": one,
        "bytes": size / (targets * SERIES * polls),
        "rss": peak,
    }


def watches(folder: Path, until: float) -> dict[str, float]:
    """Ask for the window again and again while another process writes."""
    shared = np.memmap(folder / "acknowledged", np.float64, "r", shape=(1,))
    while not (folder / "store" / "store.sqlite").exists() or not shared[0]:
        time.sleep(0.05)
    store = EmbeddedStore.open(folder / "store", read_only=True)
    took: list[float] = []
    missed = 0
    while shared[0] < until - 20.0:
        acknowledged = float(shared[0])
        started = time.perf_counter()
        window = store.window(ASKED, acknowledged, WINDOW * 10.0)
        took.append(time.perf_counter() - started)
        missed += not np.nanmax(window.at) >= acknowledged
        time.sleep(0.25)
    return {
        "passes": len(took),
        "missed": missed,
        "median": float(np.median(took)),
        "max": max(took),
    }


def asks(folder: Path, polls: int) -> dict[str, float]:
    """Ask a store at rest from a fresh process, cold and warm."""
    until = START + polls * 10.0
    started = time.perf_counter()
    store = EmbeddedStore.open(folder / "store", read_only=True)
    opened = time.perf_counter()
    window = store.window(ASKED, until - 10.0, WINDOW * 10.0)
    cold = time.perf_counter() - opened
    warm = []
    for step in range(5):
        asked = time.perf_counter()
        window = store.window(ASKED, until - 8.0 + 2 * step, WINDOW * 10.0)
        warm.append(time.perf_counter() - asked)
    return {
        "open": opened - started,
        "cold": cold,
        "warm": float(np.median(warm)),
        "rows": len(window),
        "columns": window.values.shape[1],
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def child(what: str, folder: Path, *numbers: float) -> "subprocess.Popen[str]":
    """Run one part of this file in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.store", "--part", what, "--folder", str(folder)]
    return subprocess.Popen(
        [*command, *(f"--number={number}" for number in numbers)],
        stdout=subprocess.PIPE,
        text=True,
    )


def result(process: "subprocess.Popen[str]") -> dict[str, float]:
    """Return what a part measured."""
    out, _ = process.communicate()
    assert process.returncode == 0, "a part of the benchmark failed"
    return {key: float(value) for key, value in json.loads(out).items()}


def run(targets: int, polls: int, peer_polls: int) -> None:
    """Measure both and print the figures with their aims."""
    samples = targets * SERIES * polls
    print(f"{targets} targets x {SERIES} series x {polls} polls = {samples / 1e6:.0f} M samples")
    with tempfile.TemporaryDirectory(prefix="fabrichealth-bench-") as name:
        folder = Path(name)
        np.zeros(1).tofile(folder / "acknowledged")
        watcher = child("watches", folder, START + polls * 10.0)
        ours = result(child("writes", folder, targets, polls))
        meanwhile = result(watcher)
        rest = result(child("asks", folder, polls))
        theirs = result(child("peer", folder, targets, peer_polls))
    share = peer_polls / polls
    appends = theirs["append"] / share / ours["append"]
    everything = theirs["append"] / share / (ours["append"] + ours["maintain"])
    print(f"DuckDB was fed {peer_polls} polls ({theirs['append']:.1f} s), numpy columns by INSERT")
    _line("append, ours / DuckDB, ms a second of data", ours["append"] / polls / 10 * 1e3)
    _line("  DuckDB", theirs["append"] / peer_polls / 10 * 1e3)
    _line("append, times faster (append calls)", appends, "aim 8")
    _line("append, times faster (maintenance included)", everything)
    _line(f"window {rest['rows']:.0f} x {rest['columns']:.0f}, ms, DuckDB", theirs["window"] * 1e3)
    _line("  ours cold, fresh process", rest["cold"] * 1e3)
    _line("  ours warm, second process at rest", rest["warm"] * 1e3)
    _line("  ours warm, second process while writing, median", meanwhile["median"] * 1e3)
    _line("window, times faster (warm)", theirs["window"] / rest["warm"], "aim 20")
    _line("window, times faster (cold)", theirs["window"] / rest["cold"])
    _line("one series, ms, ours", ours["one"] * 1e3)
    _line("  DuckDB", theirs["one"] * 1e3)
    note = "aim 10" if share == 1 else f"aim 10; DuckDB scaled from {peer_polls} polls"
    _line("one series, times faster", theirs["one"] / share / ours["one"], note)
    stall = max(ours["append_max"], ours["maintain_max"])
    _line("longest stall, s", stall, "aim < 1")
    _line("  first append, with the names of all series, s", ours["first"])
    _line("  DuckDB's longest insert, s", theirs["append_max"])
    _line("bytes per sample in files", ours["bytes"], "aim 2.5")
    _line("  DuckDB", theirs["bytes"])
    _line("peak memory of the writer, MiB", ours["rss"], "aim 250")
    _line("  of the reader", rest["rss"])
    passes = f"{meanwhile['passes']:.0f} windows read by a second process meanwhile"
    _line(f"{passes}; acknowledged but not seen", meanwhile["missed"], "aim 0")


def _line(what: str, number: float, note: str = "") -> None:
    print(f"{what:66} {number:10.2f}  {note}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--polls", type=int, default=2160)
    parser.add_argument("--peer-polls", type=int, default=0, help="default: as many")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--number", type=float, action="append", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part:
        _part(asked.part, asked.folder, asked.number)
    elif asked.kills:
        with tempfile.TemporaryDirectory(prefix="fabrichealth-kills-") as name:
            acknowledged, lost = kills(Path(name) / "store", asked.kills)
        print(f"{asked.kills} kills, {acknowledged} polls acknowledged, {lost} lost")
        sys.exit(lost > 0)
    else:
        polls = 120 if asked.quick else asked.polls
        run(asked.targets, polls, asked.peer_polls or polls)


def _part(what: str, folder: Path, numbers: list[float]) -> None:
    parts: dict[str, Any] = {
        "writes": lambda: writes(folder, int(numbers[0]), int(numbers[1])),
        "watches": lambda: watches(folder, numbers[0]),
        "asks": lambda: asks(folder, int(numbers[0])),
        "peer": lambda: measure(folder, int(numbers[0]), int(numbers[1]), WINDOW),
    }
    print(json.dumps(parts[what]()))


if __name__ == "__main__":
    main()
