"""What may be drained: the constraint that forbids it is named, and plans are safe as a whole."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.incidents.capacity import live
from analyzer.incidents.draining import Judgement, judgement, plan, running
from fabrichealth.events import Event
from fabrichealth.kinds import (
    DEVICE_DOWN,
    LINK_DOWN,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    OPTICS_DEGRADING,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Incident, Place
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

NOW = 1_800_000_000.0


def rail(host: int, leaf: int) -> str:
    return f"host-{host}/eth{leaf}--leaf-{leaf}/{host}"


def clos(hosts: int = 8, leaves: int = 4, spines: int = 2) -> Topology:
    """Return hosts with a rail to each leaf, leaves with two uplinks to each spine.

    Each host holds an accelerator with one scale-up link to a switch of its own.
    """
    devices = [
        *(Device(name=f"leaf-{n}", role="switch", tier=1) for n in range(leaves)),
        *(Device(name=f"spine-{n}", role="switch", tier=2) for n in range(spines)),
        *(Device(name=f"host-{n}", role="host", rack=f"r{n // 4}") for n in range(hosts)),
        *(Device(name=f"host-{n}-0", role="accelerator", host=f"host-{n}", domain="pod")
          for n in range(hosts)),
        Device(name="nvs-0", role="switch"),
    ]  # fmt: skip
    links = [
        Link(a=f"host-{host}/eth{leaf}", b=f"leaf-{leaf}/{host}", speed_gbps=400)
        for host in range(hosts)
        for leaf in range(leaves)
    ]
    links += [
        Link(a=f"leaf-{leaf}/up{spine}{n}", b=f"spine-{spine}/{leaf}{n}", speed_gbps=800,
             bundle=f"mpo-{leaf}")
        for leaf in range(leaves) for spine in range(spines) for n in range(2)
    ]  # fmt: skip
    links += [
        Link(a=f"host-{n}-0/nvlink/{lane}", b=f"nvs-0/{n}{lane}", technology="nvlink",
             speed_gbps=400)
        for n in range(hosts) for lane in range(8)
    ]  # fmt: skip
    racks = [Rack(name=f"r{n}") for n in range(-(-hosts // 4))]
    return Topology(devices, links, [Domain(name="pod")], racks)


TOPOLOGY = clos()


def incident(
    kind: IncidentKind, culprit: str, of: str = "link", severity: Severity | None = None
) -> Incident:
    dark = kind in {DEVICE_DOWN, LINK_DOWN}
    severity = severity or kind.severity
    return Incident("i1", kind, severity, NOW, Place(of, culprit), "", "", dark=dark)


def said(
    culprit: str,
    of: str = "link",
    ill: Iterable[Incident] = (),
    events: Iterable[Event] = (),
    jobs: dict[str, list[str]] | None = None,
    floor: float = 0.75,
    topology: Topology = TOPOLOGY,
) -> Judgement:
    now = live(topology, ill, list(events))
    found = judgement(Place(of, culprit), now, topology, running((jobs or {}).items(), topology),
                      floor)  # fmt: skip
    assert found is not None
    return found


def test_one_rail_of_four_may_go_and_what_stays_is_said() -> None:
    found = said(rail(0, 0))
    assert found.safe
    assert found.because == "3 of 4 uplinks of host-0 stay (75 %, floor 75 %)".replace(" %", "%")


def test_a_second_rail_of_the_same_host_may_not_and_the_first_is_counted() -> None:
    found = said(rail(0, 0), ill=[incident(LINK_DOWN, rail(0, 1))])
    assert not found.safe
    assert found.because == (
        "2 of 4 uplinks of host-0 would be left (50%, 1 lost already); the floor is 75%"
    )


@pytest.mark.parametrize(
    ("kind", "severity", "counts"),
    [
        (LINK_FLAPPING, None, True),
        (LINK_SUBHEALTHY, Severity.PAGE, True),
        (LINK_SUBHEALTHY, Severity.TICKET, False),
        (OPTICS_DEGRADING, None, False),
    ],
)
def test_what_cannot_be_relied_on_is_no_redundancy(
    kind: IncidentKind, severity: Severity | None, counts: bool
) -> None:
    other = incident(kind, rail(0, 1), severity=severity)
    assert said(rail(0, 0), ill=[other]).safe is not counts


def test_a_host_of_one_rail_would_be_cut_off_and_of_two_would_hang_by_one() -> None:
    one, two = clos(leaves=1), clos(leaves=2)
    assert said(rail(0, 0), topology=one, floor=0.0).because == "host-0 would be cut off"
    found = said(rail(0, 0), topology=two, floor=0.5)
    assert (found.safe, "hang by one link" in found.because) == (False, True)


def test_a_dark_leaf_takes_its_rails_along() -> None:
    dark = incident(DEVICE_DOWN, "leaf-3", "device")
    assert "1 lost already" in said(rail(0, 0), ill=[dark]).because
    assert said(rail(0, 3), ill=[dark]).because == "it is down and carries nothing"


def test_a_switch_is_drained_whole_and_its_own_ports_are_not_missed() -> None:
    assert not said("leaf-0", "device", floor=0.8).safe
    assert said("leaf-0", "device", floor=0.75).safe


def test_a_scale_up_link_under_a_job_waits_for_it() -> None:
    name = "host-0-0/nvlink/0--nvs-0/00"
    assert said(name).safe
    found = said(name, jobs={"j1": ["host-0-0"]})
    assert not found.safe
    assert found.because.startswith("job j1 runs on host-0-0")
    assert said(rail(0, 0), jobs={"j1": ["host-0-0"]}).safe  # a rail of four only slows it


def test_one_of_a_trunk_and_a_few_of_the_fabric_at_a_time() -> None:
    name = "leaf-0/up00--spine-0/00"
    other = Event(NOW, "link_drained", {"link": "leaf-0/up10--spine-1/00"})
    assert "of the same mpo-0 is drained already" in said(name, events=[other], floor=0.5).because
    back = Event(NOW + 1, "link_returned", {"link": "leaf-0/up10--spine-1/00"})
    assert said(name, events=[other, back], floor=0.5).safe
    many = [Event(NOW, "link_drained", {"link": rail(host, 1)}) for host in range(8)]
    many += [Event(NOW, "link_drained", {"link": rail(host, 2)}) for host in range(2)]
    assert said(rail(7, 0), events=many, floor=0.0).because.startswith("10 links are drained")


def test_what_holds_no_link_is_not_judged() -> None:
    now = live(TOPOLOGY, [], [])
    assert judgement(Place("loop", "cdu-1"), now, TOPOLOGY, {}, 0.75) is None
    assert judgement(Place("link", "no--link"), now, TOPOLOGY, {}, 0.75) is None


def test_a_plan_begins_with_what_loses_most_and_a_job_makes_it_more() -> None:
    ill = [
        incident(OPTICS_DEGRADING, rail(1, 0)),
        incident(LINK_FLAPPING, rail(2, 1)),
        incident(LINK_SUBHEALTHY, rail(3, 2), severity=Severity.TICKET),
    ]
    held = [f"host-{n}-0" for n in (0, 3, 4, 5, 6, 7)]
    jobs = running([("j", held)], TOPOLOGY)
    calm = plan(ill, live(TOPOLOGY, ill, []), TOPOLOGY, {}, 0.5)
    assert [step.incident.kind for step in calm] == [LINK_FLAPPING, LINK_SUBHEALTHY,
                                                     OPTICS_DEGRADING]  # fmt: skip
    busy = plan(ill, live(TOPOLOGY, ill, []), TOPOLOGY, jobs, 0.5)
    assert busy[0].loss_avoided_gbps == pytest.approx(0.2 * 400 * 6)
    assert busy[0].jobs == ("j",)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), min_size=1, max_size=20, unique=True),
    st.floats(0.3, 1.0),
)
def test_the_safe_steps_of_a_plan_are_safe_together(
    rails: list[tuple[int, int]], floor: float
) -> None:
    ill = [incident(OPTICS_DEGRADING, rail(*one)) for one in rails]
    steps = plan(ill, live(TOPOLOGY, ill, []), TOPOLOGY, {}, floor)
    safe = [step.incident.culprit.id for step in steps if step.judgement.safe]
    for host in range(8):
        left = 4 - sum(name.startswith(f"host-{host}/") for name in safe)
        assert left == 4 or (left / 4 >= floor and left >= 2)
    for leaf in range(4):
        left = 8 - sum(f"--leaf-{leaf}/" in name for name in safe)
        assert left == 8 or left / 8 >= floor - 1e-9
    assert len(safe) <= 10
