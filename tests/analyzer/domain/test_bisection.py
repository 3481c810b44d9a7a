"""How much one half of a domain can send to the other."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.evidence.domain.bisection import Bisection, Cuts, bisection, network
from analyzer.evidence.domain.wiring import Carried, wiring
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.analyzer.domain.fabrics import carrying, leaves_and_spines, planes

UP, OUT = 0, 1


def halved(topology: Topology, number: int = UP, now: Carried | None = None) -> Bisection | None:
    wired, whole = carrying(topology)
    return bisection(wired, network(wired, "pod", number, now or whole))


@pytest.mark.parametrize(
    ("topology", "number", "gbps"),
    [
        pytest.param(planes(4, 4, 2), UP, 8 * 2 * 400.0, id="eight accelerators with two ports"),
        pytest.param(planes(3, 2, 1), UP, 2 * 400.0, id="three racks: the smaller side decides"),
        pytest.param(leaves_and_spines(4, 2, 2), OUT, 4 * 400.0, id="as many up as down"),
        pytest.param(leaves_and_spines(4, 8, 2), OUT, 4 * 400.0, id="two up of eight down"),
    ],
)
def test_a_whole_domain_has_what_it_was_built_for(
    topology: Topology, number: int, gbps: float
) -> None:
    found = halved(topology, number)
    assert found is not None
    assert (found.gbps, found.built) == pytest.approx((gbps, gbps))
    assert found.share == pytest.approx(1.0)


def test_a_small_rack_against_all_others_is_no_halving() -> None:
    whole = planes(3, 3, 1)
    keep = {name for name in whole.devices if name not in {"a21", "a22"}}  # racks of 3, 3 and 1
    rows = [row for name, row in whole.devices.items() if name in keep]
    links = [link for link in whole.links.values() if {end.device for end in link.ends} <= keep]
    topology = Topology(rows, links, whole.domains.values(), whole.racks.values())
    _, now = carrying(topology, dark=["a20"])
    found = halved(topology, UP, now)
    assert found is not None
    assert {len(found.one), len(found.other)} == {1, 2}
    assert (found.gbps, found.built) == pytest.approx((3 * 400.0, 3 * 400.0))


def test_a_dead_spine_takes_its_share() -> None:
    topology = leaves_and_spines(4, 2, spines=4)
    _, now = carrying(topology, dark=["spine-0", "spine-1", "spine-2"])
    found = halved(topology, OUT, now)
    assert found is not None
    assert found.share == pytest.approx(0.5)  # one uplink a leaf of 400 for two hosts of 400


def test_a_halving_that_is_remembered_is_the_one_of_the_links_as_they_are_now() -> None:
    topology = leaves_and_spines(4, 2, spines=4)
    cuts = Cuts()
    dark: list[str] = []
    for spine in ("spine-0", "spine-1", None, "spine-2"):
        dark = [*dark, spine] if spine else dark[:-1]
        wired, now = carrying(topology, dark=dark)
        fresh = bisection(wired, network(wired, "pod", OUT, now))
        found = cuts.cut(wired, "pod", OUT, now)
        assert found is not None
        assert fresh is not None
        assert (found.gbps, found.cut.tolist()) == (fresh.gbps, fresh.cut.tolist())
        assert cuts.cut(wired, "pod", OUT, now) is found  # nothing changed


def test_links_count_with_the_speed_they_trained_to() -> None:
    topology = planes(2, 1, 1)
    _, now = carrying(topology, slow={"a00/ub/0/0--s0/d0-0": 100.0})
    found = halved(topology, UP, now)
    assert found is not None
    assert (found.gbps, found.built) == pytest.approx((100.0, 400.0))
    assert [wiring(topology).links[n] for n in found.cut] == ["a00/ub/0/0--s0/d0-0"]


def test_the_racks_that_lost_most_are_halved_against_the_rest() -> None:
    topology = leaves_and_spines(racks=8, each=2, spines=2)
    ill = [0, 2, 5, 7]  # no two neighbours hold them all
    dark = [f"leaf-{rack}/u0--spine-0/d{rack}" for rack in ill]
    _, now = carrying(topology, dark)
    found = halved(topology, OUT, now)
    assert found is not None
    assert set(found.one) == {f"r{rack}" for rack in ill}
    assert found.share == pytest.approx(0.5)


def test_there_is_nothing_to_halve_in_one_accelerator_and_nothing_between_islands() -> None:
    assert halved(planes(racks=1, each=1)) is None
    islands = Topology(
        [Device(name=name, role="accelerator", domain="pod") for name in ("a0", "a1")],
        (),
        [Domain(name="pod")],
    )
    assert halved(islands) is None


def test_links_of_which_nothing_is_heard_are_no_part_of_either() -> None:
    topology = planes(2, 2, 2)
    _, now = carrying(topology, unheard=["s1"])
    found = halved(topology, UP, now)
    assert found is not None
    assert (found.gbps, found.built) == pytest.approx((800.0, 800.0))


def test_a_network_without_written_speeds_counts_links() -> None:
    found = halved(planes(2, 2, 2, gbps=None))
    assert found is not None
    assert found.gbps == pytest.approx(4.0)


@settings(deadline=None)
@given(
    st.integers(2, 5),
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(1, 900)), max_size=30),
)
def test_it_is_the_smallest_cut_between_the_halves_it_names(
    accelerators: int, switches: int, cables: list[tuple[int, int, int]]
) -> None:
    devices = [
        *(Device(name=f"a{n}", role="accelerator", domain="pod") for n in range(accelerators)),
        *(Device(name=f"s{n}", role="switch") for n in range(switches)),
    ]
    names = [device.name for device in devices]
    links = [
        Link(a=f"{names[a % len(names)]}/p{n}a", b=f"{names[b % len(names)]}/p{n}b",
             technology="ub", speed_gbps=gbps)
        for n, (a, b, gbps) in enumerate(cables)
        if a % len(names) != b % len(names)
    ]  # fmt: skip
    topology = Topology(devices, links, [Domain(name="pod")])
    found = halved(topology)
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(["one", "other", *names])
    for link in links:
        one, other = (end.device for end in link.ends)
        gbps = graph.get_edge_data(one, other, {"capacity": 0.0})["capacity"]
        graph.add_edge(one, other, capacity=gbps + float(link.speed_gbps or 0))
    if found is None:
        return
    for side, ends in (("one", found.one), ("other", found.other)):
        for name in ends:
            graph.add_edge(side, name)  # without a capacity: endless
    value = nx.minimum_cut_value(graph, "one", "other")
    assert found.gbps == pytest.approx(value)
    across = float(np.sum(wiring(topology).gbps[found.cut]))
    assert across == pytest.approx(value)
