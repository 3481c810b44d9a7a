"""Stores on servers that refuse, are away, know us not, or hold what is not ours."""

import gzip
import logging
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cramjam
import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from influxdb_client import Point

from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import PORT_INFO, RX_BYTES, UP
from fabrichealth.errors import SiteError, StoreError
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.store.engines.influx import Influx, InfluxSettings
from fabrichealth.store.engines.prometheus import Prometheus, PrometheusSettings
from fabrichealth.store.remote import delivery, shared
from fabrichealth.store.remote.line_protocol import LineProtocol
from fabrichealth.store.remote.promql import PromqlReads
from fabrichealth.store.remote.remote_write import RemoteWrite, framed, varint
from fabrichealth.store.remote.shared import SharedStore
from fabrichealth.store.remote.spool import Spool

AT = 1_700_000_000.123


class Server:
    """An HTTP server that answers as told, and remembers what it took."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.asked: list[str] = []
        self.answer: Callable[[str, bytes], tuple[int, bytes]] = lambda path, body: (204, b"")
        self.authorization = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.authorization = self.headers.get("Authorization", "")
                outer.asked.append(self.path)
                status, said = outer.answer(self.path, body)
                if status == 204:
                    outer.taken.append(body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *words: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(delivery, "PARTING", 1.0)


Opens = Callable[..., SharedStore]


@pytest.fixture
def opened(server: Server, tmp_path: Path) -> Iterator[Opens]:
    stores: list[SharedStore] = []

    def again(**more: object) -> SharedStore:
        plain = {"read": server.address, "write": f"{server.address}/write", **more}
        settings = PrometheusSettings.model_validate(plain)
        stores.append(Prometheus(settings, tmp_path).store(read=True, write=True))
        return stores[-1]

    yield again
    for store in stores:
        store.close()


def port(table: SeriesTable, at: float = AT, *ports: str) -> Batch:
    """Return whether some ports are up."""
    series = table.intern_all((UP, ("leaf-01", one)) for one in ports or ("1",))
    return Batch(table.clock("sonic", "leaf-01"), at, series, np.ones(len(series)))


def samples(bodies: list[bytes]) -> int:
    """Return how many samples some requests hold."""
    return sum(bytes(cramjam.snappy.decompress_raw(body)).count(b"__name__") for body in bodies)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "wants other credentials (401"),
        (403, "wants other credentials (403"),
        (404, "has nothing at that path (404"),
        (307, "sends us elsewhere (307)"),
        (429, "cannot do it now (429"),
        (503, "cannot do it now (503"),
    ],
)
def test_a_server_that_takes_nothing_now_gets_it_later(
    server: Server, opened: Opens, caplog: pytest.LogCaptureFixture, status: int, says: str
) -> None:
    store = opened()
    server.answer = lambda path, body: (status, b"not you")
    store.append([port(store.table)])
    with pytest.raises(StoreError):
        store.flush(0.3)
    assert (store.spooled, store.dropped) == (1, 0)
    server.answer = lambda path, body: (204, b"")
    store.flush()
    assert (store.spooled, store.dropped, samples(server.taken)) == (0, 0, 1)
    first, last = (record.getMessage() for record in caplog.records)
    assert says in first
    assert "\n" not in first
    assert "takes readings again" in last


def test_a_server_that_is_away_gets_it_after_our_restart(server: Server, opened: Opens) -> None:
    server.answer = lambda path, body: (503, b"")
    store = opened()
    store.append([port(store.table, AT + number) for number in range(3)])
    store.append([port(store.table, AT + 10.0)])
    store.close()
    server.answer = lambda path, body: (204, b"")
    store = opened()
    store.flush()
    assert [samples([body]) for body in server.taken] == [3, 1]


def test_what_is_refused_is_dropped_alone(
    server: Server, opened: Opens, caplog: pytest.LogCaptureFixture
) -> None:
    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        bad = b"poison" in bytes(cramjam.snappy.decompress_raw(body))
        return (400, b"out of order\nsample") if bad else (204, b"")

    server.answer = answer
    store = opened()
    many = [f"{number}" for number in range(60)]
    store.append([port(store.table, AT, *many), port(store.table, AT, "poison")])
    store.flush()
    assert (samples(server.taken), store.dropped, store.spooled) == (60, 1, 0)
    (said,) = (record.getMessage() for record in caplog.records)
    assert "refuses (400: out of order sample)" in said
    assert "1 samples dropped" in said


def test_a_full_spool_lets_the_oldest_go_and_counts(server: Server, opened: Opens) -> None:
    server.answer = lambda path, body: (503, b"")
    store = opened(spool="1KiB")
    for number in range(40):
        store.append([port(store.table, AT + number)])
    assert store.spooled + store.dropped == 40
    assert store.dropped > 0
    server.answer = lambda path, body: (204, b"")
    store.flush()
    # what was under way while the answer changed came twice
    assert samples(list(dict.fromkeys(server.taken))) == 40 - store.dropped


def test_what_is_being_sent_when_the_spool_fills_is_not_counted_as_lost(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 10)
    for number in range(4):
        spool.put(b"%d234" % number, 1)
        if number == 0:
            first = spool.oldest()
    assert first is not None
    assert first[1] == b"0234"
    assert (spool.samples, spool.dropped) == (2, 2)
    spool.done(first[0])
    assert (spool.samples, spool.dropped) == (1, 2)
    last = spool.oldest()
    assert last is not None
    assert last[1] == b"3234"
    spool.given_back()
    for number in range(4, 6):
        spool.put(b"%d234" % number, 1)
    assert spool.dropped == 3
    spool.close()


def test_no_request_is_too_large_for_its_server(
    server: Server, opened: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "REQUEST_SAMPLES", 7)
    store = opened()
    sizes = (3, 4, 1, 9, 2, 5)
    many = [port(store.table, AT + size, *map(str, range(size))) for size in sizes]
    store.append(many)
    store.flush()
    assert [samples([body]) for body in server.taken] == [7, 1, 9, 7]


def test_two_writers_do_not_share_a_spool(opened: Opens) -> None:
    opened()
    with pytest.raises(StoreError, match="another process writes"):
        opened()


def test_a_spool_keeps_its_order_over_a_restart(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 0)
    for number in range(12):
        spool.put(b"%d" % number, number)
    spool.close()
    (tmp_path / "draft").write_bytes(b"half of a req")
    (tmp_path / "a stranger.request").write_bytes(b"")
    spool = Spool(tmp_path, 0)
    seen = []
    while (found := spool.oldest()) is not None:
        seen.append((found[1], found[2]))
        spool.done(found[0])
    assert seen == [(b"%d" % number, number) for number in range(12)]
    spool.close()


def test_who_reads_is_told_in_one_line_what_is_wrong(server: Server, opened: Opens) -> None:
    def slow() -> int:
        threading.Event().wait(0.6)
        return 200

    store = opened(timeout="300ms")
    named, said = {"device": "leaf-01", "port": "1"}, []
    answers: list[Callable[[str, bytes], tuple[int, bytes]]] = [
        lambda path, body: (401, b"who\nare you"),
        lambda path, body: (422, b"too many samples"),
        lambda path, body: (200, b"<html>"),
        lambda path, body: (200, exported(named, 1.0, 2.0).replace(b"[1.0,2.0]", b"[1.0]")),
        lambda path, body: (slow(), b""),
    ]
    for answer in answers:
        server.answer = answer
        with pytest.raises(StoreError) as told:
            store.window(UP, AT, 60.0)
        said.append(str(told.value))
    assert all("\n" not in one for one in said)
    assert "credentials" in said[0]
    assert "too many samples" in said[1]
    assert "check the read address" in said[2]
    assert "check the read address" in said[3]
    assert "does not answer" in said[4]


def test_nobody_listening_is_said_without_what_an_address_may_hide(tmp_path: Path) -> None:
    settings = PrometheusSettings.model_validate({"read": "http://127.0.0.1:9"})
    store = Prometheus(settings, tmp_path).reader()
    with pytest.raises(StoreError, match=r"^http://127.0.0.1:9: does not answer \(.+\); is it"):
        store.window(UP, AT, 60.0)
    with pytest.raises(StoreError, match="read only"):
        store.append([port(store.table)])
    with pytest.raises(StoreError, match="write is not given"):
        Prometheus(settings, tmp_path).writer()


def test_secrets_come_from_files(server: Server, opened: Opens, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    store = opened(token_file=str(tmp_path / "token"))
    store.append([port(store.table)])
    store.flush()
    assert server.authorization == "Bearer s3cret"
    store.close()
    store = opened(user="u", password_file=str(tmp_path / "token"))
    store.append([port(store.table)])
    store.flush()
    assert server.authorization == "Basic dTpzM2NyZXQ="
    with pytest.raises(SiteError, match="cannot be read"):
        opened(token_file=str(tmp_path / "not there"))


@pytest.mark.parametrize(
    ("plain", "says"),
    [
        ({}, "give read, write or both"),
        ({"read": "ftp://a"}, "not an address of the form http"),
        ({"read": "http://u:p@a"}, "holds no password"),
        ({"read": "http://a", "labels": {"device": "x"}}, "'device' cannot be a label"),
        ({"read": "http://a", "labels": {"job": "x"}}, "'job' cannot be a label"),
        ({"read": "http://a", "labels": {"site": " "}}, "needs a value"),
        ({"read": "http://a", "password_file": "p"}, "needs user"),
        ({"read": "http://a", "user": "u", "token_file": "t"}, "or token_file"),
    ],
)
def test_settings_that_cannot_be_are_refused(plain: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        PrometheusSettings.model_validate(plain)


@pytest.mark.parametrize(
    ("plain", "says"),
    [
        ({"version": 1}, "InfluxDB 1 needs db"),
        ({"bucket": "b"}, "InfluxDB 2 needs org"),
        ({"version": 4, "db": "d"}, "1, 2 or 3"),
        ({"version": 3, "db": "d", "retention": "1d"}, "xtra"),
    ],
)
def test_an_influxdb_without_what_its_version_needs_is_refused(
    plain: dict[str, object], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        InfluxSettings.model_validate({"url": "http://a", **plain})


def on_influx(server: Server, folder: Path, **more: object) -> SharedStore:
    settings = InfluxSettings.model_validate({"url": server.address, **more})
    return Influx(settings, folder).store(read=True, write=True)


VERSIONS: list[dict[str, object]] = [
    {"version": 1, "db": "d"},
    {"version": 2, "org": "o", "bucket": "b"},
    {"version": 3, "db": "d"},
]


@pytest.mark.parametrize("plain", VERSIONS)
def test_an_influxdb_that_takes_nothing_now_gets_it_later(
    server: Server, tmp_path: Path, plain: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    server.answer = lambda path, body: (404, b'{"error": "database\nnot found"}')
    store = on_influx(server, tmp_path, **plain)
    store.append([port(store.table)])
    with pytest.raises(StoreError):
        store.flush(0.3)
    assert (store.spooled, store.dropped) == (1, 0)
    server.answer = lambda path, body: (204, b"")
    store.flush()
    store.close()
    (line,) = (gzip.decompress(body) if body[:1] == b"\x1f" else body for body in server.taken)
    assert line == (
        b"fabric,device=leaf-01,instance=leaf-01,job=sonic,port=1 port_up=1.0 1700000000123000000\n"
    )
    assert "database not found" in caplog.records[0].getMessage()


@pytest.mark.parametrize("plain", VERSIONS)
def test_an_influxdb_refuses_lines_alone(
    server: Server, tmp_path: Path, plain: dict[str, object]
) -> None:
    def answer(path: str, body: bytes) -> tuple[int, bytes]:
        lines = gzip.decompress(body) if body[:1] == b"\x1f" else body
        return (400, b"field type conflict") if b"port=7 " in lines else (204, b"")

    server.answer = answer
    store = on_influx(server, tmp_path, **plain)
    store.append([port(store.table, AT, *map(str, range(30)))])
    store.flush()
    assert (store.spooled, store.dropped) == (0, 1)
    store.close()


@pytest.mark.parametrize("plain", VERSIONS)
@pytest.mark.parametrize("said", [b"<html>", b"a,b\n1\n", b'{"results":[{"error":"no"}]}'])
def test_an_influxdb_of_another_version_is_told_as_such(
    server: Server, tmp_path: Path, plain: dict[str, object], said: bytes
) -> None:
    server.answer = lambda path, body: (200, said)
    store = on_influx(server, tmp_path, **plain)
    with pytest.raises(StoreError) as told:
        store.window(UP, AT, 60.0)
    assert "\n" not in str(told.value)
    store.close()


def exported(labels: dict[str, str], *values: float, first: float = AT) -> bytes:
    """Return a line of an export: a value each ten seconds."""
    stamps = [round((first + 10.0 * place) * 1e3) for place in range(len(values))]
    row = {"metric": {"__name__": str(UP), **labels}, "values": values, "timestamps": stamps}
    return orjson.dumps(row) + b"\n"


def test_what_another_system_wrote_under_our_names_is_told_once(
    server: Server, opened: Opens, caplog: pytest.LogCaptureFixture
) -> None:
    ours = {"device": "leaf-01", "port": "1", "job": "sonic", "instance": "leaf-01"}
    lines = [
        exported({"device": "leaf-01"}, 5.0),
        exported(ours, 1.0, 1.0),
        exported({**ours, "cluster": "theirs"}, 0.0, first=AT + 5.0),
    ]
    server.answer = lambda path, body: (200, b"".join(lines))
    store = opened()
    for number in range(3):
        window = store.window(UP, AT + 100.0 + number, 300.0)
    assert [window.labels(row) for row in range(len(window))] == [("leaf-01", "1")]
    assert window.values.tolist() == [[1.0, 0.0, 1.0]]
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(said) == 2
    assert "without port is not ours" in said[0]
    assert "differ only in cluster" in said[1]
    assert "store.labels" in said[1]


def test_what_prometheus_scraped_by_itself_is_read_as_well(server: Server, opened: Opens) -> None:
    scraped = {"device": "leaf-01", "port": "1", "job": "fabrichealth", "instance": "h:9480"}
    server.answer = lambda path, body: (200, exported(scraped, 1.0, 0.0))
    store = opened()
    window = store.window(UP, AT + 20.0, 60.0)
    assert window.values.tolist() == [[1.0, 0.0]]
    assert store.table.clocks()[window.clock[0]] == ("fabrichealth", "h:9480")


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


def spelled(table: SeriesTable, batch: Batch, labels: list[tuple[str, str]], at: int) -> bytes:
    """Return a request of one series in the plainest way there is."""
    body = b"".join(
        framed(b"\x0a", framed(b"\x0a", name.encode()) + framed(b"\x12", text.encode()))
        for name, text in labels
    )
    value = np.float64(batch.values[0]).tobytes()
    return framed(b"\x0a", body + framed(b"\x12", b"\x09" + value + b"\x10" + varint(at)))


@given(device=NAMES, name=NAMES, value=VALUES)
def test_remote_write_is_what_protobuf_says(device: str, name: str, value: float) -> None:
    table = SeriesTable()
    series = table.intern(UP, (device, name))
    batch = Batch(table.clock("sonic", "leaf"), AT, np.array([series], np.int32), np.array([value]))
    encodes = RemoteWrite(table, {"site": "a"})
    labels = [("__name__", str(UP)), ("device", device), ("instance", "leaf"), ("job", "sonic")]
    labels += [("port", name), ("site", "a")]
    want = spelled(table, batch, labels, round(AT * 1e3))
    for _ in range(2):  # from the template as well
        assert bytes(cramjam.snappy.decompress_raw(encodes.body([batch]))) == want


@given(moment=st.floats(0.0, 4.0e9))
def test_a_request_falls_into_halves_that_are_requests(moment: float) -> None:
    table = SeriesTable()
    encodes = RemoteWrite(table, {})
    body = encodes.body([port(table, moment, "1", "2"), port(table, moment, "3")])
    parts = RemoteWrite.halves(body)
    assert [many for _, many in parts] == [1, 2]
    whole = b"".join(bytes(cramjam.snappy.decompress_raw(part)) for part, _ in parts)
    assert whole == bytes(cramjam.snappy.decompress_raw(body))
    assert RemoteWrite.halves(parts[0][0]) == ()


PLAIN = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="\\"),
                min_size=1, max_size=12)  # fmt: skip


@given(device=PLAIN, name=PLAIN, value=VALUES)
def test_line_protocol_is_what_influxdbs_client_writes(
    device: str, name: str, value: float
) -> None:
    table = SeriesTable()
    series = table.intern(UP, (device, name))
    batch = Batch(table.clock("sonic", "leaf"), AT, np.array([series], np.int32), np.array([value]))
    line = LineProtocol(table, {}).body([batch]).decode().removesuffix("\n")
    point = Point("fabric").tag("device", device).tag("port", name)
    point = point.tag("job", "sonic").tag("instance", "leaf").field(UP.name, 1.5)
    theirs = point.time(round(AT * 1e3) * 1_000_000).to_line_protocol()
    head, _, end = line.partition(f" {UP.name}=")
    assert theirs == f"{head} {UP.name}=1.5 {end.rpartition(' ')[2]}"
    assert float(end.rpartition(" ")[0]) == value


def test_hostile_names_make_one_line_each() -> None:
    table = SeriesTable()
    hostile = ("leaf-01", 'a b,c=d"e\\', "two\nlines", "\x00", *["<b>é"] * 10)
    series = [table.intern(PORT_INFO, hostile), table.intern(RX_BYTES, ("leaf-01", "1"))]
    batch = Batch(table.clock("sonic", "x\r\ny"), AT, np.array(series, np.int32), np.ones(2))
    lines = LineProtocol(table, {}).body([batch]).decode().splitlines()
    assert len(lines) == 2
    assert 'port=a\\ b\\,c\\=d"e\\\u2060' in lines[0]
    assert [many for _, many in LineProtocol.halves("\n".join(lines).encode())] == [1, 1]


def test_lanes_keep_their_values_when_one_is_missing() -> None:
    table = SeriesTable()
    encodes = LineProtocol(table, {})
    lanes = table.intern_all((RX_POWER, ("leaf-01", "1", str(lane))) for lane in range(3))
    clock = table.clock("sonic", "leaf-01")
    encodes.body([Batch(clock, AT, lanes, np.array([-1.0, -2.0, -3.0]))])
    lines = encodes.body([Batch(clock, AT, lanes[[2, 0]], np.array([-3.5, -1e-7]))]).splitlines()
    assert [line.split(b" ")[1] for line in lines] == [
        b"optics_rx_power_dbm=-3.5", b"optics_rx_power_dbm=-1e-7",
    ]  # fmt: skip
    assert b"lane=2" in lines[0]


def test_what_another_process_writes_into_an_empty_store_is_seen_at_once(
    opened: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = iter([None, (10.0, 20.0), (10.0, 30.0)])
    monkeypatch.setattr(PromqlReads, "span", lambda reads: next(spans))
    store = opened()
    assert store.span() is None
    assert [store.span(), store.span()] == [(10.0, 20.0), (10.0, 20.0)]  # then once a minute
