"""Judging by hand: what one detector says of readings written as columns."""

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.judge import detectors
from analyzer.viewing import Viewing
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Finding, Labels
from fabrichealth.topology import Topology
from tests.reference_store import ReferenceStore

START = 1_800_000_000.0
Readings = Mapping[tuple[Metric, Labels], Sequence[float]]


def said(
    name: str, readings: Readings, period: float = 1.0, topology: Topology | None = None
) -> list[Finding]:
    """Return what a detector says just after the last of some polls, one clock a device."""
    store = ReferenceStore()
    polls = max(len(values) for values in readings.values())
    devices = sorted({labels[0] for _, labels in readings})
    for device in devices:
        mine = {key: values for key, values in readings.items() if key[1][0] == device}
        clock, series = store.table.clock("test", device), store.table.intern_all(mine)
        for poll in range(polls):
            values = np.array([every[poll] for every in mine.values()])
            store.append([Batch(clock, START + poll * period, series, values)])
    detector: AnyDetector = detectors()[name]
    viewing = Viewing(store, {name: detector})
    viewing.advance(START + (polls - 1) * period + 0.1)
    return list(detector.judge(viewing.view(detector, topology or Topology(), [], [])))


def rising(per_second: float, polls: int = 12, period: float = 1.0) -> list[float]:
    """Return a counter that rises steadily."""
    return [1e6 + per_second * poll * period for poll in range(polls)]
