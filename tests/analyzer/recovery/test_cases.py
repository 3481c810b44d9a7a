"""What is kept of incidents that somebody had to recover from."""

from typing import Any

import pytest

from analyzer.evidence.domain.jobs import jobs as jobs_told
from analyzer.recovery.cases import case_of
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, FABRIC_HOT_LINK, LINK_DOWN, IncidentKind
from fabrichealth.model import Incident, Place, Word
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

SITE = Topology(
    [
        Device(name="leaf", role="switch"),
        *(Device(name=f"h{n}", role="host", rack="r1", domain="pod") for n in range(2)),
        *(Device(name=f"h{n}-{k}", role="accelerator", host=f"h{n}") for n in range(2)
          for k in range(4)),
    ],
    [Link(a=f"h{n}/eth0", b=f"leaf/{n}", medium="optical") for n in range(2)],
    [Domain(name="pod")],
    [Rack(name="r1", domain="pod")],
)  # fmt: skip


def incident(kind: IncidentKind, culprit: Place, *victims: Place, **more: Any) -> Incident:
    told: dict[str, Any] = {"confirmed_at": 60.0, "domain": "pod", **more}
    return Incident("i1", kind, kind.severity, 0.0, culprit, "why", "do", victims=list(victims),
                    **told)  # fmt: skip


def start(job: str, at: float, *accelerators: str) -> Event:
    return Event(at, "job_start", {"job": job}, more={"accelerators": list(accelerators)})


JOB = start("j", -60.0, "h0-0", "h1-0")


@pytest.mark.parametrize(
    ("culprit", "victims", "part", "accelerators", "jobs"),
    [
        pytest.param(Place("device", "h0"), (), "host", 4, 0, id="a host and what it holds"),
        pytest.param(Place("device", "h0-1"), (), "accelerator", 1, 0, id="one accelerator"),
        pytest.param(Place("link", "h0/eth0--leaf/0"), (), "optical link", 4, 0, id="a rail"),
        pytest.param(Place("rack", "r1"), (), "rack", 8, 0, id="a rack"),
        pytest.param(Place("port", "h0/eth0"), (), "host", 4, 0, id="a port of a host"),
        pytest.param(Place("branch", "cdu-1/r1"), (), "loop", 0, 0, id="a branch of a loop"),
        pytest.param(
            Place("device", "leaf"), (Place("job", "j"), Place("job", "k")), "switch", 2, 2,
            id="jobs, of one of which the accelerators are known",
        ),
    ],
)  # fmt: skip
def test_what_was_hit_is_counted_once(
    culprit: Place, victims: tuple[Place, ...], part: str, accelerators: int, jobs: int
) -> None:
    case = case_of(incident(DEVICE_DOWN, culprit, *victims), SITE, jobs_told([JOB]))
    assert case is not None
    assert (case.part, case.accelerators, case.jobs) == (part, accelerators, jobs)


def test_what_nobody_had_to_recover_from_is_no_case() -> None:
    link = Place("link", "h0/eth0--leaf/0")
    assert case_of(incident(FABRIC_HOT_LINK, link, confirmed_at=None), SITE) is None
    false = Word("false", 100.0)
    assert case_of(incident(LINK_DOWN, link, operator=false), SITE) is None
    assert case_of(incident(LINK_DOWN, link, operator=Word("true", 100.0)), SITE) is not None


HOSTS = [[f"h{n}-{k}" for k in range(4)] for n in range(2)]


@pytest.mark.parametrize(
    ("culprit", "accelerators"),
    [
        pytest.param(Place("link", "h0/eth0--leaf/0"), 4, id="at its host"),
        pytest.param(Place("link", "leaf/9--spine/0"), 4, id="on its way"),
    ],
)
def test_what_a_job_has_where_it_restarted_was_not_hit(culprit: Place, accelerators: int) -> None:
    moved = jobs_told(
        [
            start("j", -900.0, *HOSTS[0]),
            Event(600.0, "job_end", {"job": "j"}),
            start("j", 700.0, *HOSTS[1]),
        ]
    )
    case = case_of(incident(LINK_DOWN, culprit, Place("job", "j")), SITE, moved)
    assert case is not None
    assert (case.accelerators, case.jobs) == (accelerators, 1)


def test_a_job_that_grew_while_the_fault_stood_was_hit_with_all_that_it_had() -> None:
    grown = jobs_told([start("j", -900.0, *HOSTS[0]), start("j", 90.0, *HOSTS[0], *HOSTS[1])])
    case = case_of(
        incident(LINK_DOWN, Place("link", "leaf/9--spine/0"), Place("job", "j")), SITE, grown
    )
    assert case is not None
    assert case.accelerators == 8
