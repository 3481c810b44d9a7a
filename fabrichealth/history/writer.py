"""Writer: a store as VictoriaMetrics JSON lines, the form that `read` takes."""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

import numpy as np
import orjson

from fabrichealth.errors import SiteError
from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable, Window

SPAN = 3600.0
"""Seconds of one metric in memory at a time; each series gets a line for each."""


class Holds(Protocol):
    """What a history is written from; every store is one."""

    @property
    def table(self) -> SeriesTable:
        """Names of series."""
        ...

    def window(self, metric: Metric, until: float, seconds: float) -> Window:
        """Return what was read in (until - seconds, until]."""
        ...


def write(
    store: Holds, path: Path, start: float, end: float, metrics: Sequence[Metric] | None = None
) -> int:
    """Write what a store holds in (start, end] (unix seconds); return how many samples.

    Gzipped where the name ends in `.gz`. The file appears whole or not at all.

    Raises:
        SiteError: the file cannot be written.
    """
    many = 0
    try:
        with _made(path) as file:
            for metric in metrics or store.table.metrics():
                until = start
                while until < end:
                    until, since = min(until + SPAN, end), until
                    window = store.window(metric, until, until - since)
                    for line, samples in _lines(window):
                        file.write(line)
                        many += samples
    except OSError as wrong:
        raise SiteError(
            f"{path}: cannot be written ({wrong.strerror}); check room and rights"
        ) from None
    return many


@contextmanager
def _made(path: Path) -> Iterator[IO[bytes]]:
    """Write beside the place and move there in the end."""
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", compresslevel=5, fileobj=raw, mtime=0) as packed:
                    yield packed  # type: ignore[misc]  # a GzipFile is as good as a file here
            else:
                yield raw
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _lines(window: Window) -> Iterator[tuple[bytes, int]]:
    """Yield (line, samples) of each row."""
    times = window.times
    there = ~np.isnan(times)
    for row in range(len(window)):
        mine = there[row]
        labels = zip(window.metric.labels, window.labels(row), strict=True)
        plain = {
            "metric": {"__name__": str(window.metric), **{k: v for k, v in labels if v}},
            "values": np.ascontiguousarray(window.values[row][mine]),
            "timestamps": np.rint(times[row][mine] * 1e3).astype(np.int64),
        }
        yield (
            orjson.dumps(plain, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE),
            int(mine.sum()),
        )
