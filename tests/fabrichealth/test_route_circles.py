"""What written routes allow: circles of buffers that wait for each other."""

from hypothesis import given
from hypothesis import strategies as st

from fabrichealth.model import Port
from fabrichealth.topology import Device, Link, Route, Topology
from fabrichealth.topology.route_circles import advice, route_circles

LEAVES, SPINES = ("leaf-0", "leaf-1", "leaf-2"), ("spine-0", "spine-1")


def fabric(*more: Route) -> Topology:
    """Return three leaves and two spines, each leaf reached from each spine, up by both."""
    links = [Link(a=f"{leaf}/{spine}", b=f"{spine}/{leaf}") for leaf in LEAVES for spine in SPINES]
    routes = [
        Route(device=spine, to=leaf, via=(leaf,)) for spine in SPINES for leaf in LEAVES
    ] + [
        Route(device=leaf, to=other, via=SPINES)
        for leaf in LEAVES for other in LEAVES if leaf != other
    ]  # fmt: skip
    kept = {(one.device, one.to): one for one in (*routes, *more)}
    devices = [Device(name=name, role="switch") for name in (*LEAVES, *SPINES)]
    return Topology(devices, links, routing=kept.values())


def test_up_and_then_down_closes_no_circle() -> None:
    assert list(route_circles(fabric())) == []


def test_reroutes_around_two_cuts_close_one_and_it_is_named() -> None:
    bounced = fabric(  # two cables are cut: what came down goes up again at leaf-0 and leaf-1
        Route(device="spine-0", to="leaf-2", via=("leaf-0",)),
        Route(device="leaf-0", to="leaf-2", via=("spine-1",)),
        Route(device="spine-1", to="leaf-2", via=("leaf-1",)),
        Route(device="leaf-1", to="leaf-2", via=("spine-0",)),
    )
    ((ports, towards),) = route_circles(bounced)
    assert set(ports) == {
        Port("spine-0", "leaf-0"), Port("leaf-0", "spine-1"), Port("spine-1", "leaf-1"),
        Port("leaf-1", "spine-0"),
    }  # fmt: skip
    assert towards == ["leaf-2"]
    (line,) = advice(bounced)
    assert "routes towards leaf-2" in line


@given(st.data())
def test_any_routes_give_circles_each_of_whose_steps_is_a_cable_and_a_route(
    data: st.DataObject,
) -> None:
    names = (*LEAVES, *SPINES)
    routes = []
    for _ in range(data.draw(st.integers(0, 12))):
        device, to = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
        others = SPINES if device in LEAVES else LEAVES
        via = tuple(data.draw(st.sets(st.sampled_from([*others, "nowhere"]), min_size=1)))
        routes.append(Route(device=device, to=to, via=via))
    topology = fabric(*routes)
    for ports, towards in route_circles(topology):
        assert len(set(ports)) == len(ports) > 1
        assert towards
        for one, other in zip(ports, [*ports[1:], ports[0]], strict=True):
            far = topology.peer(one)
            assert far is not None
            assert far.device == other.device
