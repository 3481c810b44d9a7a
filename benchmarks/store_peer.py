"""The peer of the store's benchmark: DuckDB with one narrow table, fed the same seconds.

Inserts go the fastest way that Python has without further packages: `INSERT INTO .. SELECT * FROM`
a dict of numpy columns, which DuckDB scans without copying, one transaction a second.
"""

import time
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from benchmarks.store_fleet import METRICS, PORTS, SERIES, START, Fleet
from fabrichealth.model import Floats, SeriesTable

TABLE = "CREATE TABLE sample (clock INTEGER, at_ DOUBLE, metric SMALLINT, series INTEGER, v DOUBLE)"
MATRIX = "SELECT series, clock, at_, v FROM sample WHERE metric = ? AND at_ > ? AND at_ <= ?"
ONE = (
    "SELECT at_, v FROM sample"
    " WHERE metric = ? AND series = ? AND at_ > ? AND at_ <= ? ORDER BY at_"
)


class Peer:
    """DuckDB in one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = duckdb.connect(str(path))
        self._db.execute(TABLE)

    def fill(self, fleet: Fleet, polls: int) -> list[float]:
        """Insert polls of a fleet; return the seconds that each insert took."""
        series, clocks = fleet.intern(SeriesTable())
        metric = np.repeat(np.arange(len(METRICS), dtype=np.int16), PORTS)
        took = []
        for poll in range(polls):
            for second in range(10):
                said = fleet.second(poll, second, series, clocks)
                many = len(said.target)
                columns = {
                    "clock": np.repeat(clocks[said.target], SERIES),
                    "at_": np.repeat(said.at, SERIES),
                    "metric": np.tile(metric, many),
                    "series": series[said.target].ravel(),
                    "v": said.values.ravel(),
                }
                started = time.perf_counter()
                self._db.execute("INSERT INTO sample SELECT * FROM columns")
                took.append(time.perf_counter() - started)
                del columns
        return took

    def matrix(self, metric: int, until: float, seconds: float, *, sort: bool) -> Floats:
        """Return the window of a metric, dense and right-aligned by clock, [series, poll]."""
        order = " ORDER BY series, at_" if sort else ""
        rows = self._db.execute(MATRIX + order, [metric, until - seconds, until]).fetchnumpy()
        series, at, values = rows["series"], rows["at_"], rows["v"]
        if not sort:
            ordered = np.lexsort((at, series))
            series, values = series[ordered], values[ordered]
        new = np.flatnonzero(np.diff(series, prepend=-1))
        count = np.diff(new, append=len(series))
        width = int(count.max(initial=0))
        matrix = np.full((len(new), width), np.nan)
        row = np.repeat(np.arange(len(new)), count)
        column = np.arange(len(series)) - np.repeat(new, count) + np.repeat(width - count, count)
        matrix[row, column] = values
        return matrix

    def one(self, metric: int, series: int, start: float, end: float) -> NDArray[np.float64]:
        """Return one series, [at and value, sample]."""
        rows = self._db.execute(ONE, [metric, series, start, end]).fetchnumpy()
        return np.array([rows["at_"], rows["v"]])

    def size(self) -> int:
        """Bytes in files after a checkpoint."""
        self._db.execute("CHECKPOINT")
        log = self._path.with_name(self._path.name + ".wal")
        return self._path.stat().st_size + (log.stat().st_size if log.exists() else 0)


def best(call: object, times: int) -> float:
    """Return the least seconds that a call took."""
    assert callable(call)
    took = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        took.append(time.perf_counter() - started)
    return min(took)


def measure(folder: Path, targets: int, polls: int, window: int) -> dict[str, float]:
    """Fill a database and ask it; every figure is in seconds but for the bytes."""
    peer = Peer(folder / "peer.duckdb")
    took = peer.fill(Fleet(targets), polls)
    until = START + polls * 10.0
    span = window * 10.0
    plans = [best(lambda s=s: peer.matrix(4, until, span, sort=s), 3) for s in (True, False)]
    series, _ = Fleet(targets).intern(SeriesTable())
    middle = int(series[targets // 2, 4 * PORTS])
    one = best(lambda: peer.one(4, middle, START, until), 3)
    samples = targets * SERIES * polls
    return {
        "append": sum(took),
        "append_max": max(took),
        "window": min(plans),
        "one": one,
        "bytes": peer.size() / samples,
    }
