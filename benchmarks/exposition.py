"""How fast a Prometheus page is read, against prometheus-client's parser in the same run.

The page has 100,000 samples of three labels; it was seen before, and every value changes between
runs. `page` is bytes to columns (`Reader`), `poll` is bytes to a poll of the catalogue's series
(the prom source: maps, sentinels, duplicates). Run: `python -m benchmarks.exposition`.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable

from prometheus_client.parser import text_string_to_metric_families

from collectors.maps.page_rules import all_maps
from collectors.maps.pages import Pages
from collectors.protocols.exposition import Reader
from collectors.source import Target
from fabrichealth.model import SeriesTable

STAMP = 1_764_410_396_000


def page(samples: int, seed: int, *, stamped: bool, escaped: bool) -> bytes:
    """Return a page of ports whose values follow from the seed."""
    draw = random.Random(seed)
    note = 'rack \\"7\\", row \\\\b' if escaped else "rack 7, row b"
    lines = [
        "# HELP fabric_port_symbol_errors_total x",
        "# TYPE fabric_port_symbol_errors_total counter",
    ]
    stamp = f" {STAMP + seed * 1000}" if stamped else ""
    lines += [
        f'fabric_port_symbol_errors_total{{device="host-{at // 18:04d}",port="nvlink/{at % 18}",'
        f'note="{note}"}} {draw.random() * 1e6:.{draw.randrange(7)}f}{stamp}'
        for at in range(samples)
    ]
    # The last line repeats the one before it with an equal value: one reading.
    return "\n".join([*lines, lines[-1], ""]).encode()


def reference(body: bytes) -> int:
    """Read a page as prometheus-client does; return the number of samples."""
    return sum(len(family.samples) for family in text_string_to_metric_families(body.decode()))


def seconds(work: Callable[[bytes], object], pages: list[bytes]) -> float:
    """Return the median time of `work` over pages."""
    spent = []
    for body in pages:
        begun = time.perf_counter()
        work(body)
        spent.append(time.perf_counter() - begun)
    return statistics.median(spent)


def main() -> None:
    """Print one line per kind of page."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--samples", type=int, default=100_000)
    asked.add_argument("--runs", type=int, default=7)
    given = asked.parse_args()
    for stamped in (False, True):
        for escaped in (False, True):
            bodies = [
                page(given.samples, seed, stamped=stamped, escaped=escaped)
                for seed in range(given.runs + 1)
            ]
            theirs = seconds(reference, bodies[1:4])
            reader = Reader()
            first = seconds(reader.read, bodies[:1])
            ours = seconds(reader.read, bodies[1:])
            table = SeriesTable()
            pages = Pages(table, Target("t", "prom"), all_maps())
            whole = Reader()

            def poll(body: bytes, whole: Reader = whole, pages: Pages = pages) -> int:
                return pages.poll(whole.read(body), STAMP / 1000, 3600.0).readings

            assert poll(bodies[0]) == given.samples
            polled = seconds(poll, bodies[1:])
            print(
                f"{'stamped' if stamped else 'plain':8}{'escaped' if escaped else '':8}"
                f" prometheus-client {theirs * 1e3:7.1f} ms | page {ours * 1e3:6.1f} ms"
                f" = {theirs / ours:5.1f}x | poll {polled * 1e3:6.1f} ms = {theirs / polled:5.1f}x"
                f" | first contact {first * 1e3:7.1f} ms"
            )


if __name__ == "__main__":
    main()
