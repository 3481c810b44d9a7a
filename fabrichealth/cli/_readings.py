"""Readings of what an incident accuses, as sparklines: which series, and how they are drawn."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fabrichealth.catalogue import METRICS
from fabrichealth.catalogue.congestion import PAUSE_WAIT
from fabrichealth.cli._newest import Newest
from fabrichealth.cli._sparkline import levels, sparkline
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Floats

MOST_READINGS = 4
BEFORE = 1800.0
"""Seconds before an incident opened that are shown with it: what was normal."""
LONGEST = 86_400.0
"""Seconds that a line of a terminal can show without hiding what happened."""
NARROWEST, WIDEST = 8, 60
"""Characters of a sparkline."""

_DRAWN = (Kind.COUNTER, Kind.GAUGE)


class Reading(NamedTuple):
    """One series: its name as a person reads it, times (unix seconds) and values."""

    metric: Metric
    name: str
    at: Floats
    values: Floats


def series_of(incident: Mapping[str, Any]) -> list[tuple[Metric, Mapping[str, str]]]:
    """Return the series that an incident's evidence speaks of, the newest evidence first."""
    found: dict[tuple[Metric, tuple[str, ...]], Mapping[str, str]] = {}
    for one in reversed(incident["evidence"]):
        metric = METRICS.get(one["metric"])
        if metric is None or metric is PAUSE_WAIT or metric.kind not in _DRAWN:
            continue
        labels = {name: str(one["labels"].get(name, "")) for name in metric.labels}
        found.setdefault((metric, tuple(labels.values())), labels)
    return [(metric, labels) for (metric, _), labels in found.items()][:MOST_READINGS]


def readings(incident: Mapping[str, Any], kept: Newest, most: int = MOST_READINGS) -> list[Reading]:
    """Return what was read of the series of an incident, since shortly before it opened.

    Raises:
        SourceUnavailable: the daemon does not answer, or keeps no series.
        StoreError: the store cannot be read.
    """
    last = max([incident["opened_at"], *(one["at"] for one in incident["evidence"])])
    start = max(incident["opened_at"] - BEFORE, last - LONGEST)
    found = []
    for metric, labels in series_of(incident)[:most]:
        at, values = kept.past(metric, labels, start)
        found.append(Reading(metric, "/".join(filter(None, labels.values())), at, values))
    return found


def drawn(found: list[Reading], width: int) -> Iterator[str]:
    """Yield a line for each reading, all over the same time, in `width` characters."""
    every = np.concatenate([one.at for one in found]) if found else np.empty(0)
    if not len(every):
        if found:
            yield "nothing was kept of its readings"
        return
    span = float(every.min()) - 1e-3, float(every.max())
    names = [f"{one.name} {str(one.metric).removeprefix('fabric_')}" for one in found]
    name_width = min(max(map(len, names)), max(width - NARROWEST - 26, 12))
    # a character a poll at most: gaps are then where polls failed, and nowhere else
    polls = max(len(one.at) for one in found)
    room = max(min(width - name_width - 26, WIDEST, polls), NARROWEST)
    for name, one in zip(names, found, strict=True):
        counter = one.metric.kind is Kind.COUNTER
        spark = sparkline(one.at, one.values, span, room, counter=counter, shades=levels())
        short = name if len(name) <= name_width else f"{name[: name_width - 2]}.."
        yield f"{short:{name_width}} {spark.drawn} {_scale(one, spark.low, spark.high)}"


def _scale(one: Reading, low: float, high: float) -> str:
    if np.isnan(low):
        return "not read"
    if one.metric.kind is Kind.COUNTER:
        known = one.values[np.isfinite(one.values)]
        return f"now {known[-1]:.6g}"
    return f"{low:.4g}" if low == high else f"{low:.4g} .. {high:.4g}"
