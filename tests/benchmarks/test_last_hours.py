"""The store of a stream answers about the last hours as the embedded store does."""

from pathlib import Path

import numpy as np
import pytest

from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger
from benchmarks.corpus.hall import hall
from benchmarks.corpus.last_hours import LastHours
from benchmarks.corpus.quiet import QuietHall
from benchmarks.corpus.scene import START
from benchmarks.corpus.technologies import TECHNOLOGIES
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import RX_BYTES
from fabrichealth.catalogue.watchers import ANALYSIS_SECONDS
from fabrichealth.model import Batch
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.protocol import Store
from fabrichealth.topology.contradictions import Written
from fabrichealth.topology.inventory import Topology
from tests.conformance.test_every_store import assert_equal

POLLS, PERIOD = 30, 300.0
SPANS = (600.0, 1800.0, 4320.0)


@pytest.fixture
def stores(tmp_path: Path) -> list[Store]:
    return [EmbeddedStore.open(tmp_path / "store"), LastHours(5400.0)]


def fleet(store: Store) -> tuple[QuietHall, Topology]:
    """Return a small hall in which nothing is wrong, the same at each call."""
    chance = np.random.default_rng(5)
    made = hall(TECHNOLOGIES["roce"], 1, chance)
    written = Written.model_validate(made.topology())
    topology = Topology(written.devices, written.links, written.domains, written.racks)
    return QuietHall(made, store.table, chance, PERIOD), topology


def test_a_judge_sees_the_same_in_both(stores: list[Store]) -> None:
    judged = []
    for store in stores:
        quiet, topology = fleet(store)
        judge = Judge(store, topology, detectors(), Ledger())
        verdicts = []
        for number in range(POLLS):
            store.append(quiet.poll(number))
            outcome = judge.judge(START + (number + 1) * PERIOD)
            told = [one for one in outcome.verdicts if one.metric is not ANALYSIS_SECONDS]
            verdicts.append((told, outcome.changed, outcome.closed))
        judged.append(verdicts)
    assert judged[0][-1][0]
    assert judged[0] == judged[1]


def test_windows_and_news_are_equal_while_they_are_held(stores: list[Store]) -> None:
    quiet = [fleet(store)[0] for store in stores]
    marks: list[object] = [None, None]
    for number in range(POLLS):
        now = START + (number + 1) * PERIOD
        for store, one in zip(stores, quiet, strict=True):
            store.append(one.poll(number))
        for metric in (RX_BYTES, RX_POWER):
            for seconds in SPANS:
                first, second = (store.window(metric, now, seconds) for store in stores)
                assert_equal(second, first)
        news = [
            store.news(RX_BYTES, now, 3600.0, mark)
            for store, mark in zip(stores, marks, strict=True)
        ]
        marks = [fresh.mark for fresh in news]
        np.testing.assert_array_equal(news[0].window.values, news[1].window.values)
        latest = [store.latest(RX_BYTES, now, 3600.0) for store in stores]
        np.testing.assert_array_equal(latest[0].values, latest[1].values)
        lines = [store.one(int(latest[0].series[0]), now - 3600.0, now) for store in stores]
        np.testing.assert_array_equal(lines[0], lines[1])


def test_a_reading_ahead_of_its_clock_is_news_when_its_time_has_come() -> None:
    store = LastHours(5400.0)
    series = store.table.intern_all([(RX_BYTES, ("leaf", "swp1"))])
    clock = store.table.clock("sonic", "leaf")
    for at in (100.0, 200.0):
        store.append([Batch(clock, at, series, np.array([at]))])
    first = store.news(RX_BYTES, 150.0, 3600.0)
    again = store.news(RX_BYTES, 250.0, 3600.0, first.mark)
    assert first.window.values.tolist() == [[100.0]]
    assert again.window.values.tolist() == [[200.0]]


def test_what_is_too_old_is_let_go_and_nothing_is_held_of_nothing() -> None:
    store = LastHours(600.0)
    assert store.span() is None
    series = store.table.intern_all([(RX_BYTES, ("leaf", "swp1"))])
    clock = store.table.clock("sonic", "leaf")
    for number in range(200):
        store.append([Batch(clock, 60.0 * number, series, np.array([1.0 * number]))])
    assert store.span() == (60.0 * 199 - 600.0, 60.0 * 199)
    assert store.window(RX_BYTES, 60.0 * 199, 1e9).values.shape[1] < 30
