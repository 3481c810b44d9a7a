"""Points with values that are no numbers, of two types, and with tags that need escapes.

What one of them holds must not cost the others: writers of this kind have lost whole batches over
one NaN, one integer among floats, or one name that was not escaped. A point here is a measurement,
tags, fields and a time, as such writers take it; each field of it is a series of ours.
"""

import json
import time
import urllib.request
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.engines.influx import Influx, InfluxSettings
from fabrichealth.store.engines.prometheus import Prometheus, PrometheusSettings
from fabrichealth.store.remote.line_protocol import JOINER
from fabrichealth.store.remote.shared import SharedStore
from fabrichealth.units import Unit
from tests.servers import Servers

RECORDED = Path(__file__).parents[2].parent / "shared" / "cases" / "c24.json"
"""The case as it was reported, where it lies beside the project."""

CABLE, BACKSLASH, BREAK = "AOC 5m, lot=7", "D:\\hall\\", "spine\n2"

OURS: list[dict[str, Any]] = [
    {"measurement": "module", "ts": 0, "tags": {"port": "p1"},
     "fields": {"rx_dbm": "-Infinity", "temp_c": 38.5}},
    {"measurement": "module", "ts": 0, "tags": {"port": "p2"}, "fields": {"rx_dbm": "NaN"}},
    {"measurement": "module", "ts": 0,
     "tags": {"port": "p3", "cable": CABLE, "path": BACKSLASH}, "fields": {"temp_c": 30}},
    {"measurement": "module", "ts": 10,
     "tags": {"port": "p3", "cable": CABLE, "path": BACKSLASH}, "fields": {"temp_c": 30.5}},
    {"measurement": "cable", "ts": 0, "tags": {"node": BREAK, "peer": ""},
     "fields": {"up": True, "flaps": 4}},
    {"measurement": "cable", "ts": 0, "tags": {"node": "spine-3", "peer": None},
     "fields": {"up": None}},
]  # fmt: skip

Series = tuple[str, frozenset[tuple[str, str]]]
"""Measurement and field, and the tags that are there."""

Told = dict[Series, list[float]]


