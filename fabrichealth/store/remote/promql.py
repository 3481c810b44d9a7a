"""PromQL: what is read of Prometheus, VictoriaMetrics, Mimir, Thanos.

Samples as they were written come from VictoriaMetrics' export where there is one, else from an
instant query of a range selector. Long spans come by the step, worked out by the engine.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from fabrichealth.catalogue.watchers import DROPPED_SAMPLES, SOURCE_UP
from fabrichealth.metric import PREFIX, Kind, Metric
from fabrichealth.model import Labels
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import merged
from fabrichealth.store.remote.exported import exported
from fabrichealth.store.remote.http import NO_SUCH_PATH, Asks, Unavailable
from fabrichealth.store.remote.identity import Identities
from fabrichealth.store.remote.lines import grid_of
from fabrichealth.store.remote.matrix import result, samples

EXPORT, QUERY, QUERY_RANGE = "/api/v1/export", "/api/v1/query", "/api/v1/query_range"

BY_STEP = 7200.0
"""Longer spans than this (seconds) are asked for by the step, when a step is asked for."""

JUST_NOW = 60.0
"""Engines answer queries with what is older than some seconds; what is newer is worked out here."""

MOST_POINTS = 10_000
"""Prometheus answers with 11,000 points of a series at most."""

LOOKS_BACK = 30 * 86_400.0
"""The first reading is looked for so far back (seconds); no detector asks for more."""

HOUR = 3600.0


def selector(name: str, labels: Mapping[str, str]) -> str:
    """Return a selector of series with these labels; an empty one is an absent one."""
    wanted = ",".join(f"{key}={_quoted(text)}" for key, text in labels.items())
    return f"{name}{{{wanted}}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class PromqlReads:
    """Reads one engine; see `fabrichealth.store.remote.shared.Reads`."""

    def __init__(self, http: Asks, known: Identities, own: Mapping[str, str]) -> None:
        """`own` are labels that every series of ours has."""
        self._http = http
        self._known = known
        self._own = own
        self._exports: bool | None = None
        """Whether the engine has the export API; not known before it is asked."""
        self._first: float | None = None

    def columns(self, metric: Metric, start: float, end: float) -> Grid:
        """Return at least what was read in (start, end]."""
        return self._raw(metric, selector(str(metric), self._own), start, end)

    def one(self, metric: Metric, labels: Labels, start: float, end: float) -> Grid:
        """Return at least what was read of one series in (start, end]."""
        named = dict(zip(metric.labels, labels, strict=True)) | dict(self._own)
        return self._raw(metric, selector(str(metric), named), start, end)

    def stepped(self, metric: Metric, start: float, end: float, step: float) -> Grid:
        """Return one column a step.

        Where the span is long the engine works them out, and each is stamped with the end of its
        step; both ends of the span, which are no whole steps, are worked out from the readings.
        """
        if end - start <= BY_STEP:
            return self._downsampled(metric, start, end, step)
        first = float(np.ceil(start / step) * step)
        last = float(np.floor((end - JUST_NOW) / step) * step)
        grids = [self._downsampled(metric, start, first, step)] if first > start else []
        while first < last:
            until = min(first + MOST_POINTS * step, last)
            grids.append(self._by_engine(metric, first + step, until, step))
            first = until
        if last < end:
            grids.append(self._downsampled(metric, last, end, step))
        return merged(grids)

    def learn(self, metric: Metric) -> None:
        """Take note of the names that a metric's series have now."""
        names = self._known.of(metric)
        for row in self._asked(QUERY, {"query": selector(str(metric), self._own)}):
            key = _quoted(str(sorted(row["metric"].items()))).encode()
            if key not in names:
                names[key] = self._known.learn(metric, row["metric"])

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp of what collectors say of themselves.

        Of any series of ours where they say nothing; not before `LOOKS_BACK`.
        """
        now = self._now()
        for name in (str(DROPPED_SAMPLES), str(SOURCE_UP), ""):
            own = self._own if name else {}
            ours = selector(name, own) if name else self._any()
            begun = now - LOOKS_BACK if self._first is None else self._first - HOUR
            hours = self._hours(ours, begun, now)
            if hours:
                first, last = self._times(ours, hours[0]), self._times(ours, hours[-1])
                self._first = min(first)
                return self._first, max(last)
        return None

    def close(self) -> None:
        """Nothing is held but the connections, which are the server's."""

    def _any(self) -> str:
        own = "".join(f",{key}={_quoted(text)}" for key, text in self._own.items())
        return f'{{__name__=~"{PREFIX}.+"{own}}}'

    def _raw(self, metric: Metric, ours: str, start: float, end: float) -> Grid:
        start, end = max(start, 0.0), max(end, 0.0)
        if self._exports is not False:
            form = {"match[]": ours, "start": f"{start:.3f}", "end": f"{end:.3f}"}
            try:
                found = exported(self._http.pieces(EXPORT, form), metric, self._known)
            except Unavailable as wrong:
                if self._exports or wrong.status not in NO_SUCH_PATH:
                    raise
                self._exports = False
            else:
                self._exports = True
                return grid_of(found)
        milliseconds = max(int(np.ceil((end - start) * 1e3)) + 2, 1)
        rows = self._asked(
            QUERY, {"query": f"{ours}[{milliseconds}ms]", "time": f"{end + 1e-3:.3f}"}
        )
        return grid_of(samples(rows, metric, self._known))

    def _downsampled(self, metric: Metric, start: float, end: float, step: float) -> Grid:
        return self.columns(metric, start, end).between(start, end).downsampled(step, metric.kind)

    def _by_engine(self, metric: Metric, first: float, last: float, step: float) -> Grid:
        """Return the columns of whole steps; a step holds its end and not its beginning."""
        ours = selector(str(metric), self._own)
        function = "avg_over_time" if metric.kind is Kind.GAUGE else "last_over_time"
        query = f"{function}({ours}[{int(step * 1e3) - 1}ms])"
        form = {"query": query, "start": f"{first:.3f}", "end": f"{last:.3f}", "step": f"{step:g}"}
        return grid_of(samples(self._asked(QUERY_RANGE, form), metric, self._known))

    def _hours(self, ours: str, begun: float, now: float) -> list[float]:
        """Return the ends of hours in which anything was read."""
        start = float(np.floor(begun / HOUR) * HOUR)
        query = f"count(last_over_time({ours}[{int(HOUR * 1e3) - 1}ms]))"
        end = float(np.ceil(now / HOUR) * HOUR)
        form = {"query": query, "start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{HOUR:g}"}
        return [float(at) for row in self._asked(QUERY_RANGE, form) for at, _ in row["values"]]

    def _times(self, ours: str, hour: float) -> list[float]:
        """Return the times of the readings of an hour."""
        form = {"query": f"{ours}[{int(HOUR * 1e3)}ms]", "time": f"{hour:.3f}"}
        return [float(at) for row in self._asked(QUERY, form) for at, _ in row["values"]]

    def _now(self) -> float:
        """Return the server's clock."""
        (found, *_) = self._asked(QUERY, {"query": "vector(time())"})
        return float(found["value"][1])

    def _asked(self, path: str, form: Mapping[str, str]) -> list[dict[str, Any]]:
        return result(self._http.whole(path, form))
