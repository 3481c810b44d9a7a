"""Bursts of failures at one place: found when they are there, and not when they are not."""

import numpy as np

from benchmarks.correlated_failures import SOME, SURE, Tickets, groups, shuffled, spread_of

RACKS, DAYS, ROOMS = 60, 200, 4


def failures(bursts: int, seed: int = 1) -> Tickets:
    """Failures of two models over racks and days, with so many bursts of twenty."""
    chance = np.random.default_rng(seed)
    rack = np.concatenate([chance.integers(RACKS, size=900), np.repeat(np.arange(bursts), 20)])
    day = np.concatenate([chance.integers(DAYS, size=900), np.repeat(50 + np.arange(bursts), 20)])
    model = chance.integers(2, size=len(rack))
    names = [f"r{number}" for number in range(RACKS)]
    return Tickets(model, rack, day, rack % ROOMS, names)


def test_a_burst_ranks_first_and_is_sure() -> None:
    told = failures(3)
    ranked = groups(told, 1.0)
    assert {(group.rack, group.day) for group in ranked[:3]} == {(0, 50), (1, 51), (2, 52)}
    assert all(group.q < SURE for group in ranked[:3])


def test_shuffled_times_show_nothing() -> None:
    chance = np.random.default_rng(2)
    told = failures(3)
    for _ in range(10):
        copy = shuffled(told, chance)
        assert np.array_equal(np.sort(copy.day), np.sort(told.day))
        assert sum(group.q < SOME for group in groups(copy, 1.0)) <= 1


def test_chance_alone_leaves_no_more_spread_than_it_must() -> None:
    assert 1.0 <= spread_of(failures(0)) < 1.3


def test_a_wider_spread_makes_nothing_likelier() -> None:
    told = failures(1)
    narrow, wide = groups(told, 1.0)[0], groups(told, 1.5)[0]
    assert narrow.q <= wide.q
