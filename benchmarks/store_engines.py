"""Stores on servers: encoding, writing and reading, each beside a named peer in the same run.

`python -m benchmarks.store_engines [--quick]`

Encoding: polls of targets already known as remote write (with snappy) and as line protocol, against
influxdb-client's own way, a `Point` a sample. Writing: into one VictoriaMetrics by our spool and
remote write, and by client Points into the same server; series are known to it from a first round.
Reading: a window of 20,000 series x 60 polls, against the bare transfer of the same bytes by the
same library with nothing done to them. Rounds alternate, the best of each counts.
"""

import argparse
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import socket

import numpy as np
import urllib3
from influxdb_client import InfluxDBClient, Point
from influxdb_client.client.write_api import SYNCHRONOUS

from fabrichealth.catalogue.ports import RX_BYTES, RX_PACKETS, TX_BYTES, TX_PACKETS
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.store.engines.prometheus import Prometheus, PrometheusSettings
from fabrichealth.store.remote.line_protocol import LineProtocol
from fabrichealth.store.remote.names import labels_of
from fabrichealth.store.remote.promql import EXPORT
from fabrichealth.store.remote.remote_write import RemoteWrite
from fabrichealth.store.remote.shared import SharedStore

METRICS = (RX_BYTES, TX_BYTES, RX_PACKETS, TX_PACKETS)
PORTS = 50
SERIES = PORTS * len(METRICS)
"""Of each target."""

POLLS = 60
WINDOW_SERIES = 20_000
AT_ONCE = 5_000
"""Points that the client is given at a time, which is its own default for batches."""

POINTS = 20_000
"""Samples of the slow way; its rate does not depend on how many there are."""


def batches(table: SeriesTable, targets: int, at: float, seed: int) -> list[Batch]:
    """Return one poll of each target: counters that all moved."""
    draw = np.random.default_rng(seed)
    found = []
    for target in range(targets):
        device = f"leaf-{target:04d}"
        series = table.intern_all(
            (metric, (device, f"Ethernet{port}")) for metric in METRICS for port in range(PORTS)
        )
        values = draw.integers(0, 2**46, SERIES).astype(np.float64)
        found.append(Batch(table.clock("sonic", device), at, series, values))
    return found


