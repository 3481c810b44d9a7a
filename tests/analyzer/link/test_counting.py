"""Increases over windows: the quick way against a plain reading, value after value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.evidence.link.counting import counted
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS
from fabrichealth.model import Batch, Window
from tests.reference_store import ReferenceStore

START = 1_800_000_000.0
NAN = float("nan")


def window(rows: list[list[float]], period: float = 10.0) -> Window:
    """Return a window of ports of one device, read every `period` seconds; NaN is missing."""
    store = ReferenceStore()
    clock = store.table.clock("test", "leaf-0")
    series = store.table.intern_all([(FEC_CORRECTED_BITS, ("leaf-0", str(n)))
                                     for n in range(len(rows))])  # fmt: skip
    for number in range(len(rows[0])):
        values = np.array([row[number] for row in rows])
        said = np.isfinite(values)
        at = START + number * period
        store.append([Batch(clock, at, series[said], values[said])])
    end = START + (len(rows[0]) - 1) * period
    return store.window(FEC_CORRECTED_BITS, end + 1.0, end - START + 2.0)


def plainly(row: list[float], settled: float, period: float = 10.0) -> tuple[float, float]:
    """Add up by hand what rose, and the time that it took."""
    low, high = FEC_CORRECTED_BITS.valid
    total, seconds, before, then = 0.0, 0.0, NAN, NAN
    for number, value in enumerate(row):
        if not low <= value <= high:
            continue
        at = START + number * period
        if value >= before and then >= settled:
            total, seconds = total + value - before, seconds + at - then
        before, then = value, at
    return total, seconds


VALUES = st.integers(0, 1000).map(float) | st.sampled_from([NAN, -5.0, 1e300])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(VALUES, min_size=6, max_size=6), min_size=1, max_size=4),
    st.sampled_from([-np.inf, START - 1.0, START + 15.0, START + 1e6]),
)
def test_totals_are_those_of_a_plain_reading(rows: list[list[float]], settled: float) -> None:
    rows = [*rows, [0.0, 1.0, 1.0, 2.0, 5.0, 9.0]]
    seen = window(rows)
    said = counted(seen, np.full(len(seen), settled))
    for place in range(len(seen)):
        mine = int(seen.labels(place)[1])
        total, seconds = plainly(rows[mine], settled)
        assert said.increase[place] == pytest.approx(total)
        assert said.seconds[place] == pytest.approx(seconds)


def test_the_newest_step_is_told_apart() -> None:
    said = counted(window([[0.0, 10.0, 20.0, 120.0]]), np.array([-np.inf]))
    assert said.latest[0] == pytest.approx(10.0)
    assert (said.increase[0], said.seconds[0]) == (120.0, 30.0)


def test_who_stopped_speaking_is_not_fresh() -> None:
    silent = [0.0, 1.0, 2.0, *[NAN] * 9]
    speaking = [float(n) for n in range(12)]
    said = counted(window([silent, speaking]), np.full(2, -np.inf))
    assert said.fresh.tolist() == [False, True]
