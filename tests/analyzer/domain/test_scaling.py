"""What benchmarks reached by number of accelerators, beside what links could give."""

import pytest

from analyzer.evidence.domain.scaling import Limit, limit, scaling
from analyzer.evidence.domain.wiring import wiring
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.analyzer.domain.fabrics import planes


def hosts(number: int = 4, each: int = 8) -> Topology:
    """Return hosts whose accelerators share an NVSwitch of their own, with two NICs of 400."""
    devices, links = [Device(name="leaf", role="switch")], []
    for host in range(number):
        name = f"h{host}"
        devices += [
            Device(name=name, role="host", domain="pod"),
            Device(name=f"{name}-sw", role="switch", host=name),
        ]
        for slot in range(each):
            devices.append(Device(name=f"{name}-{slot}", role="accelerator", host=name))
            links += [
                Link(a=f"{name}-{slot}/nvlink/{n}", b=f"{name}-sw/{slot}-{n}", technology="nvlink",
                     speed_gbps=200)
                for n in range(4)
            ]  # fmt: skip
        links += [
            Link(a=f"{name}/eth{n}", b=f"leaf/{host}-{n}", technology="roce", speed_gbps=400)
            for n in range(2)
        ]
    return Topology(devices, links, [Domain(name="pod")])


def test_within_a_host_its_links_bound_and_beyond_it_what_a_host_sends() -> None:
    found = limit(wiring(hosts()), "pod")
    assert found == Limit(4 * 200e9 / 8, 2 * 400e9 / 8, 8, 8)
    assert found.of(8, "all_reduce") == pytest.approx(100e9)
    assert found.of(16, "all_reduce") == pytest.approx(100e9)
    assert Limit(450e9, 50e9, 8).of(16, "all_reduce") == 50e9


def test_a_domain_that_is_one_machine_is_bound_by_an_accelerators_links_throughout() -> None:
    found = limit(wiring(planes(4, 4, 4)), "pod")
    assert (found.island, found.host) == (16, None)
    assert found.accelerator == pytest.approx(200e9)
    assert found.of(16, "all_reduce") == pytest.approx(200e9)
    assert found.of(32, "all_reduce") is None  # nobody wrote what joins more


def test_speeds_that_are_not_written_give_no_limit() -> None:
    assert limit(wiring(planes(2, 2, 2, gbps=None)), "pod").of(4, "all_reduce") is None
    assert limit(wiring(Topology()), "pod") == Limit(None, None, 0)


def test_a_curve_has_the_largest_size_of_each_number_beside_its_limit() -> None:
    readings = [
        (("nccl-tests", "all_reduce", size, ranks), value)
        for size, ranks, value in (
            ("1024", "8", 1e9), ("1073741824", "8", 360e9), ("1073741824", "16", 45e9),
            ("x", "32", 1.0),
        )
    ]  # fmt: skip
    small, large = scaling(readings, Limit(450e9, 50e9, 8))
    assert (small.accelerators, small.reached) == (8, 360e9)
    assert small.of_limit == pytest.approx(0.8)
    assert (large.accelerators, large.first) == (16, 360e9)
    assert large.of_limit == pytest.approx(0.9)
    assert [one.of_limit for one in scaling(readings, None)] == [None, None]


def test_an_all_to_all_is_bound_by_what_of_it_leaves_the_host() -> None:
    most = Limit(450e9, 400e9, 8, 8)  # eight NICs of 400 Gb/s
    for ranks in (16, 32):
        seconds = (ranks - 8) / ranks / 50e9  # of one byte, by its own eighth of the ports
        bus = 1.0 / seconds * (ranks - 1) / ranks
        assert most.of(ranks, "alltoall") == pytest.approx(bus)
    assert most.of(8, "alltoall") == 450e9
    assert Limit(450e9, 400e9, 8).of(16, "alltoall") is None  # nobody wrote how many share a port


def test_pairs_and_roots_have_no_limit_of_this_kind() -> None:
    assert Limit(450e9, 400e9, 8, 8).of(16, "sendrecv") is None
