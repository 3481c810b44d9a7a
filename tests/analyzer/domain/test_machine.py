"""What of a domain still works as one machine."""

from analyzer.evidence.domain.machine import Machine, machine
from fabrichealth.topology import Topology
from tests.analyzer.domain.fabrics import carrying, leaves_and_spines, planes

FLOOR = 0.75


def left(topology: Topology, dark: tuple[str, ...] = (), size: int = 0, **more: object) -> Machine:
    wired, now = carrying(topology, dark, **more)  # type: ignore[arg-type]  # as they are named
    found = machine(wired, "pod", now, FLOOR, size)
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


def test_what_is_not_heard_of_is_neither_well_nor_ill() -> None:
    topology = planes(2, 2, 2)
    found = left(topology, unheard=["a00"])
    assert (found.effective, found.unheard, found.cut_off) == (3, ("a00",), ())
    above = left(leaves_and_spines(racks=3), unheard=["spine-0", "spine-1"])
    assert (above.effective, above.cut_off) == (6, ())  # nobody reads the spines
    wired, now = carrying(topology, unheard=["s0", "s1"])
    assert machine(wired, "pod", now, FLOOR, 4) is None
