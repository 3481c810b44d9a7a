"""Who holds which accelerator: by the scheduler's series, by events, and by neither."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.domain.allocation import FREE, HELD, NOBODY, UNKNOWN, Allocation, allocation
from analyzer.judge import detectors
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Labels
from fabrichealth.topology import Device, Domain, Topology
from tests.analyzer.views import START, view_of

POLLS, PERIOD = 12, 30.0
END = START + (POLLS - 1) * PERIOD

Said = Mapping[tuple[Metric, Labels], Sequence[float]]


def pod(accelerators: int = 4) -> Topology:
    """Return domain pod-a: hosts of two accelerators, host-0-0 and so on."""
    hosts = accelerators // 2
    return Topology(
        [
            *(Device(name=f"host-{n}", role="host", domain="pod-a") for n in range(hosts)),
            *(
                Device(name=f"host-{n // 2}-{n % 2}", role="accelerator", host=f"host-{n // 2}")
                for n in range(accelerators)
            ),
        ],
        domains=[Domain(name="pod-a", accelerators=accelerators)],
    )


def allocated(device: str, value: float, polls: int = POLLS) -> Said:
    """Return a series that says so at its first so many polls, and nothing after."""
    return {(ALLOCATED, (device,)): [value] * polls + [np.nan] * (POLLS - polls)}


def start(job: str, at: float, *accelerators: str) -> Event:
    return Event(at, "job_start", {"job": job}, more={"accelerators": list(accelerators)})


def seen(*said: Said, events: Sequence[Event] = (), topology: Topology | None = None) -> Allocation:
    """Return what is known after twelve polls, half a minute apart."""
    history = {key: values for part in said for key, values in part.items()}
    own: Detector[DetectorSettings] = next(iter(detectors().values()))
    view = view_of(
        own, history, PERIOD, topology or pod(), events, now=END + 5.0
    )  # the window of any detector will do: ten minutes
    return allocation(view)


def by_name(found: Allocation) -> dict[str, int]:
    return dict(zip(found.names, found.state.tolist(), strict=True))


def test_the_scheduler_says_what_is_held_and_what_is_free() -> None:
    found = seen(allocated("host-0-0", 1.0), allocated("host-0-1", 0.0))
    assert by_name(found) == {
        "host-0-0": HELD, "host-0-1": FREE, "host-1-0": UNKNOWN, "host-1-1": UNKNOWN,
    }  # fmt: skip
    assert found.holder("host-0-0") is None


def test_events_say_which_job_it_is() -> None:
    found = seen(allocated("host-0-0", 1.0), events=[start("j1", START, "host-0-0")])
    job = found.holder("host-0-0")
    assert job is not None
    assert job.name == "j1"
    assert found.holder("host-0-1") is None


def test_a_scheduler_that_fell_silent_leaves_unknown_what_it_held() -> None:
    found = seen(
        allocated("host-0-0", 1.0, polls=3), allocated("host-0-1", 0.0, polls=3),
        events=[start("j1", START, "host-0-0")],
    )  # fmt: skip
    assert set(by_name(found).values()) == {UNKNOWN}
    assert found.silent == ("host-0-0", "host-0-1")
    assert found.holder("host-0-0") is None
    assert not found.known


def test_events_alone_tell_of_the_domains_they_name() -> None:
    found = seen(events=[start("j1", START, "host-0-0")])
    assert by_name(found) == {
        "host-0-0": HELD, "host-0-1": FREE, "host-1-0": FREE, "host-1-1": FREE,
    }  # fmt: skip


def test_of_a_site_without_any_scheduler_nothing_is_known() -> None:
    found = seen()
    assert set(by_name(found).values()) == {UNKNOWN}
    assert not found.known


@pytest.mark.parametrize(
    ("began", "state"),
    [
        pytest.param(START, FREE, id="called free since: the end was not told"),
        pytest.param(END + 2.0, HELD, id="began after the last reading"),
    ],
)
def test_the_younger_word_counts(began: float, state: int) -> None:
    found = seen(allocated("host-0-0", 0.0), events=[start("j1", began, "host-0-0")])
    assert by_name(found)["host-0-0"] == state
    assert (found.holder("host-0-0") is None) == (state == FREE)


def test_an_accelerator_that_nobody_knows_is_told_and_kept() -> None:
    found = seen(events=[start("j1", START, "host-9-9", "host-0-0")])
    assert by_name(found)["host-9-9"] == HELD
    assert [one.what for one in found.oddities] == ["unknown_accelerator"]


def test_the_job_that_came_last_has_a_contested_accelerator() -> None:
    found = seen(events=[start("j1", START, "host-0-0"), start("j2", START + 60, "host-0-0")])
    job = found.holder("host-0-0")
    assert job is not None
    assert job.name == "j2"
    assert [one.what for one in found.oddities] == ["two_jobs"]


def test_a_host_may_be_counted_where_nobody_says_which() -> None:
    found = seen({(HOST_ALLOCATED, ("host-0",)): [1.0] * POLLS})
    assert found.on_host == {"host-0": 1}
    assert found.known


def test_who_held_what_is_told_moment_by_moment() -> None:
    events = [
        start("j1", START, "host-0-0"),
        Event(START + 60.0, "job_end", {"job": "j1"}),
        start("j2", START + 90.0, "host-0-0", "host-0-1"),
    ]
    found = seen(events=events)
    at = START + np.array([0.0, 30.0, 60.0, 90.0, 120.0])
    held = found.during(["host-0-1", "host-0-0"], at)
    assert held.tolist() == [
        [NOBODY, NOBODY, NOBODY, 1, 1],
        [0, 0, NOBODY, 1, 1],
    ]


def test_an_order_of_ones_own() -> None:
    found = seen(allocated("host-0-0", 1.0), events=[start("j1", START, "host-0-0")])
    state, job = found.of(["?", "host-0-0"])
    assert state.tolist() == [UNKNOWN, HELD]
    assert job.tolist() == [NOBODY, 0]
