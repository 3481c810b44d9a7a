"""Kills a writing store over and over and counts acknowledged readings that are gone.

`python -m benchmarks.store --kills 100`; this module alone is the writer that gets killed.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.store_fleet import METRICS, PERIOD, SERIES, START, Fleet
from fabrichealth.store.embedded import EmbeddedStore

TARGETS = 20


def write(folder: Path, poll: int) -> None:
    """Append from a poll on for ever, folding all the time; say each second that was kept."""
    store = EmbeddedStore.open(folder)
    fleet = Fleet(TARGETS, seed=poll)
    series, clocks = fleet.intern(store.table)
    while True:
        for second in range(10):
            said = fleet.second(poll, second, series, clocks)
            store.append(said.batches)
            for at in said.at:
                print(repr(float(at)))
            print("kept", flush=True)
            store.maintain(0.002)
        poll += 1
        if poll % 5 == 0:
            store.fold_now()


def kills(folder: Path, times: int) -> tuple[int, int]:
    """Return how many acknowledged polls there were, and how many of them were lost."""
    chance = random.Random(times)
    acknowledged: set[float] = set()
    lost, poll = 0, 0
    for number in range(times):
        child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.store_kills", str(folder), str(poll)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        lines = [child.stdout.readline()]
        time.sleep(chance.random() * 0.4)
        os.kill(child.pid, signal.SIGKILL)
        lines += child.stdout.readlines()
        child.wait()
        child.stdout.close()
        whole = len(lines) - lines[::-1].index("kept\n") if "kept\n" in lines else 0
        acknowledged |= {float(line) for line in lines[:whole] if line != "kept\n"}
        store = EmbeddedStore.open(folder)
        there = set()
        for metric in METRICS:
            window = store.window(metric, START + 1e9, 1e9)
            assert len(window) == TARGETS * SERIES // len(METRICS)
            times_there = window.at[~np.isnan(window.at)]
            gone = acknowledged - set(times_there.tolist())
            lost += len(gone)
            there |= set(times_there.tolist())
        store.close()
        poll = round((max(there) - START) / PERIOD) + 2
        if number % 10 == 9:
            print(f"  {number + 1} kills, {len(acknowledged)} polls acknowledged, {lost} lost")
    return len(acknowledged), lost


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
