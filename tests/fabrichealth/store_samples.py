"""Batches for the tests of the embedded store."""

from collections.abc import Sequence

import numpy as np

from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import RX_BYTES
from fabrichealth.model import Batch, SeriesTable

LANES = 4


def poll(table: SeriesTable, target: int, at: float, power: float = -2.0) -> Batch:
    """Return what a switch with one module says: a byte counter (1 GB/s) and light (dBm)."""
    device = f"leaf-{target}"
    series = table.intern_all(
        [
            (RX_BYTES, (device, "Ethernet0")),
            *((RX_POWER, (device, "Ethernet0", str(lane))) for lane in range(1, LANES + 1)),
        ]
    )
    light = [power - lane for lane in range(LANES)]
    return Batch(table.clock("test", device), at, series, np.array([at * 1e9, *light]))


def polls(
    table: SeriesTable, start: float, end: float, every: float = 10.0, targets: Sequence[int] = (0,)
) -> list[Batch]:
    """Return polls at start, start + every, .. before end, targets a second apart."""
    return [
        poll(table, target, float(at) + number)
        for at in np.arange(start, end, every)
        for number, target in enumerate(targets)
    ]