def best(
    work: Callable[[], object], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the seconds of the fastest round."""
    seconds = []
    for _ in range(rounds):
        began = clock()
        work()
        seconds.append(clock() - began)
    return min(seconds)


Sample = tuple[dict[str, str], str, float, int]
"""Tags, field, value, nanoseconds: what a user of the client has in hand."""


def samples(table: SeriesTable, polled: list[Batch], many: int) -> list[Sample]:
    """Return so many samples of some polls."""
    return [
        (labels_of(table, series, table.clocks()[batch.clock], {}), table.metric(series).name,
         value, round(batch.at * 1e3) * 1_000_000)
        for batch in polled[: many // SERIES]
        for series, value in zip(batch.series.tolist(), batch.values.tolist(), strict=True)
    ]  # fmt: skip


def points(given: list[Sample]) -> list[Point]:
    """Return samples as the client's points."""
    found = []
    for tags, field, value, stamp in given:
        point = Point("fabric")
        for name, text in tags.items():
            point.tag(name, text)
        found.append(point.field(field, value).time(stamp))
    return found


def encoding(targets: int, rounds: int) -> None:
    """Print what encoding costs."""
    table = SeriesTable()
    polled = batches(table, targets, time.time(), 1)
    many = sum(map(len, polled))
    remote, lines = RemoteWrite(table, {}), LineProtocol(table, {})
    remote.body(polled), lines.body(polled)
    given = samples(table, polled, POINTS)

    def client() -> None:
        for point in points(given):
            point.to_line_protocol()

    core = time.process_time  # one thread's own work, whoever else is busy
    fast = many / best(lambda: remote.body(polled), rounds, core)
    text = many / best(lambda: lines.body(polled), rounds, core)
    slow = len(given) / best(client, rounds, core)
    print(f"encoding {many} samples of {targets} targets, samples/s of one core")
    print(f"  remote write, snappy   {fast:12,.0f}")
    print(f"  line protocol          {text:12,.0f}   {text / slow:.1f} times client Points")
    print(f"  influxdb-client Points {slow:12,.0f}")


@contextmanager
def victoria_metrics(folder: Path) -> Iterator[str]:
    """Run a VictoriaMetrics; yield its address."""
    with socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{one.getsockname()[1]}"
    words = ["victoria-metrics", f"-storageDataPath={folder}", f"-httpListenAddr={address}"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(300):
                with suppress(OSError), urllib.request.urlopen(f"http://{address}/health"):
                    break
                time.sleep(0.1)
            yield f"http://{address}"
        finally:
            process.terminate()


def opened(address: str, folder: Path, site: str) -> SharedStore:
    """Open a store on the server."""
    settings = PrometheusSettings.model_validate(
        {"read": address, "write": f"{address}/api/v1/write", "labels": {"site": site}}
    )
    return Prometheus(settings, folder / site).store(read=True, write=True)


def writing(address: str, folder: Path, targets: int, rounds: int) -> None:
    """Print what writing costs from batch to acknowledgement."""
    store = opened(address, folder, "written")
    start = time.time() - 3600.0
    polls = iter(range(10_000))

    def ours() -> None:
        store.append(batch_of[next(polls)])
        store.flush(60.0)

    batch_of = [batches(store.table, targets, start + 10.0 * n, n) for n in range(rounds + 1)]
    many = sum(map(len, batch_of[0]))
    ours()  # the first round names the series
    fast = many / best(ours, rounds)
    with_client = InfluxDBClient(address, org="o", timeout=60_000)
    api = with_client.write_api(write_options=SYNCHRONOUS)
    given = samples(store.table, batch_of[0], POINTS)

    def client() -> None:
        made = points(given)
        for first in range(0, len(made), AT_ONCE):
            api.write("b", record=made[first : first + AT_ONCE])

    client()
    slow = len(given) / best(client, rounds)
    with_client.close()
    store.close()
    print(f"into VictoriaMetrics, {many} samples a time, samples/s")
    print(f"  spool and remote write {fast:12,.0f}   {fast / slow:.1f} times client Points")
    print(f"  influxdb-client Points {slow:12,.0f}")


def reading(address: str, folder: Path, series: int, rounds: int) -> None:
    """Print what a window costs, whole and a poll later, beside the bare transfer."""
    store = opened(address, folder, "read")
    targets = series // PORTS
    start = float(int(time.time()) - 1200)
    for poll in range(POLLS + 1):
        store.append(batches(store.table, targets, start + 10.0 * poll, poll))
    store.flush(300.0)
    with urllib.request.urlopen(f"{address}/internal/force_flush"):
        pass
    store.close()
    reader = Prometheus(
        PrometheusSettings.model_validate({"read": address, "labels": {"site": "read"}}), folder
    )
    until = start + 10.0 * (POLLS - 1)
    span = 10.0 * POLLS
    pool = urllib3.PoolManager()
    form = {
        "match[]": f'{RX_BYTES}{{site="read"}}',
        "start": f"{until - span:.3f}",
        "end": f"{until:.3f}",
    }
    sizes: list[int] = []

    def bare() -> None:
        reply = pool.request(
            "POST", f"{address}{EXPORT}", fields=form, encode_multipart=False, preload_content=False
        )
        sizes.append(sum(map(len, reply.stream(4 * 2**20))))

    cold, warm, transfer, later = [], [], [], []
    for _ in range(rounds):
        fresh = reader.reader()
        cold.append(best(lambda: fresh.window(RX_BYTES, until, span), 1))  # noqa: B023 - called here
        known = fresh.window(RX_BYTES, until, span)
        assert known.values.shape == (series, POLLS)
        later.append(best(lambda: fresh.window(RX_BYTES, until + 10.0, span), 1))  # noqa: B023 - called here
        warm.append(best(lambda: fresh.window(RX_BYTES, until - 0.5, span), 1))  # noqa: B023 - called here
        transfer.append(best(bare, 1))
        fresh.close()
    print(f"window of {series} series x {POLLS} polls, {sizes[0] / 1e6:.1f} MB of export, ms")
    bar = min(transfer)
    rows = {"bare transfer": bar, "names new to us": min(cold), "names known": min(warm)}
    for name, seconds in {**rows, "a poll later": min(later)}.items():
        print(f"  {name:22} {seconds * 1e3:8.0f}   {seconds / bar:.2f} times")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    quick = parser.parse_args().quick
    targets, rounds = (100, 2) if quick else (1000, 5)
    encoding(targets, rounds)
    if shutil.which("victoria-metrics") is None:
        print("no victoria-metrics: install the package of that name for the other figures")
        return
    with tempfile.TemporaryDirectory() as place, victoria_metrics(Path(place) / "vm") as address:
        writing(address, Path(place), targets, rounds)
        reading(address, Path(place), WINDOW_SERIES // (10 if quick else 1), rounds)


if __name__ == "__main__":
    main()
