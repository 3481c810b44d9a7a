"""What the repair of wraps must remember over a restart, as plain JSON values."""

from collections.abc import Mapping
from typing import Any

from fabrichealth.catalogue import METRICS
from fabrichealth.counters import Repair
from fabrichealth.model import SeriesTable


def kept(repair: Repair, table: SeriesTable) -> list[dict[str, Any]]:
    """Return the offset, the last raw value and its time of every series that wraps."""
    return [
        {
            "metric": str(table.metric(series)),
            "labels": list(table.labels(series)),
            "offset": repair.offsets.get(series, 0),
            "raw": raw,
            "at": repair.at[series],
        }
        for series, raw in repair.raw.items()
    ]


def restore(repair: Repair, table: SeriesTable, rows: object) -> None:
    """Take up what `kept` returned; rows that cannot be used are passed over."""
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, Mapping):
            continue
        metric, labels = METRICS.get(str(row.get("metric"))), row.get("labels")
        offset, raw, at = row.get("offset"), row.get("raw"), row.get("at")
        if metric is None or not isinstance(labels, list) or len(labels) != len(metric.labels):
            continue
        if isinstance(offset, int) and isinstance(raw, int) and isinstance(at, int | float):
            series = table.intern(metric, tuple(str(label) for label in labels))
            repair.raw[series], repair.at[series] = raw, float(at)
            if offset:
                repair.offsets[series] = offset
