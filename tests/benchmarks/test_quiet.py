"""The quiet fleet: what it streams is well, and bounded by what life brings."""

import numpy as np
import pytest

from benchmarks.corpus.hall import hall
from benchmarks.corpus.quiet import QuietHall
from benchmarks.corpus.technologies import TECHNOLOGIES
from benchmarks.quiet_fleet import quiet
from fabrichealth.catalogue.devices import BOOT_TIME
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS, FEC_UNCORRECTABLE_CODEWORDS, UP
from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable


@pytest.fixture(params=["roce", "ndr"])
def fleet(request: pytest.FixtureRequest) -> QuietHall:
    chance = np.random.default_rng(3)
    return QuietHall(hall(TECHNOLOGIES[request.param], 16, chance), SeriesTable(), chance)


def read(fleet: QuietHall, polls: int, metric: Metric) -> np.ndarray[tuple[int, int], np.dtype]:
    """Values of a metric, [poll, series]; NaN where a poll was lost."""
    rows = np.full((polls, 5000), np.nan)
    for number in range(polls):
        for batch in fleet.poll(number):
            rows[number, batch.series] = batch.values
    return rows[:, fleet.table.of(metric)]


def test_nothing_is_lost_behind_fec_and_the_error_rate_is_low(fleet: QuietHall) -> None:
    lost = read(fleet, 60, FEC_UNCORRECTABLE_CODEWORDS)
    assert np.nanmax(lost) == 0


def test_counters_only_grow_but_for_restarts(fleet: QuietHall) -> None:
    bits = read(fleet, 60, FEC_CORRECTED_BITS)
    known = bits[:, np.isfinite(bits).all(axis=0)]
    falls = (np.diff(known, axis=0) < 0).sum()
    assert known.shape[1] > 50
    assert falls <= 3


def test_links_are_up_nearly_always(fleet: QuietHall) -> None:
    up = read(fleet, 200, UP)
    assert np.nanmean(up) > 0.99


def test_every_device_has_a_boot_time_of_its_own(fleet: QuietHall) -> None:
    booted = read(fleet, 3, BOOT_TIME)
    assert booted.shape[1] == len(fleet.hall.devices)


def test_a_hall_is_judged_and_counted() -> None:
    told = quiet(2, 16, 0.005)
    assert (told.links, told.weeks) == (16, 0.005)
    assert told.series > 16 * 2 * 20
    assert [row for row in told.false if row[1] == "page"] == []
