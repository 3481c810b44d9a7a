"""Who held what of a domain, as schedulers and events say it over hours."""

import pytest

from analyzer.accounts.account import accounted
from fabrichealth.catalogue.accelerators import ALLOCATED, UTILIZATION
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Labels
from fabrichealth.topology import Device, Domain, Topology
from tests.analyzer.views import START, store_of

HOUR = 3600.0
HOURS = 4
Said = dict[tuple[Metric, Labels], list[float]]

SITE = Topology(
    [
        *(Device(name=f"h{n}", role="host", domain=f"pod-{n // 2}") for n in range(4)),
        *(Device(name=f"h{n}-{k}", role="accelerator", host=f"h{n}")
          for n in range(4) for k in range(2)),
    ],
    (),
    [Domain(name="pod-0"), Domain(name="pod-1")],
)  # fmt: skip
HERE = [f"h{n}-{k}" for n in range(2) for k in range(2)]
"""The four of pod-0."""


def course(metric: Metric, names: list[str], values: list[float]) -> Said:
    """Return what some devices say each minute; values are repeated over the hours."""
    row = (values * (HOURS * 60))[: HOURS * 60]
    return {(metric, (name,)): row for name in names}


def went(
    said: Said, *events: Event, domain: str = "pod-0", hours: float = HOURS, least: float = 0.01
) -> dict[str, float]:
    """Return the rows that took at least such a share of the domain's hours, as shares."""
    until = START + HOURS * HOUR
    found = accounted(store_of(said, 60.0), SITE, (), events, domain, until, hours * HOUR).account
    return {row: share for row in found.rows if (share := found.share(row) or 0.0) > least}


def test_a_scheduler_that_counts_leaves_open_who_is_held_and_calls_nobody_unheld() -> None:
    """Which two of h0's are held is told by nobody; of h1 all are, by the count."""
    counts = course(HOST_ALLOCATED, ["h0"], [1.0]) | course(HOST_ALLOCATED, ["h1"], [2.0])
    began = Event(START - 60, "job_start", {"job": "j"}, more={"accelerators": [], "size": 3})
    found = went(course(UTILIZATION, HERE, [0.8]) | counts, began)
    assert found == pytest.approx({"useful": 0.8, "waiting": 0.1, "unallotted": 0.1}, abs=0.01)
    free = course(UTILIZATION, HERE, [0.0]) | course(HOST_ALLOCATED, ["h0", "h1"], [0.0])
    assert went(free) == pytest.approx({"free": 1.0}, abs=0.01)


def test_a_domain_without_a_scheduler_is_not_unheld_because_jobs_run_elsewhere() -> None:
    elsewhere = Event(START, "job_start", {"job": "j"}, more={"accelerators": ["h2-0"]})
    busy = course(UTILIZATION, HERE, [0.9])
    assert went(busy, elsewhere) == went(busy)
    here = Event(START, "job_start", {"job": "j"}, more={"accelerators": HERE[:2]})
    assert went(busy, here) == pytest.approx(
        {"useful": 0.45, "waiting": 0.05, "unheld": 0.45, "free": 0.05}, abs=0.01
    )


def test_an_hour_in_which_the_scheduler_says_nothing_is_not_free() -> None:
    silent = [1.0] * 120 + [float("nan")] * 120
    said = course(UTILIZATION, HERE, [0.5]) | course(ALLOCATED, HERE, silent)
    assert went(said) == pytest.approx({"useful": 0.5, "waiting": 0.25, "unallotted": 0.25},
                                       abs=0.01)  # fmt: skip


@pytest.mark.parametrize("minutes", [4, 6])
@pytest.mark.parametrize("by_events", [True, False], ids=["by events", "by the scheduler"])
def test_jobs_that_are_shorter_than_a_bin_are_held_for_as_long_as_they_ran(
    minutes: int, by_events: bool
) -> None:
    share = minutes / 10
    said = course(UTILIZATION, HERE, [0.9] * minutes + [0.0] * (10 - minutes))
    events: list[Event] = []
    if by_events:
        for n in range(HOURS * 6):
            job, at = {"job": f"j{n}"}, START + n * 600.0
            events.append(Event(at, "job_start", job, more={"accelerators": HERE}))
            events.append(Event(at + minutes * 60, "job_end", job))
    else:
        said |= course(ALLOCATED, HERE, [1.0] * minutes + [0.0] * (10 - minutes))
    found = went(said, *events, hours=24, least=0.002)  # so that bins are of ten minutes
    known = sum(value for row, value in found.items() if row != "unknown")
    assert {row: value / known for row, value in found.items() if row != "unknown"} == (
        pytest.approx({"useful": 0.9 * share, "waiting": 0.1 * share, "free": 1 - share}, abs=0.01)
    )
