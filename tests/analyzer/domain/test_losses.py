"""Where the time of a domain goes: parts that add up, each with somebody's reason."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.judge import detectors
from fabrichealth.catalogue.accelerators import (
    CLOCK,
    POWER,
    TENSOR_ACTIVE,
    THROTTLED,
    UTILIZATION,
)
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.catalogue.verdicts import DOMAIN_LOST
from fabrichealth.events import Event
from fabrichealth.topology import Topology
from tests.analyzer.domain.pods import Said, each, held, names, pod, seen, started

EVERY = names()


def lost(
    *parts: Said, topology: Topology | None = None, events: list[Event] | None = None
) -> dict[str, float]:
    """Return what takes the time of pod-a, by both detectors that tell it."""
    found: dict[str, float] = {}
    for name in ("domain_hidden_idle", "domain_straggler"):
        detector = detectors()[name]
        view = seen(detector, *parts, topology=topology, events=events or [])
        for one in detector.verdicts(view, {}):
            if one.metric is DOMAIN_LOST:
                found[one.labels[1]] = round(one.value, 4)
    return found


def test_each_part_of_the_inventory_has_its_reason() -> None:
    told = lost(
        each(UTILIZATION, EVERY[:20], 0.8), each(UTILIZATION, EVERY[20:28], 0.0),
        held([*EVERY[:20], *EVERY[24:26]], [*EVERY[20:24], *EVERY[26:28]]),
        each(SCHEDULABLE, ["host-5"], 0.0),
        topology=pod(declared=40), events=[started("j1", [*EVERY[:20], *EVERY[24:26]])],
    )  # fmt: skip
    assert told == {
        "missing": 12 / 40,  # four silent ones, and eight without a name
        "cordoned": 4 / 40,
        "unallocated": 2 / 40,
        "idle in a job": 2 / 40,
        "gaps between kernels": round(20 * 0.2 / 40, 4),
    }


def test_who_holds_an_idle_one_may_be_unknown() -> None:
    told = lost(each(UTILIZATION, EVERY[:16], 1.0), each(UTILIZATION, EVERY[16:], 0.0))
    assert told == {"idle, holder unknown": 0.5}


def test_cards_that_do_not_count_their_use_are_no_missing_ones() -> None:
    told = lost(each(UTILIZATION, EVERY[:24], 1.0), each(POWER, EVERY[:28], 600.0))
    assert told == {"missing": 4 / 32, "use not counted": 4 / 32}


def test_spinning_is_no_work() -> None:
    told = lost(
        each(UTILIZATION, EVERY, 1.0),
        each(TENSOR_ACTIVE, EVERY[:24], 0.5), each(TENSOR_ACTIVE, EVERY[24:], 0.0),
        each(POWER, EVERY[:24], 600.0), each(POWER, EVERY[24:], 200.0),
        held(EVERY),
    )  # fmt: skip
    assert told == {"spinning": 0.25}


def test_throttling_is_told_by_reason_and_reasons_that_overlap_take_no_more_than_there_is() -> None:
    throttled: Said = {
        (THROTTLED, (name, reason)): [share] * 65
        for name in EVERY[:8]
        for reason, share in (("power", 0.5), ("thermal", 1.0))
    }
    told = lost(each(UTILIZATION, EVERY, 1.0), held(EVERY), throttled)
    assert told == {
        "throttled: power": round(8 / 32 / 3, 4), "throttled: thermal": round(8 / 32 / 1.5, 4)
    }  # fmt: skip


def test_what_waits_for_a_straggler_waits_as_long_as_that_takes_longer() -> None:
    told = lost(
        each(UTILIZATION, EVERY, 1.0), held(EVERY),
        each(CLOCK, EVERY[:1], 1.2e9), each(CLOCK, EVERY[1:], 1.8e9),
        events=[started("j1", EVERY)],
    )  # fmt: skip
    assert told == {"waiting for a straggler": pytest.approx(31 / 32 / 3, abs=1e-3)}


def test_what_is_throttled_away_is_not_waited_as_well() -> None:
    """All are throttled, and all but one wait for the one that is slower still."""
    throttled: Said = {(THROTTLED, (name, "power")): [0.6] * 65 for name in EVERY}
    told = lost(
        each(UTILIZATION, EVERY, 1.0), held(EVERY), throttled,
        each(CLOCK, EVERY[:1], 0.6e9), each(CLOCK, EVERY[1:], 1.8e9),
        events=[started("j1", EVERY)],
    )  # fmt: skip
    assert told["throttled: power"] == pytest.approx(0.6)
    assert told["waiting for a straggler"] == pytest.approx(0.4 * 31 / 32 * 2 / 3, abs=1e-3)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(0.0, 1.0), min_size=32, max_size=32), st.integers(0, 31))
def test_no_domain_loses_more_than_it_has(loads: list[float], known: int) -> None:
    parts: Said = {(UTILIZATION, (name,)): [load] * 12
             for name, load in list(zip(EVERY, loads, strict=True))[:known + 1]}  # fmt: skip
    told = lost(parts, held(EVERY[:10], EVERY[10:20], polls=12))
    assert sum(told.values()) + sum(loads[: known + 1]) / 32 == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("last", [0.0, 1.0])
def test_throttling_counts_for_as_long_as_it_lasted_and_not_by_its_last_poll(last: float) -> None:
    course = [last if n % 2 else 1.0 - last for n in range(66)][:65]
    told = lost(
        each(UTILIZATION, EVERY, 0.8), {(THROTTLED, (name, "power")): course for name in EVERY}
    )
    assert told["throttled: power"] == pytest.approx(0.4, abs=0.01)
