"""The long past of a gauge: bins that close, grow coarse, and are the same after a restart."""

import numpy as np
import pytest

from analyzer.aligned import LATE
from analyzer.long_past import COARSE, FINE, LongPast
from fabrichealth.catalogue.optics import TEMPERATURE
from fabrichealth.model import Batch
from tests.reference_store import ReferenceStore

START = 1_800_000_000.0
PERIOD = 300.0


def store_of(days: float, values: dict[str, float]) -> ReferenceStore:
    """Return a store in which each port's temperature rises by so many kelvin an hour."""
    store = ReferenceStore()
    clock = store.table.clock("test", "leaf-0")
    series = np.array(
        [store.table.intern(TEMPERATURE, ("leaf-0", port)) for port in values], np.int32
    )
    for at in START + np.arange(0.0, days * 86_400.0, PERIOD):
        said = np.array([20.0 + rise * (at - START) / 3600.0 for rise in values.values()])
        store.append([Batch(clock, float(at), series, said)])
    return store


def test_a_bin_holds_the_median_and_closes_when_nothing_late_can_come() -> None:
    store = store_of(0.1, {"0": 1.0})
    past = LongPast(store, {TEMPERATURE: 86_400.0})
    past.advance(START + FINE + LATE - 1.0)
    # the reading at START itself ends the bin before it
    assert past.past(TEMPERATURE).ends.tolist() == [START]
    past.advance(START + FINE + LATE)
    found = past.past(TEMPERATURE)
    assert found.ends.tolist() == [START, START + FINE]
    assert found.values[0, -1] == pytest.approx(20.0 + (PERIOD + FINE) / 2 / 3600.0)


def test_what_is_older_than_a_day_is_coarse_and_what_is_older_than_the_span_is_gone() -> None:
    store = store_of(5.0, {"0": 0.1})
    past = LongPast(store, {TEMPERATURE: 3 * 86_400.0})
    for hour in range(1, 5 * 24):
        past.advance(START + hour * 3600.0)
    found = past.past(TEMPERATURE)
    lengths = found.ends - found.starts
    assert set(lengths) == {FINE, COARSE}
    assert (np.diff(lengths) <= 0).all()
    assert (found.starts[1:] == found.ends[:-1]).all()
    assert found.starts[0] > START + 86_400.0
    assert np.allclose(found.values[0], 20.0 + 0.1 * (found.middles - START) / 3600.0, atol=0.02)


@pytest.mark.parametrize("days", [0.4, 3.0])
def test_a_restart_gives_the_same_past(days: float) -> None:
    store = store_of(days, {"0": 0.1, "1": -0.05})
    end = START + days * 86_400.0
    lived, restarted = (LongPast(store, {TEMPERATURE: 30 * 86_400.0}) for _ in range(2))
    for now in np.arange(START, end + 1.0, 1800.0):
        lived.advance(float(now))
    lived.advance(end)
    restarted.advance(end)
    one, other = lived.past(TEMPERATURE), restarted.past(TEMPERATURE)
    assert one.ends.tolist() == other.ends.tolist()
    assert one.starts.tolist() == other.starts.tolist()
    assert np.allclose(one.values, other.values, atol=0.05, equal_nan=True)


def test_the_same_past_is_handed_out_until_a_bin_closes() -> None:
    store = store_of(0.2, {"0": 1.0})
    past = LongPast(store, {TEMPERATURE: 86_400.0})
    past.advance(START + 2 * FINE + LATE)
    first = past.past(TEMPERATURE)
    past.advance(START + 2.5 * FINE + LATE)
    assert past.past(TEMPERATURE) is first
    past.advance(START + 3 * FINE + LATE)
    assert past.past(TEMPERATURE) is not first


def test_a_series_that_is_new_has_no_past_and_the_old_ones_keep_theirs() -> None:
    store = store_of(0.1, {"0": 0.0})
    past = LongPast(store, {TEMPERATURE: 86_400.0})
    past.advance(START + FINE + LATE)
    store.table.intern(TEMPERATURE, ("leaf-0", "late"))
    found = past.past(TEMPERATURE)
    late, old = found.row("leaf-0", "late"), found.row("leaf-0", "0")
    assert late is not None
    assert old is not None
    assert np.isnan(found.first_at[late])
    assert found.values[old, -1] == 20.0
