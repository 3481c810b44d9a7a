"""What stands apart is put right: windows and memory are as if all clocks had been right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.aligned import Aligned
from analyzer.memory import Memory
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.catalogue.ports import LINK_DOWNS
from fabrichealth.model import Batch, Changes, Window
from fabrichealth.topology import Device, Topology
from tests.analyzer.views import START
from tests.reference_store import ReferenceStore

SITE = Topology(
    [
        Device(name="host-0", role="host"),
        Device(name="host-0-0", role="accelerator", host="host-0"),
        Device(name="host-1", role="host"),
    ]
)
PORTS = (("host-0", "eth0"), ("host-0-0", "nvlink/0"), ("host-1", "eth0"))
PERIOD = 10.0


def polled(seed: int, polls: int, ahead: float = 0.0, *, together: bool = False) -> ReferenceStore:
    """Return counters of three ports; host-0's clock, its accelerator's too, is ahead."""
    store, chance = ReferenceStore(), np.random.default_rng(seed)
    for number, port in enumerate(PORTS):
        series = np.array([store.table.intern(LINK_DOWNS, port)], np.int32)
        clock = store.table.clock("test", "all" if together else port[0])
        late = ahead if port[0] != "host-1" or together else 0.0
        counts = np.cumsum(chance.random(polls) < 0.2).astype(float)
        for poll in np.flatnonzero(chance.random(polls) < 0.9).tolist():
            at = START + poll * PERIOD + number + late
            store.append([Batch(clock, at, series, counts[poll : poll + 1])])
    return store


def readings(window: Window) -> dict[tuple[str, ...], list[tuple[float, float]]]:
    return {
        window.labels(row): [
            (float(at), float(value))
            for at, value in zip(window.times[row], window.values[row], strict=True)
            if np.isfinite(value)
        ]
        for row in range(len(window))
    }


def story(changes: Changes) -> list[tuple[object, ...]]:
    """Return every change but the step it took, which the moment of finding may have cut."""
    columns = (changes.at, changes.before, changes.after)
    rows = [changes.labels(row) for row in changes.row_of.tolist()]
    told = zip(rows, *(column.tolist() for column in columns), strict=True)
    newest = zip(
        changes.rows.tolist(), changes.seen_at.tolist(), changes.value.tolist(), strict=True
    )
    return [*sorted(told), *newest]


@settings(max_examples=15)
@given(
    seed=st.integers(0, 999),
    ahead=st.sampled_from([-420.0, -60.0, 60.0, 180.0]),
    now=st.integers(0, 60),
    seconds=st.sampled_from([30.0, 200.0, 600.0]),
)
def test_a_window_is_as_if_the_clock_had_been_right(
    seed: int, ahead: float, now: int, seconds: float
) -> None:
    moment = START + now * PERIOD + 5
    aligned = Aligned(polled(seed, 60, ahead))
    aligned.put_right({"host-0": ahead}, SITE)
    right = polled(seed, 60).window(LINK_DOWNS, moment, seconds)
    found = aligned.window(LINK_DOWNS, moment, seconds)
    assert readings(found) == readings(right)
    assert found.last_at.tolist() == right.last_at.tolist()


def test_a_target_that_reads_several_devices_keeps_its_own_clock() -> None:
    store = polled(1, 20, together=True)
    aligned = Aligned(store)
    aligned.put_right({"host-0": 180.0}, SITE)
    found = aligned.window(LINK_DOWNS, START + 300, 600)
    assert readings(found) == readings(store.window(LINK_DOWNS, START + 300, 600))


@pytest.mark.parametrize("ahead", [-420.0, -60.0, 60.0, 180.0])
@pytest.mark.parametrize("found_at", [0, 20, 35], ids=lambda poll: f"found at poll {poll}")
def test_memory_is_as_if_the_clock_had_been_right(ahead: float, found_at: int) -> None:
    apart, right = Aligned(polled(3, 120, ahead)), Aligned(polled(3, 120))
    memories = [Memory(store, {LINK_DOWNS: 3600.0}) for store in (apart, right)]
    for poll in range(100):
        now = START + poll * PERIOD + 5
        if poll == found_at:
            before = apart.ahead(LINK_DOWNS)
            apart.put_right({"host-0": ahead}, SITE)
            memories[0].move_back(lambda metric: apart.ahead(metric) - before, now)  # noqa: B023
        for memory in memories:
            memory.advance(now)
    told = [story(memory.changes(LINK_DOWNS, now, 3600.0)) for memory in memories]
    assert told[0] == told[1]


def test_what_is_about_no_port_and_no_device_is_left_alone() -> None:
    store = ReferenceStore()
    series = np.array([store.table.intern(SCHEDULABLE, ("host-1",))], np.int32)
    store.append([Batch(store.table.clock("test", "host-1"), START, series, np.ones(1))])
    aligned = Aligned(store)
    aligned.put_right({"host-0": 60.0}, SITE)
    assert aligned.span() == (START, START)
    assert aligned.window(SCHEDULABLE, START + 1, 10).last_at.tolist() == [START]
