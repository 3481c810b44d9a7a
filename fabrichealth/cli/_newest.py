"""Values of series, newest and past: from the store of a site, or from a running daemon."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, Protocol
from urllib.parse import urlencode

import numpy as np

from fabrichealth.cli._incidents import rows
from fabrichealth.cli._site import load
from fabrichealth.metric import Metric
from fabrichealth.model import Floats
from fabrichealth.store.protocol import Store

RECENT = 900.0
"""Seconds within which a reading is the present one; of a store at rest before its last."""


class Reading(NamedTuple):
    """The newest value of one series."""

    labels: Mapping[str, str]
    value: float
    at: float


Past = tuple[Floats, Floats]
"""Times (unix seconds) and values of one series."""


class Newest(Protocol):
    """Answers with present values, and with what one series was before."""

    def of(self, metric: Metric, limit: int | None = None, **labels: str) -> list[Reading]:
        """Return the newest value of each series with these labels, so many at most."""
        ...

    def past(self, metric: Metric, labels: Mapping[str, str], start: float) -> Past:
        """Return (at, values) of one series after `start` (unix seconds), ascending.

        A label that is not given is the empty string; a series that never was is empty.
        """
        ...


class InStore:
    """Present values of a store, as of its last reading."""

    def __init__(self, store: Store) -> None:
        self._store = store
        span = store.span()
        self._now = span[1] if span else 0.0

    def of(self, metric: Metric, limit: int | None = None, **labels: str) -> list[Reading]:
        """Return the newest value of each series with these labels, so many at most."""
        latest = self._store.latest(metric, self._now, RECENT)
        found: list[Reading] = []
        for place, series in enumerate(latest.series.tolist()):
            if limit is not None and len(found) >= limit:
                break
            named = dict(zip(metric.labels, self._store.table.labels(series), strict=True))
            if labels.items() <= named.items():
                found.append(Reading(named, float(latest.values[place]), float(latest.at[place])))
        return found

    def past(self, metric: Metric, labels: Mapping[str, str], start: float) -> Past:
        """Return (at, values) of one series after `start`."""
        series = self._store.table.find(metric, tuple(labels.get(one, "") for one in metric.labels))
        if series is None:
            return np.empty(0), np.empty(0)
        return self._store.one(series, start, self._now)


class AtDaemon:
    """Present values that a daemon answers with."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self._asked = asked

    def of(self, metric: Metric, limit: int | None = None, **labels: str) -> list[Reading]:
        """Return the newest value of each series with these labels, so many at most.

        Raises:
            SourceUnavailable: the daemon does not answer, or keeps no series.
        """
        query = {"metric": str(metric), **labels}
        if limit is not None:
            query["limit"] = str(limit)
        return [
            Reading(row["labels"], float(row["value"]), float(row["at"]))
            for row in rows(self._asked, f"/api/v1/series?{urlencode(query)}")
        ]

    def past(self, metric: Metric, labels: Mapping[str, str], start: float) -> Past:
        """Return (at, values) of one series after `start`.

        Raises:
            SourceUnavailable: the daemon does not answer, or keeps no series.
        """
        named = {one: labels.get(one, "") for one in metric.labels}
        query = {"metric": str(metric), **named, "start": repr(start), "limit": "1"}
        found = rows(self._asked, f"/api/v1/series?{urlencode(query)}")
        if not found:
            return np.empty(0), np.empty(0)
        return np.array(found[0]["at"], float), np.array(found[0]["values"], float)


@contextmanager
def newest(asked: argparse.Namespace) -> Iterator[Newest]:
    """Give access to present values where `--config` or `--url` says.

    Raises:
        StoreError: the site has no store yet.
    """
    if asked.config is None:
        yield AtDaemon(asked)
        return
    store = load(asked.config).store.reader()
    try:
        yield InStore(store)
    finally:
        store.close()
