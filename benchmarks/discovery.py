"""What it costs to make links of what both ends of 20,000 say, and to hear the same again.

The first hearing and the laying out happen once; a fabric that says the same at the next poll must
cost next to nothing, for that is every poll. Goal: 0.1 s for a repeated answer of 40,000
neighbours; each piece holds up the collecting process for as long.

    python -m benchmarks.discovery [--links 20000]
"""

import argparse
import resource
import time

import numpy as np

from collectors.inventory import Inventory
from fabrichealth.catalogue.ports import UP
from fabrichealth.model import Batch, Neighbor, Poll, SeriesTable
from fabrichealth.topology import Topology
from fabrichealth.topology.writing import text_of

GOAL_AGAIN = 0.1
PORTS = 64
NOW = 1_800_000_000.0


def _said(links: int) -> list[Neighbor]:
    """Return what both ends of so many links say."""
    pairs = [
        (f"leaf-{n // PORTS:04d}", f"Ethernet{n % PORTS * 4}", f"host-{n // 8:05d}", f"eth{n % 8}")
        for n in range(links)
    ]
    return [Neighbor(*pair, "lldp") for pair in pairs] + [
        Neighbor(there, far, here, port, "lldp") for here, port, there, far in pairs
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", type=int, default=20_000)
    asked = parser.parse_args()
    table = SeriesTable()
    inventory = Inventory(table, Topology())
    series = table.intern_all([(UP, ("leaf-0000", "Ethernet0"))])
    poll = Poll(
        [Batch(table.clock("s", "t"), NOW, series, np.ones(1))], neighbors=_said(asked.links)
    )
    began = time.perf_counter()
    inventory.take(poll)
    heard = time.perf_counter()
    infos = inventory.batch(NOW)
    told = time.perf_counter()
    inventory.take(poll)
    inventory.batch(NOW + 1)
    again = time.perf_counter() - told
    assert len(inventory.topology.links) == asked.links
    written = time.perf_counter()
    text_of(inventory.topology)
    written = time.perf_counter() - written
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{asked.links} links by both ends: first heard {heard - began:.2f} s, laid out as "
        f"{len(infos)} info series {told - heard:.2f} s; heard again {again:.3f} s (goal "
        f"{GOAL_AGAIN:g} s {'met' if again < GOAL_AGAIN else 'MISSED'}); printed as YAML "
        f"{written:.2f} s; {peak:.0f} MB in all"
    )


if __name__ == "__main__":
    main()
