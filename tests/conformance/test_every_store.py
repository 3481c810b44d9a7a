"""What is asked of every store, whatever keeps it.

A store is a way to open one; `reopen` gives the same data to a new object, as after a restart.
Those on servers run on real ones. What a server cannot do is left out by name (`LACKS`), and told
in docs/stores.md.
"""

import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import PORT_INFO, RX_BYTES, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Ids, SeriesTable, Window, aligned
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.engines.influx import Influx, InfluxSettings
from fabrichealth.store.engines.prometheus import Prometheus, PrometheusSettings
from fabrichealth.store.protocol import Latest, News, Store
from fabrichealth.store.remote.shared import SharedStore
from tests.influx_peer import TOKEN
from tests.servers import Servers

Open = Callable[[], Store]

T = float(int(time.time()) // 3600 * 3600 - 2 * 86_400)
"""When the tests take place: servers want times near the present."""


class Settled:
    """A store on a server, whose every append is waited for until it can be read."""

    def __init__(self, store: SharedStore, settle: Callable[[], None]) -> None:
        self._store = store
        self._settle = settle

    @property
    def table(self) -> SeriesTable:
        return self._store.table

    def append(self, batches: Sequence[Batch]) -> None:
        self._store.append(batches)
        self._store.flush()
        self._settle()

    def refresh(self) -> None:
        self._store.refresh()

    def window(self, metric: Metric, until: float, seconds: float, step: float = 0) -> Window:
        return self._store.window(metric, until, seconds, step)

    def news(self, metric: Metric, until: float, seconds: float, mark: Any = None) -> News:
        return self._store.news(metric, until, seconds, mark)

    def latest(self, metric: Metric, until: float, within: float) -> Latest:
        return self._store.latest(metric, until, within)

    def one(self, series: int, start: float, end: float, step: float = 0) -> tuple[Floats, Floats]:
        return self._store.one(series, start, end, step)

    def span(self) -> tuple[float, float] | None:
        return self._store.span()

    def close(self) -> None:
        self._store.close()


def victoria_metrics(folder: Path, servers: Servers) -> Store:
    address = servers.victoria_metrics()
    return on_prometheus(folder, address, servers.settle_victoria_metrics)


def prometheus(folder: Path, servers: Servers) -> Store:
    return on_prometheus(folder, servers.prometheus(), lambda: None)


def on_prometheus(folder: Path, address: str, settle: Callable[[], None]) -> Store:
    """Open the store of a folder: the folder's name is the label that its series have."""
    settings = PrometheusSettings.model_validate(
        {"read": address, "write": f"{address}/api/v1/write", "labels": {"site": folder.name}}
    )
    return Settled(Prometheus(settings, folder).store(read=True, write=True), settle)


def influxdb_1(folder: Path, servers: Servers) -> Store:
    address = servers.influxd()
    create = urlencode({"q": "CREATE DATABASE fabric"}).encode()
    with urllib.request.urlopen(f"{address}/query", create, timeout=10):
        pass
    return on_influx(folder, {"url": address, "version": 1, "db": "fabric"})


def influxdb_2(folder: Path, servers: Servers) -> Store:
    return on_peer(folder, servers, {"version": 2, "org": "o", "bucket": "b"})


def influxdb_3(folder: Path, servers: Servers) -> Store:
    return on_peer(folder, servers, {"version": 3, "db": "d"})


def on_peer(folder: Path, servers: Servers, plain: dict[str, object]) -> Store:
    (folder / "token").write_text(TOKEN)
    address = servers.influx_peer().address
    # the peer checks every line by the grammar, in Python: on a busy machine that takes its time
    patient = {"timeout": "60s", "token_file": str(folder / "token")}
    return on_influx(folder, {**plain, **patient, "url": address})


def on_influx(folder: Path, plain: dict[str, object]) -> Store:
    settings = InfluxSettings.model_validate({**plain, "labels": {"site": folder.name}})
    return Settled(Influx(settings, folder).store(read=True, write=True), lambda: None)


EMBEDDED: dict[str, Callable[[Path, Servers], Store]] = {
    "embedded": lambda folder, _: EmbeddedStore.open(folder / "store"),
    "embedded, nothing cached": lambda folder, _: EmbeddedStore.open(
        folder / "store", cache_bytes=0
    ),
}

SERVED: dict[str, Callable[[Path, Servers], Store]] = {
    "VictoriaMetrics": victoria_metrics,
    "Prometheus": prometheus,
    "InfluxDB 1": influxdb_1,
    "InfluxDB 2 (a peer by its grammar)": influxdb_2,
    "InfluxDB 3 (a peer by its grammar)": influxdb_3,
}

STORES = EMBEDDED | SERVED

NUMBERS = "numbers of series survive a restart"
CORRECTIONS = "of equal times the later wins"

LACKS = {kind: {NUMBERS} for kind in SERVED} | {"Prometheus": {NUMBERS, CORRECTIONS}}
"""What a store does not do."""

METRICS = {UP: 1, RX_BYTES: 1, RX_POWER: 2}
"""Labels beyond device and port are numbered; how many of each metric a target has."""


_site = count()


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reopen(kind: str, tmp_path: Path, servers: Servers) -> Iterator[Open]:
    opened: list[Store] = []
    folder = tmp_path / f"site-{next(_site)}"
    folder.mkdir()

    def again() -> Store:
        if opened:
            opened[-1].close()
        opened.append(STORES[kind](folder, servers))
        return opened[-1]

    yield again
    for store in opened[-1:]:
        store.close()


def needs(kind: str, what: str) -> None:
    if what in LACKS.get(kind, ()):
        pytest.skip(f"{kind}: {what}: not promised")


def series(table: SeriesTable, metric: Metric, target: int, many: int = 1) -> Ids:
    """Return the numbers of a metric's series of one target."""
    more = len(metric.labels) - 2
    return table.intern_all(
        (metric, (f"leaf-{target}", "Ethernet0", *[str(lane)] * more)) for lane in range(many)
    )


def batch(
    table: SeriesTable,
    target: int,
    at: float,
    values: dict[Metric, float | list[float]],
    source: str = "sonic",
) -> Batch:
    """Return one reading of a target: of each metric as many series as values are given."""
    lists = {m: v if isinstance(v, list) else [v] for m, v in values.items()}
    ids = [series(table, metric, target, len(given)) for metric, given in lists.items()]
    return Batch(
        table.clock(source, f"leaf-{target}"),
        at,
        np.concatenate(ids),
        np.array([value for given in lists.values() for value in given], np.float64),
    )


def assert_equal(got: Window, want: Window) -> None:
    """Compare two windows, bit for bit."""
    assert got.series.tolist() == want.series.tolist()
    assert got.clock.tolist() == want.clock.tolist()
    np.testing.assert_array_equal(got.at, want.at)
    np.testing.assert_array_equal(got.values, want.values)
    assert (got.values.view(np.int64) == want.values.view(np.int64))[~np.isnan(want.values)].all()
    assert (got.metric, got.until, got.seconds) == (want.metric, want.until, want.seconds)


class TestEveryStore:
    def test_is_empty_at_first(self, reopen: Open) -> None:
        store = reopen()
        assert store.span() is None
        assert len(store.window(UP, until=T, seconds=60)) == 0
        assert len(store.latest(UP, until=T, within=60).series) == 0

    def test_gives_back_what_it_took_right_aligned_by_target(self, reopen: Open) -> None:
        store = reopen()
        for at in (100.0, 110.0, 120.0):
            store.append([batch(store.table, 0, T + at, {UP: at})])
        store.append([batch(store.table, 1, T + 117.0, {UP: 7.0})])
        window = store.window(UP, until=T + 121.0, seconds=15.0)
        assert [window.labels(row) for row in range(2)] == [
            ("leaf-0", "Ethernet0"),
            ("leaf-1", "Ethernet0"),
        ]
        np.testing.assert_array_equal(window.values, [[110.0, 120.0], [np.nan, 7.0]])
        np.testing.assert_array_equal(window.at - T, [[110.0, 120.0], [np.nan, 117.0]])

    def test_a_window_holds_its_end_and_not_its_start(self, reopen: Open) -> None:
        store = reopen()
        store.append([batch(store.table, 0, T + at, {UP: at}) for at in (10.0, 20.0, 30.0)])
        np.testing.assert_array_equal(store.window(UP, T + 30.0, 20.0).values, [[20.0, 30.0]])

    def test_names_survive_a_restart(self, reopen: Open) -> None:
        store = reopen()
        store.append([batch(store.table, target, T, {UP: 1.0}) for target in (3, 1, 2)])
        hostile = ("leaf-1", 'a"b{c}\\d', "é", "x,y=z w", *["~"] * 10)
        info = store.table.intern(PORT_INFO, hostile)
        store.append([Batch(0, T + 1.0, np.array([info], np.int32), np.ones(1))])
        store = reopen()
        window = store.window(UP, T + 20.0, 40.0)
        clocks = store.table.clocks()
        read = {window.labels(row): clocks[window.clock[row]] for row in range(len(window))}
        assert read == {
            (f"leaf-{target}", "Ethernet0"): ("sonic", f"leaf-{target}") for target in (1, 2, 3)
        }
        assert store.window(PORT_INFO, T + 20.0, 40.0).labels(0) == hostile

    def test_numbers_survive_a_restart(self, kind: str, reopen: Open) -> None:
        needs(kind, NUMBERS)
        store = reopen()
        store.append([batch(store.table, target, T, {UP: 1.0}) for target in (3, 1, 2)])
        before = [(store.table.metric(s), store.table.labels(s)) for s in range(3)]
        clocks = store.table.clocks()
        store = reopen()
        assert [(store.table.metric(s), store.table.labels(s)) for s in range(3)] == before
        assert store.table.clocks() == clocks

    def test_of_equal_times_the_later_wins(self, kind: str, reopen: Open) -> None:
        needs(kind, CORRECTIONS)
        store = reopen()
        store.append([batch(store.table, 0, T + 10.0, {UP: 1.0, RX_BYTES: 5.0})])
        store.append([batch(store.table, 0, T + 20.0, {UP: 1.0})])
        store.append([batch(store.table, 0, T + 10.0, {UP: 0.0})])
        store = reopen()
        np.testing.assert_array_equal(store.window(UP, T + 20.0, 20.0).values, [[0.0, 1.0]])
        np.testing.assert_array_equal(store.window(RX_BYTES, T + 20.0, 20.0).values, [[5.0]])

    def test_what_is_told_twice_is_there_once(self, reopen: Open) -> None:
        store = reopen()
        for _ in range(2):
            store.append([batch(store.table, 0, T + at, {UP: at}) for at in (10.0, 20.0)])
        np.testing.assert_array_equal(store.window(UP, T + 20.0, 20.0).values, [[10.0, 20.0]])

    def test_late_batches_find_their_place(self, reopen: Open) -> None:
        store = reopen()
        for at in (10.0, 30.0, 20.0):
            store.append([batch(store.table, 0, T + at, {UP: at})])
            store.window(UP, T + 40.0, 40.0)
        np.testing.assert_array_equal(store.window(UP, T + 40.0, 40.0).values, [[10.0, 20.0, 30.0]])

    def test_latest_is_each_ones_own(self, reopen: Open) -> None:
        store = reopen()
        store.append([batch(store.table, 0, T + 10.0, {RX_POWER: [-1.0, -2.0]})])
        store.append([batch(store.table, 0, T + 90_000.0, {RX_POWER: [-3.0]})])
        for _ in range(2):  # a second question knows the first one's answer
            latest = store.latest(RX_POWER, until=T + 90_001.0, within=1e5)
            assert latest.values.tolist() == [-3.0, -2.0]
            assert (latest.at - T).tolist() == [90_000.0, 10.0]
        assert store.latest(RX_POWER, until=T + 90_001.0, within=60.0).values.tolist() == [-3.0]

    def test_a_name_of_which_nothing_was_read_yet_has_nothing_to_tell(self, reopen: Open) -> None:
        store = reopen()
        store.append([batch(store.table, 0, T + 10.0, {UP: 1.0})])
        fresh = store.table.intern(UP, ("a name", "just new"))
        assert store.latest(UP, until=T + 20.0, within=1e5).values.tolist() == [1.0]
        assert [len(column) for column in store.one(fresh, T, T + 20.0)] == [0, 0]

    def test_one_series_comes_alone(self, reopen: Open) -> None:
        store = reopen()
        for at in (10.0, 20.0, 30.0):
            store.append([batch(store.table, 0, T + at, {RX_POWER: [at, -at]})])
        second = int(series(store.table, RX_POWER, 0, 2)[1])
        at_, values = store.one(second, start=T + 10.0, end=T + 30.0)
        assert (at_ - T).tolist() == [20.0, 30.0]
        assert values.tolist() == [-20.0, -30.0]

    def test_steps_give_the_last_of_a_counter_and_the_mean_of_a_gauge(self, reopen: Open) -> None:
        store = reopen()
        for at in range(10, 181, 10):
            store.append([batch(store.table, 0, T + at, {RX_BYTES: at * 5.0, RX_POWER: at / 10})])
        counter = store.window(RX_BYTES, until=T + 180.0, seconds=180.0, step=60)
        gauge = store.window(RX_POWER, until=T + 180.0, seconds=180.0, step=60)
        np.testing.assert_array_equal(counter.values, [[300.0, 600.0, 900.0]])
        np.testing.assert_array_equal(counter.at - T, [[60.0, 120.0, 180.0]])
        np.testing.assert_allclose(gauge.values, [[3.5, 9.5, 15.5]])

    def test_long_spans_come_by_the_step(self, reopen: Open) -> None:
        store = reopen()
        every = [T + 10.0 * number for number in range(1, 2521)]  # seven hours
        store.append(
            [batch(store.table, 0, at, {RX_BYTES: at - T, RX_POWER: -3.0}) for at in every]
        )
        counter = store.window(RX_BYTES, until=T + 25_170.0, seconds=25_000.0, step=600)
        gauge = store.window(RX_POWER, until=T + 25_170.0, seconds=25_000.0, step=600)
        ends = [*range(600, 25_170, 600), 25_170]
        assert (counter.values[0]).tolist() == ends
        assert (counter.at[0] - T).tolist() == ends
        np.testing.assert_allclose(gauge.values, [[-3.0] * len(ends)])

    def test_what_is_no_number_is_no_reading(self, reopen: Open) -> None:
        store = reopen()
        readings: dict[Metric, float | list[float]] = {UP: np.nan, RX_BYTES: np.inf, RX_POWER: -1.0}
        store.append([batch(store.table, 0, T + 10.0, readings)])
        assert len(store.window(UP, T + 10.0, 10.0)) == 0
        assert len(store.window(RX_BYTES, T + 10.0, 10.0)) == 0
        assert len(store.window(RX_POWER, T + 10.0, 10.0)) == 1

    def test_a_series_of_two_clocks_belongs_to_the_one_that_read_it_last(
        self, reopen: Open
    ) -> None:
        store = reopen()
        mine = series(store.table, UP, 0)
        clocks = [store.table.clock(source, "leaf-0") for source in ("sonic", "snmp")]
        rows = [(0, 10.0, 1.0), (1, 12.0, 0.0), (0, 20.0, 1.0), (1, 22.0, 0.0), (0, 30.0, 1.0)]
        for clock, at, value in rows:
            store.append([Batch(clocks[clock], T + at, mine, np.array([value]))])
        samples = [(clocks[c], T + at, mine, np.array([value])) for c, at, value in rows]
        for until in (T + 9.0, T + 11.0, T + 25.0, T + 30.0):
            want = aligned(UP, store.table, samples, until, 60.0)
            assert_equal(store.window(UP, until, 60.0), want)
        assert store.window(UP, T + 30.0, 60.0).values.tolist() == [[1.0, 1.0, 1.0]]
        assert (store.one(int(mine[0]), T, T + 25.0)[0] - T).tolist() == [10.0, 12.0, 20.0, 22.0]
        assert store.latest(UP, T + 25.0, 60.0).values.tolist() == [0.0]

    def test_span_is_from_first_to_last(self, reopen: Open) -> None:
        store = reopen()
        store.append([batch(store.table, 0, T + at, {UP: 1.0}) for at in (50.0, 20.0, 9_070.0)])
        assert store.span() == (T + 20.0, T + 9_070.0)

    def test_who_has_a_mark_is_told_what_came_since(self, reopen: Open) -> None:
        store = reopen()
        store.append([batch(store.table, 0, T + at, {UP: at}) for at in (10.0, 20.0)])
        told, mark = store.news(UP, T + 25.0, 600.0)
        assert told.values.tolist() == [[10.0, 20.0]]
        store.append([batch(store.table, 0, T + at, {UP: at}) for at in (15.0, 30.0)])
        told, mark = store.news(UP, T + 35.0, 600.0, mark)
        assert {15.0, 30.0} <= set(told.values[0].tolist())
        store.append([batch(store.table, 1, T + 930.0, {UP: 930.0})])
        told, mark = store.news(UP, T + 931.0, 600.0, mark)
        assert told.values.tolist() == [[930.0]]


VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 5e-324, 1e300, -2.17, 0.1 + 0.2, 2.0**53, 2.0**64]
)
TIMES = st.integers(0, 40).map(float) | st.floats(0, 8000) | st.sampled_from([3600.0, 7200.0])
READINGS = st.dictionaries(
    st.sampled_from(list(METRICS)), st.lists(VALUES, min_size=1, max_size=3), min_size=1
)
BATCHES = st.tuples(st.integers(0, 3), TIMES, READINGS, st.sampled_from(["sonic", "snmp"]))
MOVES = st.lists(BATCHES, max_size=5) | st.sampled_from(["maintain", "restart", "ask"])


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(moves=st.lists(MOVES, max_size=14), until=TIMES, seconds=st.floats(0.5, 9000))
@pytest.mark.parametrize("kind", EMBEDDED)
def test_windows_equal_the_slow_reference(
    kind: str,
    moves: list[str | list[tuple[int, float, dict[Metric, list[float]], str]]],
    until: float,
    seconds: float,
    tmp_path_factory: pytest.TempPathFactory,
    servers: Servers,
) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = STORES[kind](folder, servers)
    kept: list[Batch] = []
    for move in moves:
        if move == "restart":
            store.close()
            store = STORES[kind](folder, servers)
        elif move == "maintain" and isinstance(store, EmbeddedStore):
            store.fold_now()
            while store.maintain():
                pass
        elif move == "ask":
            for metric in METRICS:
                store.window(metric, until, seconds)
        elif isinstance(move, list):
            batches = [
                batch(store.table, target, at, {m: list(v) for m, v in values.items()}, source)
                for target, at, values, source in move
                if all(len(m.labels) > 2 or len(v) == 1 for m, v in values.items())
            ]
            store.append(batches)
            kept += batches
    samples = [(one.clock, one.at, one.series, one.values) for one in kept]
    for metric in METRICS:
        want = aligned(metric, store.table, samples, until, seconds)
        assert_equal(store.window(metric, until, seconds), want)
    store.close()


