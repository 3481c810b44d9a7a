"""What of a domain still works as one machine."""

import pytest

from analyzer.evidence.domain.machine import Machine, Pieces
from fabrichealth.topology import Device, Domain, Link, Rack, Topology
from tests.analyzer.domain.fabrics import carrying, leaves_and_spines, planes

FLOOR = 0.75


def left(topology: Topology, dark: tuple[str, ...] = (), size: int = 0, **more: object) -> Machine:
    wired, now = carrying(topology, dark, **more)  # type: ignore[arg-type]  # as they are named
    found = Pieces(wired, now).machine("pod", FLOOR, size)
    assert found is not None
    return found


def test_a_whole_domain_is_as_large_as_it_was_built() -> None:
    found = left(planes(4, 4, 4))
    assert (found.size, found.effective, found.cut_off, found.thin) == (16, 16, (), ())


def test_accelerators_that_are_written_but_not_there_are_no_part_of_it() -> None:
    found = left(planes(4, 4, 4, spare=2), size=18)
    assert (found.size, found.effective) == (18, 16)


def test_an_accelerator_without_links_is_cut_off() -> None:
    found = left(planes(4, 4, 4), dark=("a00",))
    assert (found.effective, found.cut_off) == (15, ("a00",))


def test_one_link_of_four_is_within_the_floor_and_two_are_not() -> None:
    one = ("a00/ub/0/0--s0/d0-0",)
    assert left(planes(4, 4, 4), one).effective == 16
    found = left(planes(4, 4, 4), (*one, "a00/ub/0/1--s1/d0-0"))
    assert (found.effective, found.thin) == (15, ("a00",))


def test_a_link_at_half_its_speed_counts_half() -> None:
    slow = {f"a00/ub/0/{n}--s{n}/d0-0": 200.0 for n in range(4)}
    assert left(planes(4, 4, 4), slow=slow).thin == ("a00",)


def test_a_dead_plane_of_two_leaves_nobody_enough() -> None:
    found = left(planes(2, 2, 2), dark=("s0",))
    assert (found.effective, len(found.thin)) == (0, 4)


def test_an_island_of_a_rack_does_not_count_though_it_is_whole_in_itself() -> None:
    topology = leaves_and_spines(racks=3, each=2, spines=2)
    found = left(topology, dark=("leaf-0/u0--spine-0/d0", "leaf-0/u1--spine-1/d0"))
    assert (found.effective, set(found.cut_off)) == (4, {"h00-0", "h01-0"})


def beside(racks: int = 2, *, scale_out: bool = True) -> Topology:
    """Return racks of two accelerators each below a spine, their hosts joined by InfiniBand too."""
    hosts = [Device(name=f"h{rack}", role="host", rack=f"r{rack}", domain="pod")
             for rack in range(racks)]  # fmt: skip
    cards = [Device(name=f"h{rack}-{n}", role="accelerator", host=f"h{rack}", rack=f"r{rack}",
                    domain="pod") for rack in range(racks) for n in range(2)]  # fmt: skip
    switches = [Device(name=name, role="switch") for name in ("spine", "ib")]
    switches += [Device(name=f"leaf-{rack}", role="switch") for rack in range(racks)]
    links = [Link(a=f"leaf-{rack}/up", b=f"spine/{rack}", technology="ub", speed_gbps=800)
             for rack in range(racks)]  # fmt: skip
    links += [Link(a=f"{card.name}/ub", b=f"leaf-{card.name[1]}/{card.name}", technology="ub",
                   speed_gbps=400) for card in cards]  # fmt: skip
    if scale_out:
        links += [Link(a=f"h{rack}/ib", b=f"ib/{rack}", technology="ib", speed_gbps=400)
                  for rack in range(racks)]  # fmt: skip
    every = [Rack(name=f"r{rack}") for rack in range(racks)]
    return Topology([*switches, *hosts, *cards], links, [Domain(name="pod")], every)


@pytest.mark.parametrize("scale_out", [True, False])
def test_no_network_stands_in_for_the_one_that_is_cut(scale_out: bool) -> None:
    found = left(beside(3, scale_out=scale_out), dark=("leaf-0/up--spine/0",))
    assert (found.effective, found.cut_off) == (4, ("h0-0", "h0-1"))
    halves = left(beside(2, scale_out=scale_out), dark=("spine",))
    assert (halves.effective, len(halves.cut_off)) == (2, 2)


def test_a_host_that_the_network_beside_it_lost_is_cut_off() -> None:
    found = left(beside(3), dark=("h1/ib--ib/1",))
    assert (found.effective, found.cut_off) == (4, ("h1-0", "h1-1"))


def test_islands_by_design_are_one_machine_by_the_network_that_joins_them() -> None:
    topology = beside(3)
    found = left(without(topology, "spine"))
    assert (found.effective, found.cut_off) == (6, ())


def without(topology: Topology, device: str) -> Topology:
    """Return the same, built without a device."""
    links = [link for link in topology.links.values()
             if device not in {end.device for end in link.ends}]  # fmt: skip
    devices = [row for name, row in topology.devices.items() if name != device]
    return Topology(devices, links, topology.domains.values(), topology.racks.values())


def test_a_port_of_its_host_says_nothing_of_an_accelerator_that_is_silent() -> None:
    found = left(beside(3), unheard=["h0-0"])
    assert (found.effective, found.unheard, found.cut_off) == (5, ("h0-0",), ())
    assert left(beside(3), unheard=["ib", "h0", "h1", "h2"]).effective == 6  # nobody reads it


def test_what_is_not_heard_of_is_neither_well_nor_ill() -> None:
    topology = planes(2, 2, 2)
    found = left(topology, unheard=["a00"])
    assert (found.effective, found.unheard, found.cut_off) == (3, ("a00",), ())
    above = left(leaves_and_spines(racks=3), unheard=["spine-0", "spine-1"])
    assert (above.effective, above.cut_off) == (6, ())  # nobody reads the spines
    wired, now = carrying(topology, unheard=["s0", "s1"])
    assert Pieces(wired, now).machine("pod", FLOOR, 4) is None


def test_domains_side_by_side_are_told_as_each_would_be_alone() -> None:
    one, other = planes(2, 2, 2), leaves_and_spines(racks=3)
    devices = [row.model_copy(update={"domain": "hall" if row.domain else ""})
               for row in other.devices.values()]  # fmt: skip
    both = Topology(
        [*one.devices.values(), *devices],
        [*one.links.values(), *other.links.values()],
        [*one.domains.values(), Domain(name="hall", kind="nvlink")],
        one.racks.values(),
    )
    wired, now = carrying(both, dark=("a00", "h00"))
    pieces = Pieces(wired, now)
    found = {name: str(pieces.machine(name, FLOOR, 0)) for name in ("pod", "hall")}
    assert found["pod"] == str(left(one, dark=("a00",)))
    assert found["hall"] == str(left(other, dark=("h00",)))
    links = {name: [wired.links[row] for row in rows] for name, rows in wired.links_in.items()}
    assert sorted(links["pod"]) == sorted(one.links)
    assert sorted(links["hall"]) == sorted(
        link.id for link in other.links.values() if link.a.startswith("h")
    )
