"""Metrics read at the same moments share their time lines while a replay goes over them."""

from pathlib import Path

import numpy as np

from fabrichealth.catalogue.ports import RX_BYTES, TX_BYTES, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Window, aligned
from fabrichealth.store.embedded import EmbeddedStore

START, PERIOD, POLLS, PORTS = 1_800_000_000.0, 30.0, 160, 6


def test_windows_of_a_past_that_is_read_on_are_those_of_all_readings(tmp_path: Path) -> None:
    store = EmbeddedStore.open(tmp_path / "store")
    every: list[Batch] = []
    chance = np.random.default_rng(3)
    names = [("leaf-01", f"Ethernet{number}") for number in range(PORTS)]
    metrics = (UP, RX_BYTES, TX_BYTES)
    series = {metric: [store.table.intern(metric, name) for name in names] for metric in metrics}
    clocks = [store.table.clock("history", "=".join(name)) for name in names]

    def read(number: int) -> list[Batch]:
        return [
            Batch(clock, START + number * PERIOD + 3.0 * port,
                  np.array([series[metric][port] for metric in metrics], np.int32),
                  chance.integers(0, 9, len(metrics)).astype(float))
            for port, clock in enumerate(clocks)
            if port or number % 2  # one is read half as often
        ]  # fmt: skip

    def slowly(metric: Metric, now: float, seconds: float) -> Window:
        samples = [
            (b.clock, b.at, b.series, b.values) for b in every if now - seconds < b.at <= now
        ]
        return aligned(metric, store.table, samples, now, seconds)

    def same(now: float, marks: dict[object, object]) -> None:
        for metric in metrics:
            for seconds in (300.0, 660.0):
                ours, theirs = store.window(metric, now, seconds), slowly(metric, now, seconds)
                np.testing.assert_array_equal(ours.series, theirs.series)
                np.testing.assert_array_equal(ours.values, theirs.values)
                np.testing.assert_array_equal(ours.times, theirs.times)
            news = store.news(metric, now, 600.0, marks.get(metric))
            marks[metric] = news.mark
            newest = slowly(metric, now, PERIOD)
            rows = np.searchsorted(news.window.series, newest.series)
            np.testing.assert_array_equal(news.window.last[rows], newest.last)

    for number in range(POLLS):
        batches = read(number)
        store.append(batches)
        every.extend(batches)
    store.fold_now()
    while store.maintain():
        pass
    marks: dict[object, object] = {}
    for number in range(60, POLLS, 2):
        same(START + number * PERIOD + 7.0, marks)
        if number == POLLS // 4 * 3:  # what comes to one metric meanwhile changes no other
            late = Batch(clocks[1], START + POLLS * PERIOD, np.array([series[UP][1]], np.int32),
                         np.array([1.0]))  # fmt: skip
            store.append([late])
            every.append(late)
    store.close()
