"""A host with four rails sends nearly everything over one of them."""

from fabrichealth.catalogue.ports import RX_BYTES, SPEED, TX_BYTES
from fabrichealth.topology import Device, Link, Topology
from tests.conformance.recipe import Recipe
from tests.conformance.world import World

RAILS = tuple(f"rail{n}" for n in range(4))


def hot(world: World) -> None:
    old = world.topology
    leaves = [Device(name=f"rail-{n}", role="switch") for n in range(4)]
    links = [
        Link(a=f"host-0/{rail}", b=f"rail-{n}/0", technology="roce", speed_gbps=400, lanes=4)
        for n, rail in enumerate(RAILS)
    ]
    world.topology = Topology(
        [*old.devices.values(), *leaves], [*old.links.values(), *links],
        old.domains.values(), old.racks.values(),
    )  # fmt: skip
    usual = world.at - world.at[0]
    for rail in RAILS:
        port = ("host-0", rail)
        world.values[SPEED, port] = usual * 0 + 400e9
        for metric in (TX_BYTES, RX_BYTES):
            world.values[metric, port] = 1e9 + usual * 5e9
    before = float(world.values[TX_BYTES, ("host-0", "rail1")][world.after < 0][-1])
    world.change(
        TX_BYTES, ("host-0", "rail1"), lambda after: before + (after + world.period) * 45e9
    )


SICK = Recipe(hot, lasts=300.0)
