"""Memory against a plain reading of the same samples, one after the other."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.memory import Memory
from analyzer.remembered import GAP_PERIODS, SHORTEST_GAP, STEPS
from fabrichealth.catalogue.ports import SYMBOL_ERRORS
from fabrichealth.model import Batch, Changes
from tests.reference_store import ReferenceStore

START = 1_800_000_000.0
PORTS = (("leaf-0", "0"), ("leaf-0", "1"), ("host-0", "eth0"))
SPAN = 1800.0

Sample = tuple[float, float]


def put(store: ReferenceStore, port: int, samples: Sequence[Sample]) -> None:
    """Append (seconds after the start, value) samples of one port."""
    labels = PORTS[port]
    series = np.array([store.table.intern(SYMBOL_ERRORS, labels)], np.int32)
    clock = store.table.clock("test", labels[0] + labels[1])
    store.append([Batch(clock, START + at, series, np.array([value])) for at, value in samples])


def remembered(store: ReferenceStore, passes: Sequence[float], span: float = SPAN) -> Changes:
    memory = Memory(store, {SYMBOL_ERRORS: span})
    for now in passes:
        memory.advance(START + now)
    return memory.changes(SYMBOL_ERRORS, START + passes[-1], span)


def plainly(samples: Sequence[Sample], now: float, span: float, short: float) -> dict[str, object]:
    """Work out by hand what is remembered of one series at `now`."""
    changes, gaps, steps = [], [], list[float]()
    for (then, before), (at, after) in pairwise(samples):
        usual = median(steps[-STEPS:]) if steps else float("inf")
        gap = at - then > max(SHORTEST_GAP, GAP_PERIODS * usual)
        steps.append(at - then)
        if gap:
            gaps.append((then, at))
        if before != after and at > now - span:
            changes.append((at, at - then, before, after, gap))
    first, last = samples[0][0], samples[-1][0]

    def exposure(seconds: float) -> float:
        start = max(first, now - seconds)
        lost = sum(max(end - max(begin, start), 0.0) for begin, end in gaps if end > now - span)
        return max(last - start - lost, 0.0)

    return {
        "changes": changes,
        "watched": exposure(span),
        "short": exposure(short),
        "period": median(steps[-STEPS:]) if steps else None,
        "last": samples[-1],
    }


def told(changes: Changes, port: int, short: float) -> dict[str, object]:
    """Return the same facts of a port from what memory says."""
    row = changes.row(*PORTS[port])
    assert row is not None
    mine = np.flatnonzero(changes.row_of == row)
    columns = (changes.at - START, changes.step, changes.before, changes.after, changes.unseen)
    return {
        "changes": [tuple(column[entry] for column in columns) for entry in mine],
        "watched": changes.watched[row],
        "short": changes.exposure(short)[row],
        "period": None if np.isnan(changes.period[row]) else changes.period[row],
        "last": (changes.seen_at[row] - START, changes.value[row]),
    }


@st.composite
def histories(draw: st.DrawFn) -> list[Sample]:
    """Polls at 1 s to 5 min whose period changes, with gaps, resets and standing still.

    No seven of them take longer than the lead with which a past is read again.
    """
    at, value, samples = 0.0, 10.0, []
    for period in draw(
        st.lists(st.sampled_from([1.0, 7.5, 30.0, 60.0, 300.0]), min_size=1, max_size=4)
    ):
        for _ in range(draw(st.integers(1, 8))):
            at += min(period * draw(st.sampled_from([1.0, 1.0, 1.0, 2.0, 4.0, 9.0, 70.0])), 500.0)
            value = draw(st.sampled_from([value, value, value + 1, value + 5, 0.0]))
            samples.append((at, value))
    return samples


@settings(max_examples=30, deadline=None)
@given(st.lists(histories(), min_size=1, max_size=2), st.data())
def test_is_what_a_plain_reading_gives_in_one_pass_or_in_many(
    every: list[list[Sample]], data: st.DataObject
) -> None:
    store = ReferenceStore()
    for port, samples in enumerate(every):
        put(store, port, samples)
    now = max(samples[-1][0] for samples in every) + 1.0
    stops = data.draw(st.lists(st.floats(0.0, now), max_size=4))
    short = data.draw(st.floats(1.0, SPAN))
    for passes in ([now], [*sorted(stops), now]):
        changes = remembered(store, passes)
        for port, samples in enumerate(every):
            if samples[-1][0] > now - SPAN:
                expected, found = plainly(samples, now, SPAN, short), told(changes, port, short)
                for fact, value in expected.items():
                    assert found[fact] == approx(value), fact
            else:
                assert changes.row(*PORTS[port]) is None


def approx(value: object) -> object:
    """Return a value that equals what is off by a rounding of unix time (2e-7 s)."""
    if isinstance(value, list):
        return [pytest.approx(one, abs=1e-5) for one in value]
    return pytest.approx(value, abs=1e-5) if value is not None else None


@settings(max_examples=30, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_late_samples_never_make_time_run_backwards(samples: list[Sample], chance: object) -> None:
    """Samples arrive in any order between passes; what comes after something newer is left out."""
    shuffled = samples.copy()
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' own Random
    store, now = ReferenceStore(), samples[-1][0] + 1.0
    memory = Memory(store, {SYMBOL_ERRORS: SPAN})
    kept: list[Sample] = []
    for sample in shuffled:
        put(store, 0, [sample])
        memory.advance(START + now)
        newest = kept[-1][0] if kept else -np.inf
        if sample[0] > newest and (not kept or sample[0] > now - 330.0):
            kept.append(sample)
    changes = memory.changes(SYMBOL_ERRORS, START + now, SPAN)
    if kept and kept[-1][0] > now - SPAN:
        assert told(changes, 0, SPAN)["last"] == kept[-1]
        at = changes.at
        assert (np.diff(at) >= 0).all()
        assert (changes.step > 0).all()


def test_a_reset_says_nothing_and_keeps_counting() -> None:
    store = ReferenceStore()
    put(store, 0, [(0, 5), (10, 9), (20, 2), (30, 6)])
    changes = remembered(store, [30])
    assert changes.total(SPAN).tolist() == [8.0]  # 4 before, 4 after, nothing for the fall
    assert changes.exposure(SPAN).tolist() == [30.0]


def test_what_came_while_nobody_watched_is_no_part_of_a_rate() -> None:
    store = ReferenceStore()
    put(store, 0, [(n * 10, 1) for n in range(10)] + [(1000 + n * 10, 500) for n in range(10)])
    changes = remembered(store, [1090])
    assert changes.unseen.tolist() == [True]
    assert changes.total(SPAN).tolist() == [0.0]
    assert changes.exposure(SPAN).tolist() == [180.0]
    assert changes.exposure(90.0).tolist() == [90.0]
    assert changes.exposure(300.0).tolist() == [90.0]  # the gap ended 90 s ago


def test_a_step_that_reaches_beyond_the_span_counts_by_its_share() -> None:
    store = ReferenceStore()
    put(store, 0, [(n * 300.0, 30.0 * n) for n in range(5)])
    changes = remembered(store, [1200])
    assert changes.total(450.0) == pytest.approx([45.0])


def test_readings_five_minutes_late_are_not_lost() -> None:
    store = ReferenceStore()
    memory = Memory(store, {SYMBOL_ERRORS: SPAN})
    for number in range(30):
        put(store, 0, [(number * 10, float(number))])
        memory.advance(START + number * 10 + 295)
    changes = memory.changes(SYMBOL_ERRORS, START + 29 * 10 + 295, SPAN)
    assert len(changes.at) == 29


def test_readings_that_no_instrument_can_give_are_none() -> None:
    store = ReferenceStore()
    put(store, 0, [(0, 5), (10, -1), (20, 1e300), (30, 6)])
    changes = remembered(store, [30])
    assert list(zip(changes.before, changes.after, strict=True)) == [(5.0, 6.0)]


def test_what_nobody_asked_for_is_not_remembered() -> None:
    memory = Memory(ReferenceStore(), {})
    with pytest.raises(KeyError):
        memory.changes(SYMBOL_ERRORS, START, 1.0)