MILLISECONDS = st.integers(0, 900_000).map(lambda ms: (T * 1e3 + ms) / 1e3)
INSTRUMENTS = st.one_of(
    st.integers(0, 2**48).map(float),
    st.integers(-4000, 2000).map(lambda n: n / 100),
    st.sampled_from([0.0, 1.0, 2.4e-4, 1.25e-12, 47.5]),
)
"""Counters, decimals, ratios: what engines keep to 15 digits or so is kept whole."""
POLLS = st.tuples(
    st.integers(0, 3),
    MILLISECONDS,
    st.dictionaries(
        st.sampled_from(list(METRICS)), st.lists(INSTRUMENTS, min_size=1, max_size=3), min_size=1
    ),
    st.sampled_from(["sonic", "snmp"]),
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    moves=st.lists(st.lists(POLLS, min_size=1, max_size=5, unique_by=lambda p: (p[0], p[1], p[3]))),
    until=MILLISECONDS,
    seconds=st.floats(0.5, 1200),
)
@pytest.mark.parametrize("kind", [kind for kind in SERVED if "peer" not in kind])
def test_windows_of_servers_equal_the_slow_reference(
    kind: str,
    moves: list[list[tuple[int, float, dict[Metric, list[float]], str]]],
    until: float,
    seconds: float,
    tmp_path_factory: pytest.TempPathFactory,
    servers: Servers,
) -> None:
    folder = tmp_path_factory.mktemp(f"site-{next(_site)}-")
    store = STORES[kind](folder, servers)
    seen: set[tuple[int, float, str]] = set()
    kept: list[Batch] = []
    for move in moves:
        fresh = [poll for poll in move if (poll[0], poll[1], poll[3]) not in seen]
        seen |= {(poll[0], poll[1], poll[3]) for poll in move}
        batches = [
            batch(store.table, target, at, {m: list(v) for m, v in values.items()}, source)
            for target, at, values, source in fresh
            if all(len(m.labels) > 2 or len(v) == 1 for m, v in values.items())
        ]
        store.append(batches)
        kept += batches
        for metric in METRICS:
            store.window(metric, until, seconds)
    samples = [(one.clock, one.at, one.series, one.values) for one in kept]
    for metric in METRICS:
        want = aligned(metric, store.table, samples, until, seconds)
        got = store.window(metric, until, seconds)
        assert got.series.tolist() == want.series.tolist()
        np.testing.assert_array_equal(got.times, want.times)
        digits = 1e-14 if kind == "VictoriaMetrics" else 0.0
        np.testing.assert_allclose(got.values, want.values, rtol=digits)
    store.close()


