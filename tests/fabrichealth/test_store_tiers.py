"""How the embedded store ages: folding, downsampling, forgetting; what is asked stays right."""

from pathlib import Path

import numpy as np
import pytest

from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import RX_BYTES
from fabrichealth.metric import Kind, Metric
from fabrichealth.model import Batch, Floats
from fabrichealth.store.database import PAGE_BYTES
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.settings import Retention, StoreSettings
from tests.fabrichealth.store_samples import poll, polls

HOUR, DAY = 3600.0, 86_400.0


def aged(store: EmbeddedStore, now: float | None = None) -> EmbeddedStore:
    """Fold all there is and do everything else that is due."""
    store.fold_now()
    while store.maintain(1.0, now):
        pass
    return store


def folded(folder: Path, hours: float, settings: StoreSettings | None = None) -> EmbeddedStore:
    """Return a store with hours of polls of two targets, folded every ten minutes."""
    store = EmbeddedStore.open(folder, settings=settings)
    for start in np.arange(0.0, hours * HOUR, 600.0):
        store.append(polls(store.table, start, start + 600.0, targets=(0, 1)))
        aged(store)
    return store


def noisy(batch: Batch, chance: np.random.Generator) -> Batch:
    """Return a batch whose values no codec can make small."""
    values = batch.values * (1 + chance.random(len(batch)) / 1e3)
    return Batch(batch.clock, batch.at, batch.series, values)


def by_step(store: EmbeddedStore, metric: Metric, start: float, end: float, step: float) -> Floats:
    """Return what the steps of series 0 of a metric must be, from the readings: [at, value]."""
    at, values = store.one(int(store.table.of(metric)[0]), start, end)
    bucket = np.ceil(at / step)
    rows = []
    for one in np.unique(bucket):
        mine = bucket == one
        last = metric.kind is Kind.COUNTER
        rows.append((at[mine][-1], values[mine][-1] if last else values[mine].mean()))
    return np.array(rows).T


@pytest.mark.parametrize("step", [60.0, 600.0])
@pytest.mark.parametrize("metric", [RX_BYTES, RX_POWER], ids=["counter", "gauge"])
def test_steps_are_the_same_whichever_tier_serves(
    tmp_path: Path, metric: Metric, step: float
) -> None:
    store = folded(tmp_path, hours=3.5)
    want = by_step(store, metric, 0.0, 3.5 * HOUR, step)
    window = store.window(metric, until=3.5 * HOUR, seconds=3.5 * HOUR, step=step)
    np.testing.assert_array_equal(window.at[window.clock[0]], want[0])
    np.testing.assert_allclose(window.values[0], want[1], atol=0.005)
    at, values = store.one(int(window.series[0]), 0.0, 3.5 * HOUR, step)
    np.testing.assert_array_equal(at, want[0])
    np.testing.assert_array_equal(values, window.values[0])
    store.close()


def test_readings_that_come_late_change_their_hour(tmp_path: Path) -> None:
    store = folded(tmp_path, hours=3)
    before = store.window(RX_POWER, 2 * HOUR, HOUR, step=60).values[0].copy()
    store.append([poll(store.table, 0, HOUR + 1505.0, power=-20.0)])
    aged(store)
    after = store.window(RX_POWER, 2 * HOUR, HOUR, step=60).values[0]
    changed = np.flatnonzero(before != after)
    assert changed.tolist() == [25]
    assert after[25] == pytest.approx((6 * -2.0 - 20.0) / 7, abs=0.005)
    store.close()


def test_old_readings_go_and_their_minutes_stay(tmp_path: Path) -> None:
    settings = StoreSettings(retention=Retention(raw=1 * HOUR, one_minute=3 * HOUR))
    store = folded(tmp_path, 6.0, settings)
    aged(store, now=6 * HOUR)
    at, values = store.one(0, 0.0, 6 * HOUR)
    steps = np.diff(at)
    assert np.median(steps[at[1:] > 5.1 * HOUR]) == 10.0
    assert np.median(steps[(at[1:] > 3.3 * HOUR) & (at[1:] < 4.9 * HOUR)]) == 60.0
    assert np.median(steps[at[1:] < 2.9 * HOUR]) == 600.0
    np.testing.assert_array_equal(values, at * 1e9)
    window = store.window(RX_BYTES, 6 * HOUR, 6 * HOUR)
    np.testing.assert_array_equal(window.at[window.clock[0]][-len(at) :], at)
    store.close()


def test_a_store_that_grew_too_large_forgets_readings_first(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path, settings=StoreSettings(max_bytes=400_000))
    chance = np.random.default_rng(0)
    for start in np.arange(0.0, 9 * HOUR, 600.0):
        smooth = polls(store.table, start, start + 600.0, targets=range(8))
        store.append([noisy(one, chance) for one in smooth])
        aged(store)
    pages, _ = store._database.pages
    assert pages * PAGE_BYTES <= 400_000
    at, _ = store.one(0, 0.0, 9 * HOUR)
    assert at[-1] == 9 * HOUR - 10.0
    assert at[0] < HOUR
    assert np.diff(at[:5]).min() >= 50.0
    store.close()


def test_numbers_and_windows_survive_folding_and_restarts(tmp_path: Path) -> None:
    odd = tmp_path / "50% of what? #1"
    store = folded(odd, 1.5)
    before = store.window(RX_POWER, 1.5 * HOUR, 1.5 * HOUR)
    store.close()
    again = EmbeddedStore.open(odd, read_only=True)
    after = again.window(RX_POWER, 1.5 * HOUR, 1.5 * HOUR)
    np.testing.assert_array_equal(before.values, after.values)
    np.testing.assert_array_equal(before.series, after.series)
    again.close()


def test_a_slow_metric_does_not_leave_a_chunk_for_each_poll(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path)
    for at in np.arange(0.0, 2 * HOUR, 300.0):
        store.append([poll(store.table, 0, float(at) + 1)])
        aged(store)
    aged(store, now=DAY)
    places = store._database.places(0, 1, 0.0, DAY)
    assert len(places) <= 3
    assert len(store.one(0, 0.0, DAY)[0]) == 24
    store.close()


def test_settings_are_written_as_in_the_site_file() -> None:
    read = StoreSettings.model_validate(
        {
            "kind": "embedded",
            "retention": {"raw": "12h", "1m": "7d", "10m": "1y"},
            "max_bytes": "5GiB",
        }
    )
    assert (read.retention.raw, read.retention.one_minute) == (12 * HOUR, 7 * DAY)
    assert (read.retention.ten_minutes, read.max_bytes) == (365 * DAY, 5 * 2**30)
