"""InfluxReads: what is read of an InfluxDB, whichever of its languages is spoken to it.

A series is measurement `fabric`, its labels as tags and one field (contract 8). A dialect asks for
readings and for edges; what becomes of them is the same for all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from fabrichealth.catalogue.watchers import DROPPED_SAMPLES, SOURCE_UP
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Labels
from fabrichealth.store.grid import Grid
from fabrichealth.store.gridding import merged
from fabrichealth.store.remote.identity import Identities
from fabrichealth.store.remote.line_protocol import held, named
from fabrichealth.store.remote.lines import Gathered, grid_of

BY_STEP = 7200.0
"""Longer spans than this (seconds) are asked for by the step, when a step is asked for."""

RECENT = 600.0
"""Seconds within which links and ports are told of."""


@dataclass(frozen=True)
class Question:
    """Readings of one field in [start, end] (milliseconds) of series with these tags."""

    field: str
    tags: Mapping[str, str]
    start: int
    end: int
    step: int = 0
    """Milliseconds; if given, one value a step (start, end], stamped with its end."""
    mean: bool = False
    """Whether that is the mean; else the last value."""


class Answer(NamedTuple):
    """Readings of one series: its tags, times in milliseconds, and values."""

    tags: Mapping[str, str]
    times: list[float]
    values: list[float]


class Dialect(Protocol):
    """One of InfluxDB's languages; each call may raise `StoreError`."""

    steps: bool
    """Whether it is asked to work out steps."""

    def readings(self, question: Question) -> Iterator[Answer]:
        """Yield the readings of each series; one may come in pieces."""
        ...

    def fields(self) -> list[str]:
        """Return the fields that there are."""
        ...

    def edges(self, field: str, tags: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the first and the last time (milliseconds) of a field."""
        ...

    def close(self) -> None:
        """Let go of the connections."""
        ...


class InfluxReads:
    """Reads one database; see `fabrichealth.store.remote.shared.Reads`."""

    def __init__(self, dialect: Dialect, known: Identities, own: Mapping[str, str]) -> None:
        """`own` are tags that every series of ours has."""
        self._dialect = dialect
        self._known = known
        self._own = {name: held(text) for name, text in own.items()}

    def columns(self, metric: Metric, start: float, end: float) -> Grid:
        """Return at least what was read in (start, end]."""
        return self._grid(metric, Question(metric.name, self._own, *_milliseconds(start, end)))

    def one(self, metric: Metric, labels: Labels, start: float, end: float) -> Grid:
        """Return at least what was read of one series in (start, end]."""
        tags = dict(zip(metric.labels, map(held, labels), strict=True)) | self._own
        return self._grid(metric, Question(metric.name, tags, *_milliseconds(start, end)))

    def stepped(self, metric: Metric, start: float, end: float, step: float) -> Grid:
        """Return one column a step; of long spans whole steps are worked out by the engine."""
        if end - start <= BY_STEP or not self._dialect.steps:
            return self._downsampled(metric, start, end, step)
        first, last = float(np.ceil(start / step) * step), float(np.floor(end / step) * step)
        begun, until = round(first * 1e3) + 1, round(last * 1e3)
        mean = metric.kind is Kind.GAUGE
        question = Question(metric.name, self._own, begun, until, round(step * 1e3), mean)
        parts = [self._downsampled(metric, start, first, step), self._grid(metric, question)]
        return merged([*parts, self._downsampled(metric, last, end, step)])

    def learn(self, metric: Metric) -> None:
        """Take note of the names that a metric's series have now."""
        edges = self._dialect.edges(metric.name, self._own)
        if edges is not None:
            newest = edges[1] / 1e3
            self.columns(metric, newest - RECENT, newest)

    def span(self) -> tuple[float, float] | None:
        """Return the first and the last time stamp of what collectors say of themselves.

        Of any series of ours where they say nothing.
        """
        for metric in (DROPPED_SAMPLES, SOURCE_UP):
            edges = self._dialect.edges(metric.name, self._own)
            if edges is not None:
                return edges[0] / 1e3, edges[1] / 1e3
        every = [self._dialect.edges(field, self._own) for field in self._dialect.fields()]
        found = [edges for edges in every if edges is not None]
        if not found:
            return None
        return min(first for first, _ in found) / 1e3, max(last for _, last in found) / 1e3

    def close(self) -> None:
        """Let go of the connections."""
        self._dialect.close()

    def _downsampled(self, metric: Metric, start: float, end: float, step: float) -> Grid:
        if end <= start:
            return Grid.empty()
        return self.columns(metric, start, end).between(start, end).downsampled(step, metric.kind)

    def _grid(self, metric: Metric, question: Question) -> Grid:
        gathered = Gathered()
        names = self._known.of(metric)
        stamps: dict[bytes, int] = {}
        for tags, times, values in self._dialect.readings(question):
            key = repr(sorted(tags.items())).encode()
            if key not in names:
                labels = {name: named(text) for name, text in tags.items()}
                names[key] = self._known.learn(metric, labels)
            one = names[key]
            if one is None or not times:
                continue
            at = np.array(times, np.float64) / 1e3
            which = stamps.setdefault(at.tobytes(), len(gathered.stamps))
            if which == len(gathered.stamps):
                gathered.stamps.append(at)
            gathered.series.append(one[0])
            gathered.clock.append(one[1])
            gathered.which.append(which)
            gathered.values.append(np.array(values, np.float64))
        return grid_of(gathered.lines())


def _milliseconds(start: float, end: float) -> tuple[int, int]:
    """Return milliseconds that hold (start, end] (seconds)."""
    return max(int(np.floor(start * 1e3)), 0), max(int(np.ceil(end * 1e3)), 0)
