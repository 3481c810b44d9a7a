"""What a store and a journal must do; the embedded ones and shared engines all do it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Ids, SeriesTable, Window


@dataclass(frozen=True)
class Latest:
    """Newest value of each series of a metric: `values[n]`, read at `at[n]` (unix seconds)."""

    series: Ids
    values: Floats
    at: Floats


class News(NamedTuple):
    """What is new to a reader of a metric, and the mark to ask with next time."""

    window: Window
    mark: Any


class Store(Protocol):
    """Time series by number. Calls block; async callers use a thread.

    One process writes. Others may read meanwhile and see every acknowledged batch.
    """

    @property
    def table(self) -> SeriesTable:
        """Names of series and clocks; numbers in batches are this table's."""
        ...

    def append(self, batches: Sequence[Batch]) -> None:
        """Keep batches, in one transaction; when this returns they survive a kill -9.

        Series and clocks of the table that are new are kept with them. Batches may come late
        and out of order; of equal (clock, at, series) the later one wins.

        Raises:
            StoreReadOnly: the disk is full; nothing of this call was kept.
            StoreError: the store cannot be used.
        """
        ...

    def refresh(self) -> None:
        """Learn series and clocks that the writing process has added (a reader calls this)."""
        ...

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        """Return all samples of a metric in (until - seconds, until], right-aligned in polls.

        Rows ascend by series; a series without a sample in the span has no row. Equals
        `fabrichealth.model.aligned`. With `step` (60 or 600) the downsampled tier may serve:
        one column per step, last value for counters and infos, mean for gauges.
        """
        ...

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        """Return at least what of (until - seconds, until] is new since a mark was given out.

        A mark is the store's own and good for the same metric of the same open store; `until`
        never goes back. Without one, all of the span comes; samples known already may come
        again.
        """
        ...

    def latest(self, metric: Metric, until: float, within: float) -> Latest:
        """Return the newest value of each series in (until - within, until]."""
        ...

    def one(self, series: int, start: float, end: float, step: float = 0) -> tuple[Floats, Floats]:
        """Return (at, values) of one series in (start, end], ascending, from the finest tier."""
        ...

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp held, or None if there is nothing."""
        ...

    def close(self) -> None:
        """Let go of the files; everything acknowledged is safe."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal; `position` grows by appending."""

    position: int
    at: float
    kind: str
    """event or incident."""
    body: dict[str, Any]


class Journal(Protocol):
    """Events and incidents in the order in which they became known."""

    def append(self, kind: str, at: float, body: dict[str, Any]) -> int:
        """Keep one object durably; return its position."""
        ...

    def since(self, position: int, kind: str | None = None, limit: int = 10_000) -> list[Entry]:
        """Return entries after a position, oldest first."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...