ONE_SOURCE = st.lists(st.tuples(st.integers(0, 3), TIMES, READINGS), max_size=4)
STEPS = ONE_SOURCE | st.sampled_from(["maintain", "restart", "ask", "ask"])


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(STEPS, max_size=16), asked=st.lists(TIMES, min_size=17, max_size=17))
@pytest.mark.parametrize("kind", EMBEDDED)
def test_news_leave_nothing_out(
    kind: str,
    steps: list[str | list[tuple[int, float, dict[Metric, list[float]]]]],
    asked: list[float],
    tmp_path_factory: pytest.TempPathFactory,
    servers: Servers,
) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = STORES[kind](folder, servers)
    asked.sort()
    marks: dict[Metric, object] = dict.fromkeys(METRICS)
    told: dict[tuple[int, float], float] = {}
    for step in [*steps, "ask"]:
        if step == "restart":
            store.close()
            store = STORES[kind](folder, servers)
            marks = dict.fromkeys(METRICS)
        elif step == "maintain" and isinstance(store, EmbeddedStore):
            store.fold_now()
            while store.maintain():
                pass
        elif step == "ask":
            until = asked.pop(0)
            for metric in METRICS:
                window, marks[metric] = store.news(metric, until, 1e5, marks[metric])
                told |= readings(window)
        elif isinstance(step, list):
            store.append(
                [
                    batch(store.table, target, at, {m: list(v) for m, v in values.items()})
                    for target, at, values in step
                    if all(len(m.labels) > 2 or len(v) == 1 for m, v in values.items())
                ]
            )
    for metric in METRICS:
        held = readings(store.window(metric, until, 1e5))
        assert held.items() <= told.items()
    store.close()


