"""Whole histories replayed: one cause stays one incident, and nothing is excused that lives."""

import numpy as np
import pytest

from analyzer.judge import detectors
from analyzer.replaying import Replay
from fabrichealth.catalogue.ports import SPEED, SYMBOL_ERRORS, UP
from fabrichealth.kinds import DEVICE_DOWN, LINK_SUBHEALTHY
from fabrichealth.model import Batch, Incident
from tests.analyzer.views import START, History, small_pod, store_of
from tests.reference_store import ReferenceStore

NEAR = ("host-0", "eth0")


def replayed(store: ReferenceStore) -> list[Incident]:
    return list(Replay(store, small_pod(), detectors()).run())


def erring(polls: int, errors: list[float]) -> History:
    return {(SPEED, NEAR): [4e11] * polls, (UP, NEAR): [1.0] * polls, (SYMBOL_ERRORS, NEAR): errors}


def test_one_burst_of_errors_is_one_incident_and_closes() -> None:
    history = erring(180, [0.0] * 10 + [60.0] * 170)
    (incident,) = replayed(store_of(history, 60.0))
    assert incident.kind is LINK_SUBHEALTHY
    assert incident.closed_at is not None


def test_errors_read_once_an_hour_are_one_incident_that_stays_open() -> None:
    history = erring(12, [5000.0 * hour for hour in range(12)])
    (incident,) = replayed(store_of(history, 3600.0))
    assert incident.closed_at is None


@pytest.mark.parametrize("answers", [True, False])
def test_a_host_that_goes_on_answering_is_cut_off_and_does_not_restart(answers: bool) -> None:
    fallen = [1.0] * 30 + [0.0] * 60
    history: dict[tuple[object, tuple[str, ...]], list[float]] = {}
    for link in small_pod().links.values():
        for end in link.ends:
            ill = link.a.startswith("host-1/")
            history[UP, tuple(end)] = list(fallen) if ill else [1.0] * 90
            if ill and end.device == "host-1" and not answers:
                history[UP, tuple(end)] = [1.0] * 30 + [np.nan] * 60
    (incident,) = replayed(store_of(history, 10.0))  # type: ignore[arg-type]
    assert incident.kind is DEVICE_DOWN
    assert incident.suppressed_by == (None if answers else "boot:host-1")


def test_a_clock_that_was_off_by_years_does_not_cost_a_pass_for_every_step_of_them() -> None:
    store = store_of({(UP, NEAR): [1.0] * 20}, 10.0)
    series = store.table.intern(UP, NEAR)
    clock = store.table.clock("test", NEAR[0])
    late = START + 3 * 365 * 86_400.0
    store.append([Batch(clock, late, np.array([series], np.int32), np.array([1.0]))])
    replay = Replay(store, small_pod(), detectors())
    assert list(replay.run()) == []
    assert replay.passes < 2000
