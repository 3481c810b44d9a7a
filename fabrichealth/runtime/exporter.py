"""Our own /metrics: the newest value of every series that is still read.

A pod of a thousand accelerators has a million series, scraped every few seconds by two
Prometheis. So text before values is kept as bytes, values go in as arrays (`exporter_rows`), and
a page is written in pieces between which the event loop runs: no piece holds it for long.

What was not read for a while is forgotten: a series that stands still on /metrics would look
alive. How long is said per clock, for targets have their own periods.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue import METRICS
from fabrichealth.metric import PARTS, Kind, Metric
from fabrichealth.model import Batch, Floats, Ids, Labels, SeriesTable
from fabrichealth.runtime.exporter_format import Format, header, histogram
from fabrichealth.runtime.exporter_rows import ROWS, Block

LEAST = 300.0
"""Seconds for which a reading is shown at least."""

PERIODS = 5
"""Polls of a target that may fail before its readings go."""

PORTION = 1024
"""New rows that are built at a time; their labels are made here, once."""


class Exporter:
    """Takes batches, gives pages."""

    def __init__(self, table: SeriesTable) -> None:
        self._table = table
        self._values: Floats = np.empty(0)
        self._at: Floats = np.empty(0)  # -inf: forgotten, or never read
        self._clock: NDArray[np.int32] = np.empty(0, np.int32)
        self._shown: NDArray[np.bool_] = np.empty(0, bool)  # has a row in a block
        self._lifetime: Floats = np.empty(0)  # by clock
        self._whole: set[int] = set()  # clocks of which each batch tells all there is
        self._families: dict[Metric, list[Block]] = {}

    def observe(self, batch: Batch) -> None:
        """Take the values of a batch; a late one does not undo what is newer."""
        self._grow(batch.clock)
        if batch.clock in self._whole:
            self.drop(batch.clock)
        newer = (batch.at >= self._at[batch.series]) & np.isfinite(batch.values)
        series, values = batch.series[newer], batch.values[newer]
        self._values[series] = values
        self._at[series] = batch.at
        self._clock[series] = batch.clock

    def period(self, clock: int, seconds: float) -> None:
        """Say how often a clock's target is read; its readings outlive a few missed polls."""
        self._grow(clock)
        self._lifetime[clock] = max(LEAST, PERIODS * seconds)

    def whole(self, clock: int) -> None:
        """Say that each batch of a clock tells all there is: what is not in it is no more."""
        self._whole.add(clock)

    def drop(self, clock: int) -> None:
        """Forget a target that is read no more."""
        self._grow(clock)
        self._at[self._clock == clock] = -np.inf

    def pieces(self, now: float, form: Format = Format.TEXT) -> Iterator[bytes]:
        """Yield a page piece by piece; each takes a few milliseconds to make."""
        told = self._table.metrics()
        single = {metric for metric in told if metric.kind not in {Kind.PART, Kind.HISTOGRAM}}
        for metric in sorted({*single, *self._families_of(told)}, key=str):
            headed = False
            found = self._distribution if metric.kind is Kind.HISTOGRAM else self._lines
            for piece in found(metric, now):
                if piece and not headed:
                    headed = True
                    yield header(metric, form)
                yield piece  # an empty one gives the event loop its turn
        yield form.end

    def page(self, now: float, form: Format = Format.TEXT) -> bytes:
        """Return a whole page at once."""
        return b"".join(self.pieces(now, form))

    async def stream(
        self, now: float, form: Format = Format.TEXT, *, gzip: bool = False
    ) -> AsyncIterator[bytes]:
        """Yield a page piece by piece, packed or not, and let others run in between."""
        pack = zlib.compressobj(1, wbits=16 + zlib.MAX_WBITS) if gzip else None
        for piece in self.pieces(now, form):
            text = pack.compress(piece) if pack else piece
            if text:
                yield text
            await asyncio.sleep(0)
        if pack:
            yield pack.flush()

    def _lines(self, metric: Metric, now: float) -> Iterator[bytes]:
        kept = self._families.setdefault(metric, [])
        # Taken together, before another page may have its turn: every series is in one of both.
        blocks, fresh = list(kept), self._fresh(metric, now)
        for block in blocks:
            alive = self._alive(block.series, now)
            here = block if alive.all() else self._replaced(kept, block, alive)
            if len(here.series):
                yield here.lines(self._values[here.series])
        for at in range(0, len(fresh), PORTION):
            series = fresh[at : at + PORTION]
            block = Block.of(self._table, metric, series)
            self._append(kept, block.only(~self._shown[series]))
            yield block.lines(self._values[series])

    def _fresh(self, metric: Metric, now: float) -> Ids:
        """Return the series that are read and have no row yet."""
        every = self._table.of(metric)
        every = every[every < len(self._shown)]
        hidden = every[~self._shown[every]]
        return hidden[self._alive(hidden, now)]

    def _alive(self, series: Ids, now: float) -> NDArray[np.bool_]:
        lifetime = self._lifetime[self._clock[series]]
        alive: NDArray[np.bool_] = self._at[series] + lifetime >= now
        return alive

    def _replaced(self, kept: list[Block], block: Block, alive: NDArray[np.bool_]) -> Block:
        """Put the rows that are alive in a block's place."""
        rest = block.only(alive)
        if block in kept:
            self._shown[block.series[~alive]] = False
            at = kept.index(block)
            kept[at : at + 1] = [rest] if len(rest.series) else []
        return rest

    def _append(self, kept: list[Block], block: Block) -> None:
        """Add rows, into the last block while it has room."""
        self._shown[block.series] = True
        if not len(block.series):
            return
        if kept and len(kept[-1].series) + len(block.series) <= ROWS:
            kept[-1] = kept[-1].joined(block)
        else:
            kept.append(block)

    def _families_of(self, told: Iterable[Metric]) -> set[Metric]:
        """Return the histograms of which parts are told."""
        names = {str(one).rpartition("_")[0] for one in told if one.kind is Kind.PART}
        return {METRICS[name] for name in names if name in METRICS}

    def _distribution(self, family: Metric, now: float) -> Iterator[bytes]:
        """Yield the histograms of a family, each whole."""
        found: dict[Labels, dict[str, list[tuple[str, float]]]] = {}
        for ending in PARTS:
            part = METRICS.get(f"{family}{ending}")
            series = self._table.of(part) if part is not None else np.empty(0, np.int32)
            series = series[series < len(self._at)]
            for number in series[self._alive(series, now)].tolist():
                labels = self._table.labels(number)
                own, bound = labels[: len(family.labels)], "".join(labels[len(family.labels) :])
                value = float(self._values[number])
                found.setdefault(own, {}).setdefault(ending, []).append((bound, value))
        for labels, parts in sorted(found.items()):
            yield histogram(family, labels, parts)

    def _grow(self, clock: int) -> None:
        number, room = len(self._table), len(self._at)
        if number > room:
            more = max(number, 2 * room) - room
            self._values = np.append(self._values, np.zeros(more))
            self._at = np.append(self._at, np.full(more, -np.inf))
            self._clock = np.append(self._clock, np.zeros(more, np.int32))
            self._shown = np.append(self._shown, np.zeros(more, bool))
        if clock >= len(self._lifetime):
            more = clock + 1 - len(self._lifetime)
            self._lifetime = np.append(self._lifetime, np.full(more, LEAST))