def points(which: str) -> list[dict[str, Any]]:
    """Return the points of a case, moved to yesterday: servers want times near the present."""
    if which == "as recorded" and not RECORDED.exists():
        pytest.skip("no recorded case beside the project")
    recorded = which == "as recorded"
    found: list[dict[str, Any]] = json.loads(RECORDED.read_text())["points"] if recorded else OURS
    first, yesterday = min(one["ts"] for one in found), float(time.time() // 3600 * 3600 - 86_400)
    return [{**one, "ts": one["ts"] - first + yesterday} for one in found]


def expected(found: list[dict[str, Any]]) -> Told:
    """Return what must come back, read off the points."""
    told: Told = {}
    for one in sorted(found, key=lambda one: float(one["ts"])):
        tags = frozenset((name, text) for name, text in one["tags"].items() if text)
        for field, value in one["fields"].items():
            if isinstance(value, int | float):
                told.setdefault((f"{one['measurement']}_{field}", tags), []).append(float(value))
    return told


def lost(found: list[dict[str, Any]]) -> int:
    """Return how many values are no numbers."""
    values = [value for one in found for value in one["fields"].values()]
    return sum(not isinstance(value, int | float) for value in values)


def metrics(found: list[dict[str, Any]]) -> dict[str, Metric]:
    """Return the fields as metrics, their labels those that any point has."""
    names = {f"{one['measurement']}_{field}" for one in found for field in one["fields"]}
    labels = tuple(sorted({name for one in found for name in one["tags"]}))
    return {
        name: Metric(name, Kind.GAUGE, Unit.NONE, Subject.NONE, "A field.", extra=labels)
        for name in names
    }


def batches(table: SeriesTable, found: list[dict[str, Any]], of: dict[str, Metric]) -> list[Batch]:
    clock = table.clock("case", "points")
    made = []
    for one in found:
        read = {
            of[f"{one['measurement']}_{field}"]: value for field, value in one["fields"].items()
        }
        series = [
            table.intern(metric, tuple(one["tags"].get(name) or "" for name in metric.labels))
            for metric in read
        ]
        values = [np.nan if value is None else float(value) for value in read.values()]
        made.append(Batch(clock, one["ts"], np.array(series, np.int32), np.array(values)))
    return made


STORES = ("embedded", "VictoriaMetrics", "VictoriaMetrics by lines", "Prometheus", "InfluxDB 1")

LINES = ("VictoriaMetrics by lines", "InfluxDB 1")
"""Written by line protocol, which cannot write a line break."""


def opened(kind: str, folder: Path, servers: Servers) -> EmbeddedStore | SharedStore:
    """Open a store whose series are its own, also on a server that others use."""
    site = {"labels": {"site": folder.name}}
    if kind == "embedded":
        return EmbeddedStore.open(folder / "store")
    if kind == "InfluxDB 1":
        address = servers.influxd()
        create = urlencode({"q": "CREATE DATABASE points"}).encode()
        with urllib.request.urlopen(f"{address}/query", create, timeout=10):
            pass
        plain = {"url": address, "version": 1, "db": "points", **site}
        return Influx(InfluxSettings.model_validate(plain), folder).store(read=True, write=True)
    address = servers.prometheus() if kind == "Prometheus" else servers.victoria_metrics()
    path, protocol = "/api/v1/write", "remote_write"
    if kind in LINES:
        path, protocol = "/write", "line_protocol"
    plain = {"read": address, "write": address + path, "protocol": protocol, **site}
    settings = PrometheusSettings.model_validate(plain)
    return Prometheus(settings, folder).store(read=True, write=True)


def append(store: EmbeddedStore | SharedStore, given: list[Batch], servers: Servers) -> None:
    """Give a store batches and wait until they can be read."""
    store.append(given)
    if isinstance(store, SharedStore):
        store.flush()
        servers.settle_victoria_metrics()


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(kind: str, tmp_path: Path, servers: Servers) -> Iterator[EmbeddedStore | SharedStore]:
    one = opened(kind, tmp_path, servers)
    yield one
    one.close()


@pytest.mark.parametrize("which", ["ours", "as recorded"])
def test_one_bad_value_costs_nothing_but_itself_and_tags_come_back(
    store: EmbeddedStore | SharedStore, kind: str, servers: Servers, which: str
) -> None:
    found = points(which)
    of = metrics(found)
    append(store, batches(store.table, found, of), servers)
    now, told = max(one["ts"] for one in found) + 1.0, Told()
    for metric in of.values():
        window = store.window(metric, now, 3600.0)
        for row in range(len(window)):
            tags = zip(metric.labels, window.labels(row), strict=True)
            values = window.values[row]
            key = metric.name, frozenset((name, text) for name, text in tags if text)
            told[key] = values[np.isfinite(values)].tolist()
    wanted = expected(found)
    if kind in LINES:
        wanted = {
            (name, frozenset((key, text.replace("\n", "_")) for key, text in tags)): values
            for (name, tags), values in wanted.items()
        }
    assert told == wanted
    assert store.dropped == lost(found)


def test_every_name_of_what_needs_an_escape_comes_back(
    store: EmbeddedStore | SharedStore, kind: str, servers: Servers
) -> None:
    alphabet = ("a", "\\", ",", "=", " ", '"', JOINER)
    names = {"".join(one) for many in (1, 2, 3) for one in product(alphabet, repeat=many)}
    metric = Metric("name_there", Kind.GAUGE, Unit.NONE, Subject.NONE, "A name.", extra=("name",))
    series = store.table.intern_all((metric, (name,)) for name in sorted(names))
    at = float(time.time() // 3600 * 3600 - 86_400)
    clock = store.table.clock("case", "names")
    append(store, [Batch(clock, at, series, np.arange(1.0, 1 + len(series)))], servers)
    window = store.window(metric, at + 1.0, 60.0)
    told = {window.labels(row)[0]: float(window.last[row]) for row in range(len(window))}
    assert told == {name: 1.0 + place for place, name in enumerate(sorted(names))}


def test_the_servers_themselves_tell_of_one_series_by_the_name_that_was_given(
    tmp_path: Path, servers: Servers
) -> None:
    told, found = {}, points("ours")
    for kind in STORES[1:]:
        folder = tmp_path / kind.replace(" ", "-")
        folder.mkdir()
        store = opened(kind, folder, servers)
        append(store, batches(store.table, found, metrics(found)), servers)
        store.close()
        told[kind] = [tags["path"] for tags in own_words(kind, folder.name, servers)]
    assert told == {
        "VictoriaMetrics": [BACKSLASH],
        "VictoriaMetrics by lines": [BACKSLASH],
        "Prometheus": [BACKSLASH],
        "InfluxDB 1": [BACKSLASH + JOINER],  # it refuses every tag that ends in a backslash
    }


def own_words(kind: str, site: str, servers: Servers) -> list[dict[str, str]]:
    """Return the tags of the series that have a path, as the server answers anybody's question."""
    if kind == "InfluxDB 1":
        where = f"SELECT module_temp_c FROM fabric WHERE site = '{site}' AND path != '' GROUP BY *"  # noqa: S608 - all names are ours
        query = urlencode({"db": "points", "q": where})
        found = json.loads(asked(f"{servers.influxd()}/query?{query}"))["results"][0]["series"]
        return [one["tags"] for one in found]
    series = f'last_over_time(fabric_module_temp_c{{site="{site}",path!=""}}[2d])'
    address = servers.prometheus() if kind == "Prometheus" else servers.victoria_metrics()
    answer = asked(f"{address}/api/v1/query?{urlencode({'query': series})}")
    return [one["metric"] for one in json.loads(answer)["data"]["result"]]


def asked(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return bytes(answer.read())


def test_a_reading_too_old_for_prometheus_does_not_hold_up_the_others(
    tmp_path: Path, servers: Servers
) -> None:
    store, found = opened("Prometheus", tmp_path, servers), points("ours")
    of, month = metrics(found), 30 * 86_400
    append(store, batches(store.table, found, of), servers)
    now = float(found[-1]["ts"]) + 600.0
    old = [{**found[0], "ts": now - 3 * month}, {**found[0], "ts": now}]
    append(store, batches(store.table, old, of), servers)
    assert store.dropped == lost(found) + lost(old) + 1
    window = store.window(of["module_temp_c"], now, 60.0)
    assert window.values.tolist() == [[38.5]]
    store.close()
