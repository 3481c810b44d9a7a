"""How fast our own /metrics is written, against prometheus-client in the same run.

A million series of three labels; every value changed since the last scrape. The peer is
`generate_latest` over its own Gauge children or over a custom collector, whichever is faster
on the smaller number of series (printed), then run once at the full number. Also printed: the
longest piece, for which the event loop waits, and what gzip adds. Run:
`python -m benchmarks.exporter`.
"""

import argparse
import statistics
import time
import zlib
from collections.abc import Iterable

import numpy as np
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import GaugeMetricFamily

from fabrichealth.catalogue import ports
from fabrichealth.model import Batch, Floats, Labels, SeriesTable
from fabrichealth.runtime.exporter import Exporter
from fabrichealth.runtime.exporter_format import Format

METRIC = ports.FEC_CODEWORDS
NAME, HELP = "fabric_port_fec_codewords_total", METRIC.help


def names(series: int) -> list[Labels]:
    """Return labels of ports of a pod, 16 bins each."""
    return [
        (f"host-{at // 288:04d}", f"nvlink/{at // 16 % 18}", str(at % 16)) for at in range(series)
    ]


def fresh(series: int, seed: int) -> Floats:
    """Return values that all differ from those of another seed: counts, and some fractions."""
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 10**10, series).astype(np.float64)
    values[::5] *= 0.1
    return values


def ours(series: int, scrapes: int) -> tuple[float, float, float, float]:
    """Return seconds of first page, later pages (median), longest later piece, and with gzip."""
    table = SeriesTable()
    exporter = Exporter(table)
    numbers = table.intern_all((METRIC, labels) for labels in names(series))
    clock = table.clock("benchmark", "pod")
    spent: list[float] = []
    longest = packed = 0.0
    for scrape in range(scrapes + 1):
        exporter.observe(Batch(clock, float(scrape), numbers, fresh(series, scrape)))
        begun = last = time.perf_counter()
        lines = 0
        for piece in exporter.pieces(float(scrape), Format.TEXT):
            now = time.perf_counter()
            longest, last = max(longest, (now - last) * (scrape > 0)), now
            lines += piece.count(b"\n")
        spent.append(time.perf_counter() - begun)
        assert lines == series + 2
    begun = time.perf_counter()
    pack = zlib.compressobj(1, wbits=31)
    for piece in exporter.pieces(float(scrapes), Format.TEXT):
        pack.compress(piece)
    pack.flush()
    packed = time.perf_counter() - begun
    return spent[0], statistics.median(spent[1:]), longest, packed


class Collected:
    """A custom collector, as prometheus-client's documentation has it."""

    def __init__(self, labels: list[Labels]) -> None:
        self.labels = labels
        self.values: list[float] = []

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield the family with a sample per series."""
        family = GaugeMetricFamily(NAME, HELP, labels=METRIC.labels)
        for labels, value in zip(self.labels, self.values, strict=True):
            family.add_metric(labels, value)
        yield family


def by_collector(series: int) -> float:
    """Return seconds of a scrape through a custom collector; setting the values is not counted."""
    collected = Collected(names(series))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collected)
    collected.values = fresh(series, 1).tolist()
    begun = time.perf_counter()
    generate_latest(registry)
    return time.perf_counter() - begun


def by_children(series: int) -> float:
    """Return seconds of a scrape of Gauge children; setting the values is not counted."""
    registry = CollectorRegistry()
    gauge = Gauge(NAME, HELP, METRIC.labels, registry=registry)
    for labels, value in zip(names(series), fresh(series, 1).tolist(), strict=True):
        gauge.labels(*labels).set(value)
    begun = time.perf_counter()
    generate_latest(registry)
    return time.perf_counter() - begun


def main() -> None:
    """Print what both take."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--series", type=int, default=1_000_000)
    asked.add_argument("--scrapes", type=int, default=5)
    given = asked.parse_args()
    few = min(given.series, 100_000)
    peers = {"collector": by_collector, "children": by_children}
    small = {name: min(peer(few) for _ in range(3)) for name, peer in peers.items()}
    best = min(small, key=lambda name: small[name])
    print(f"prometheus-client at {few}: {', '.join(f'{n} {s:.2f} s' for n, s in small.items())}")
    theirs = peers[best](given.series)
    first, later, longest, packed = ours(given.series, given.scrapes)
    print(
        f"{given.series} series: prometheus-client ({best}) {theirs:.2f} s | ours {later:.3f} s"
        f" = {theirs / later:.0f}x, longest piece {longest * 1e3:.1f} ms, with gzip {packed:.2f} s"
        f" | first page {first:.2f} s"
    )


if __name__ == "__main__":
    main()
