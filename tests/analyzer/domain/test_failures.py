"""What a switch or a plane that fails would cost each job."""

import numpy as np
import pytest

from analyzer.evidence.domain.bisection import network
from analyzer.evidence.domain.failures import Cost, _alike, _further_up, _legs, costs
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.analyzer.domain.fabrics import carrying, leaves_and_spines, planes


def dearest(
    topology: Topology, jobs: dict[str, list[str]], dark: tuple[str, ...] = ()
) -> dict[tuple[str, str, str], Cost]:
    wired, now = carrying(topology, dark)
    return {(one.job, one.network, one.what): one for one in costs(wired, "pod", now, jobs)}


def test_one_switch_of_four_costs_a_quarter() -> None:
    found = dearest(planes(4, 4, 4), {"j": ["a00", "a10", "a20"]})
    one = found["j", "scale_up", "switch"]
    assert one.lost == pytest.approx(0.25)
    assert (one.cut_off, one.alike, one.switches) == (0, 4, 1)
    assert ("j", "scale_up", "plane") not in found  # each is a plane of its own


def test_a_plane_costs_all_that_its_switches_carry() -> None:
    devices = [Device(name=f"h{n}", role="host", rack=f"r{n}", domain="pod") for n in range(2)]
    devices += [Device(name=f"h{n}-0", role="accelerator", host=f"h{n}") for n in range(2)]
    links = []
    for plane in range(2):
        devices.append(Device(name=f"p{plane}-spine", role="switch"))
        for number in range(4):
            leaf = f"p{plane}-leaf{number}"
            devices.append(Device(name=leaf, role="switch"))
            links += [
                Link(a=f"h{number // 2}/eth{plane}-{number}", b=f"{leaf}/d", speed_gbps=400),
                Link(a=f"{leaf}/u", b=f"p{plane}-spine/d{number}", speed_gbps=400),
            ]
    found = dearest(Topology(devices, links, [Domain(name="pod")]), {"j": ["h0-0", "h1-0"]})
    whole = found["j", "scale_out", "plane"]
    assert (whole.name, whole.switches, whole.alike) == ("p0-spine", 5, 2)
    assert whole.lost == pytest.approx(0.5)
    assert found["j", "scale_out", "switch"].lost == pytest.approx(0.5)  # the spine of one


def test_a_member_that_lost_links_already_loses_more() -> None:
    dark = ("a00/ub/0/0--s0/d0-0", "a00/ub/0/1--s1/d0-0")
    found = dearest(planes(4, 4, 4), {"j": ["a00", "a10"], "k": ["a20", "a30"]}, dark)
    assert found["j", "scale_up", "switch"].lost == pytest.approx(0.5)
    assert found["j", "scale_up", "switch"].name in {"s2", "s3"}
    assert found["k", "scale_up", "switch"].lost == pytest.approx(0.25)


def test_the_only_leaf_of_a_rack_cuts_its_accelerators_off() -> None:
    found = dearest(leaves_and_spines(4, 2, 2), {"j": ["h00-0", "h01-0", "h10-0"]})
    one = found["j", "scale_out", "switch"]
    assert (one.name, one.cut_off) == ("leaf-0", 2)
    assert one.lost == pytest.approx(1.0)
    assert ("j", "scale_out", "plane") not in found  # it is one fabric


def test_a_spine_costs_what_no_longer_flows_between_the_halves_of_a_job() -> None:
    devices = [
        *(Device(name=f"h{n}", role="host", rack=f"r{n}", domain="pod") for n in range(2)),
        *(Device(name=f"h{n}-0", role="accelerator", host=f"h{n}") for n in range(2)),
        *(Device(name=f"leaf-{n}", role="switch") for n in range(8)),
        *(Device(name=f"spine-{n}", role="switch") for n in range(2)),
    ]
    links = [
        Link(a=f"h{n // 4}/eth{n % 4}", b=f"leaf-{n}/d", technology="roce", speed_gbps=400)
        for n in range(8)
    ]
    links += [
        Link(a=f"leaf-{n}/u{spine}", b=f"spine-{spine}/d{n}", technology="roce", speed_gbps=200)
        for n in range(8)
        for spine in range(2)
    ]
    topology = Topology(devices, links, [Domain(name="pod")])
    one = dearest(topology, {"j": ["h0-0", "h1-0"]})["j", "scale_out", "switch"]
    assert (one.name, one.alike, one.cut_off) == ("spine-0", 2, 0)
    assert one.lost == pytest.approx(0.5)  # a leaf would cost a quarter


@pytest.mark.parametrize(
    ("dark", "worst"),
    [
        pytest.param((), 0.0, id="whole: the other three carry it"),
        pytest.param(("spine-3",), 0.0, id="a spine out: two are enough"),
        pytest.param(("spine-2", "leaf-3/u1--spine-1/d3"), 0.25, id="and an uplink: no spare"),
        pytest.param(("spine-2", "spine-3"), 0.5, id="two spines out"),
    ],
)
def test_kinds_of_switches_cost_what_each_of_them_costs_by_itself(
    dark: tuple[str, ...], worst: float
) -> None:
    topology = leaves_and_spines(racks=4, each=2, spines=4)
    members = [f"h{rack}{n}-0" for rack in range(4) for n in range(2)]
    wired, now = carrying(topology, dark)
    net = network(wired, "pod", 1, now)
    legs = _legs(wired, 1, now, np.array([wired.numbers[name] for name in members]))
    units = net.units.of[legs.boxes]
    found = _further_up(net, legs, units, _alike(net), least=0.0)
    each = _further_up(net, legs, units, np.arange(net.nodes), least=0.0)  # none is like another
    assert found == pytest.approx(each)
    assert max(each.values()) == pytest.approx(worst, abs=1e-9)
    some = _further_up(net, legs, units, _alike(net), least=0.3)
    assert all(found[node] == pytest.approx(cost) for node, cost in some.items())
    assert {node for node, cost in found.items() if cost >= 0.3} <= some.keys()


def test_a_job_of_which_nothing_is_known_is_not_told_of() -> None:
    assert dearest(planes(), {"j": ["elsewhere-0"], "k": []}) == {}
