"""Series, as a running daemon is asked for them: newest values, or all of a span."""

import asyncio
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from aiohttp import web

from fabrichealth.catalogue import METRICS
from fabrichealth.cli._collecting import Collecting
from fabrichealth.metric import Metric
from fabrichealth.store.protocol import Store

RECENT = 900.0
"""Seconds within which a reading is the present one."""

MOST_ROWS = 100_000


class _Asked(NamedTuple):
    metric: Metric
    labels: Mapping[str, str]
    start: float | None
    end: float
    limit: int


async def series_asked(collecting: Collecting, query: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return newest values of `metric=NAME` with these labels, or all of `start=` to `end=`.

    `limit=` is how many series are wanted at most.

    Raises:
        HTTPBadRequest: no such metric or label, or no usable times.
        HTTPNotFound: no series are kept here.
    """
    store = collecting.store
    asked = _asked(query, collecting.clock.now())
    if store is None:
        raise web.HTTPNotFound(text="this daemon keeps no series; ask one started by `run`\n")
    shared = collecting.setup.store.shared
    return await asyncio.to_thread(_rows, store, asked, shared)


def _asked(query: Mapping[str, str], now: float) -> _Asked:
    rest = dict(query)
    metric = METRICS.get(rest.pop("metric", ""))
    if metric is None:
        raise web.HTTPBadRequest(text="metric= must name a metric of the catalogue\n")
    try:
        start = float(rest.pop("start")) if "start" in rest else None
        end = float(rest.pop("end", now))
        limit = int(rest.pop("limit", MOST_ROWS))
    except ValueError:
        start = end = math.nan
        limit = MOST_ROWS
    if not math.isfinite(end) or not math.isfinite(start or 0.0):
        raise web.HTTPBadRequest(
            text="start= and end= are unix seconds, limit= is a whole number\n"
        )
    unknown = rest.keys() - set(metric.labels)
    if unknown:
        raise web.HTTPBadRequest(text=f"{metric} has no label {unknown.pop()}\n")
    return _Asked(metric, rest, start, end, min(limit, MOST_ROWS))


def _rows(store: Store, asked: _Asked, shared: bool) -> list[dict[str, Any]]:
    metric, wanted, start, end, limit = asked
    within = RECENT if start is None else end - start
    named_by_reading = start is None or shared
    newest = store.latest(metric, end, within) if named_by_reading else None
    rows: list[dict[str, Any]] = []
    chosen = newest.series if newest is not None else store.table.of(metric)
    whole = newest is None and wanted.keys() == set(metric.labels)
    if whole:  # one series, by its name: the table need not be searched
        one = store.table.find(metric, tuple(wanted[name] for name in metric.labels))
        chosen = chosen[:0] if one is None else chosen[chosen == one]
    for place, series in enumerate(chosen.tolist()):
        labels = dict(zip(metric.labels, store.table.labels(series), strict=True))
        if any(labels[name] != text for name, text in wanted.items()):
            continue
        row: dict[str, Any] = {"metric": str(metric), "labels": labels}
        if newest is not None and start is None:
            row |= {"value": newest.values[place], "at": newest.at[place]}
        else:
            at, values = store.one(series, start or 0.0, end)
            row |= {"at": at, "values": values}
        rows.append(row)
        if len(rows) >= limit:
            break
    return rows
