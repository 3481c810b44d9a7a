"""What stood in the way of accelerators, as incidents, events and schedulers say."""

from typing import Any

import pytest

from analyzer.accounts.account import accounted
from fabrichealth.catalogue.accelerators import POWER, UTILIZATION
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.events import Event
from fabrichealth.kinds import COOLING_CLOGGED, DEVICE_DOWN, LINK_FLAPPING, PFC_INCAST, IncidentKind
from fabrichealth.metric import Metric
from fabrichealth.model import Incident, Labels, Place
from fabrichealth.topology import Device, Domain, Rack, Topology
from tests.analyzer.views import START, store_of

HOUR = 3600.0
HOURS = 6
NAMES = [f"h{host}-{slot}" for host in range(2) for slot in range(2)]
JOB = Event(START, "job_start", {"job": "j"}, more={"accelerators": NAMES})

SITE = Topology(
    [
        Device(name="leaf", role="switch"),
        *(Device(name=f"h{n}", role="host", rack=f"r{n}", domain="pod") for n in range(2)),
        *(Device(name=name, role="accelerator", host=name[:2]) for name in NAMES),
    ],
    (),
    [Domain(name="pod")],
    [Rack(name=f"r{n}", domain="pod") for n in range(2)],
)

Said = dict[tuple[Metric, Labels], list[float]]


def busy(host: int, ill: float = 0.5, hours: tuple[int, int] = (2, 4)) -> Said:
    """Return six hours at 90 %, of which a host's accelerators spend some at less."""
    said: Said = {}
    for name in NAMES:
        level = [0.9] * (HOURS * 60)
        if name.startswith(f"h{host}"):
            level[hours[0] * 60 : hours[1] * 60] = [ill] * ((hours[1] - hours[0]) * 60)
        said[UTILIZATION, (name,)] = level
    return said


def went(said: Said, *incidents: Incident, events: tuple[Event, ...] = (JOB,)) -> dict[str, float]:
    """Return the hours of each row that has some; a minute at an end may lack its reading."""
    store = store_of(said, 60.0)
    until = START + HOURS * HOUR
    found = accounted(store, SITE, incidents, events, "pod", until, HOURS * HOUR).account
    assert found.total == pytest.approx(4 * HOURS)
    return {row: hours for row in found.rows if (hours := found.hours(row)) > 0.1}


def incident(kind: IncidentKind, culprit: Place, *victims: Place, **more: Any) -> Incident:
    return Incident(
        "i1", kind, kind.severity, START + 2 * HOUR, culprit, "why", "do", victims=list(victims),
        closed_at=START + 4 * HOUR, **more,
    )  # fmt: skip


LOST = 2 * 2 * 0.4
"""Accelerator-hours: two for two hours, at 50 % and not at 90 %."""


@pytest.mark.parametrize(
    ("told", "row"),
    [
        pytest.param(incident(LINK_FLAPPING, Place("link", "h1/eth0--leaf/1")), "links",
                     id="a link of its host"),
        pytest.param(incident(LINK_FLAPPING, Place("link", "x/1--y/1"), Place("job", "j")),
                     "links", id="a link that its job crosses"),
        pytest.param(incident(COOLING_CLOGGED, Place("branch", "cdu/r1"), Place("rack", "r1")),
                     "cooling", id="the water of its rack"),
        pytest.param(incident(DEVICE_DOWN, Place("device", "leaf"), Place("device", "h1")),
                     "links", id="a switch that is dark"),
    ],
)  # fmt: skip
def test_an_incident_takes_what_its_victims_idled_beyond_their_usual(
    told: Incident, row: str
) -> None:
    found = went(busy(host=1), told)
    assert found[row] == pytest.approx(LOST, rel=0.05)
    assert found["waiting"] == pytest.approx(4 * HOURS * 0.1, rel=0.05)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(
            incident(LINK_FLAPPING, Place("link", "h1/eth0--leaf/1"), suppressed_by="boot:h1"),
            id="suppressed",
        ),
        pytest.param(
            incident(PFC_INCAST, Place("port", "leaf/1"), Place("job", "j")), id="a watch"
        ),
        pytest.param(incident(LINK_FLAPPING, Place("link", "a/1--b/1")), id="elsewhere"),
    ],
)
def test_what_took_nothing_is_no_row(told: Incident) -> None:
    found = went(busy(host=1), told)
    assert set(found) == {"useful", "waiting"}


def test_a_dark_host_is_a_fault_and_its_silence_no_mystery() -> None:
    said = busy(host=1, ill=float("nan"))
    assert went(said)["unknown"] == pytest.approx(4.0, rel=0.05)
    found = went(said, incident(DEVICE_DOWN, Place("device", "h1")))
    assert found["faults"] == pytest.approx(4.0, rel=0.05)
    assert "unknown" not in found


def test_maintenance_and_drained_hosts_are_neither_free_nor_faulty() -> None:
    scope = {"rack": "r1"}
    start = Event(START + 2 * HOUR, "maintenance_start", scope, "chg-7")
    end = Event(START + 4 * HOUR, "maintenance_end", {}, "chg-7")
    found = went(busy(host=1, ill=0.0), events=(JOB, start, end))
    assert found["maintenance"] == pytest.approx(4.0, rel=0.05)
    by_its_scope = Event(START + 4 * HOUR, "maintenance_end", scope)
    found = went(busy(host=1, ill=0.0, hours=(2, 6)), events=(JOB, start, by_its_scope))
    assert found["maintenance"] == pytest.approx(4.0, rel=0.05)
    drained: Said = {(SCHEDULABLE, ("h1",)): [1.0] * 120 + [0.0] * 120 + [1.0] * 120}
    found = went(busy(host=1, ill=0.0) | drained)
    assert found["maintenance"] == pytest.approx(4.0, rel=0.05)


def test_without_meters_of_racks_the_accelerators_own_power_stands() -> None:
    said = busy(host=1) | {(POWER, (name,)): [500.0] * (HOURS * 60) for name in NAMES}
    until = START + HOURS * HOUR
    found = accounted(store_of(said, 60.0), SITE, (), (JOB,), "pod", until, HOURS * HOUR).energy
    assert found is not None
    assert found.meter == "accelerator"
    assert found.metered == pytest.approx(1.0, abs=0.01)
    assert found.kilowatt_hours == pytest.approx(4 * 0.5 * HOURS, rel=0.02)


def test_where_a_job_restarted_a_fault_that_it_left_behind_takes_nothing() -> None:
    stays = Event(START, "job_start", {"job": "k"}, more={"accelerators": NAMES[2:]})
    first = Event(START, "job_start", {"job": "j"}, more={"accelerators": NAMES[:2]})
    at = START + 2 * HOUR + 60
    moved = (
        Event(at, "job_end", {"job": "j"}),
        Event(at, "job_end", {"job": "k"}),
        Event(at + 60, "job_start", {"job": "j"}, more={"accelerators": NAMES[2:]}),
    )
    flaps = incident(LINK_FLAPPING, Place("link", "h0/eth0--leaf/1"), Place("job", "j"))
    assert "links" not in went(busy(host=1), flaps, events=(first, stays, *moved))