def readings(window: Window) -> dict[tuple[int, float], float]:
    """Return every value of a window by series and time."""
    return {
        (int(number), float(at)): float(value)
        for number, clock, row in zip(window.series, window.clock, window.values, strict=True)
        for at, value in zip(window.at[clock], row, strict=True)
        if not np.isnan(value)
    }


def test_what_influxdbs_client_writes_is_read_from_victoria_metrics(
    tmp_path: Path, servers: Servers
) -> None:
    address = servers.victoria_metrics()
    labels = {"site": f"site-{next(_site)}"}
    plain = {"url": address, "version": 2, "org": "any", "bucket": "any", "labels": labels}
    out = Influx(InfluxSettings.model_validate(plain), tmp_path).writer()
    for at in (10.0, 20.5):
        out.append([batch(out.table, 0, T + at, {UP: at, RX_POWER: [-2.17, -3.0]})])
    out.flush()
    out.close()
    servers.settle_victoria_metrics()
    settings = PrometheusSettings.model_validate({"read": address, "labels": labels})
    store = Prometheus(settings, tmp_path).reader()
    window = store.window(UP, T + 30.0, 60.0)
    assert window.values.tolist() == [[10.0, 20.5]]
    assert (window.at[window.clock[0]] - T).tolist() == [10.0, 20.5]
    assert store.table.clocks()[window.clock[0]] == ("sonic", "leaf-0")
    assert sorted(store.latest(RX_POWER, T + 30.0, 60.0).values.tolist()) == [-3.0, -2.17]
    store.close()
