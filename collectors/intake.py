"""Intake: what every reading is held to before it is believed, whatever its source.

Range (the catalogue's `valid`), age, and identity: samples of one reply under the same labels
are one reading if they are equal and none if they differ. All of it is column work; objects are
made only for what is refused.
"""

from dataclasses import replace

import numpy as np

from fabrichealth.metric import Kind
from fabrichealth.model import Batch, Floats, Poll, Reason, Refused, SeriesTable


class Bounds:
    """Valid ranges by series number, grown as the table grows."""

    def __init__(self, table: SeriesTable) -> None:
        self._table = table
        self._low = np.empty(0)
        self._high = np.empty(0)
        self._known = 0

    def of(self) -> tuple[Floats, Floats]:
        """Return (lowest, highest) valid value by series number."""
        number = len(self._table)
        if self._known < number:
            if len(self._low) < number:
                grown = max(number, 2 * len(self._low))
                self._low = np.resize(self._low, grown) if self._known else np.empty(grown)
                self._high = np.resize(self._high, grown) if self._known else np.empty(grown)
            for series in range(self._known, number):
                self._low[series], self._high[series] = self._table.metric(series).valid
            self._known = number
        return self._low, self._high


def checked(poll: Poll, bounds: Bounds, table: SeriesTable, now: float, stale_after: float) -> Poll:
    """Return a poll without what cannot be believed; that is among its refusals instead.

    Raises:
        ValueError: a batch is none: a fault of the source, not of the device.
    """
    refused = list(poll.refused)
    batches = []
    for batch in _joined(poll.batches):
        _check_shape(batch, len(table))
        kept = _believed(batch, bounds, table, now, stale_after, refused)
        if len(kept):
            batches.append(kept)
    return replace(poll, batches=batches, refused=refused)


def _check_shape(batch: Batch, known: int) -> None:
    if batch.series.shape != batch.values.shape or batch.series.ndim != 1:
        raise ValueError(f"a batch of {batch.series.shape} series and {batch.values.shape} values")
    if len(batch) and not 0 <= batch.series.min() <= batch.series.max() < known:
        raise ValueError("a batch of series that the table does not have")


def _joined(batches: list[Batch]) -> list[Batch]:
    """Return one batch per time stamp: what one reply says twice must stand side by side."""
    found: dict[tuple[int, float], list[Batch]] = {}
    for batch in batches:
        found.setdefault((batch.clock, batch.at), []).append(batch)
    if len(found) == len(batches):
        return batches
    return [
        Batch(
            clock,
            at,
            np.concatenate([one.series for one in same]),
            np.concatenate([one.values for one in same]),
        )
        for (clock, at), same in found.items()
    ]


def _believed(
    batch: Batch,
    bounds: Bounds,
    table: SeriesTable,
    now: float,
    stale_after: float,
    refused: list[Refused],
) -> Batch:
    if batch.at < now - stale_after:
        _refuse(batch, np.arange(len(batch)), Reason.STALE, table, refused)
        return Batch(batch.clock, batch.at, batch.series[:0], batch.values[:0])
    if batch.at > now + stale_after:
        _refuse(batch, np.arange(len(batch)), Reason.IMPLAUSIBLE, table, refused)
        return Batch(batch.clock, batch.at, batch.series[:0], batch.values[:0])
    low, high = bounds.of()
    with np.errstate(invalid="ignore"):
        good = (batch.values >= low[batch.series]) & (batch.values <= high[batch.series])
    good &= np.isfinite(batch.values)  # a range may be open, but the store has no infinity
    if not good.all():
        _refuse(batch, np.flatnonzero(~good), Reason.IMPLAUSIBLE, table, refused)
        batch = Batch(batch.clock, batch.at, batch.series[good], batch.values[good])
    return _single(batch, table, refused)


def _single(batch: Batch, table: SeriesTable, refused: list[Refused]) -> Batch:
    """Return a batch that names each series once."""
    order = np.argsort(batch.series, kind="stable")
    series, values = batch.series[order], batch.values[order]
    again = np.flatnonzero(series[1:] == series[:-1])
    if not len(again):
        return batch
    start = np.flatnonzero(np.concatenate([[True], series[1:] != series[:-1]]))
    lowest = np.minimum.reduceat(values, start)
    highest = np.maximum.reduceat(values, start)
    differ = lowest != highest
    twice = np.isin(batch.series, series[start[differ]])
    _refuse(batch, np.flatnonzero(twice), Reason.DUPLICATE, table, refused)
    first = start[~differ]
    return Batch(batch.clock, batch.at, series[first], values[first])


def _refuse(
    batch: Batch,
    rows: np.ndarray[tuple[int], np.dtype[np.intp]],
    reason: Reason,
    table: SeriesTable,
    refused: list[Refused],
) -> None:
    for row in rows.tolist():
        series = int(batch.series[row])
        metric = table.metric(series)
        if metric.kind is Kind.INFO and reason is Reason.DUPLICATE:
            continue
        labels = dict(zip(metric.labels, table.labels(series), strict=True))
        refused.append(Refused(reason, str(metric), labels, float(batch.values[row])))
