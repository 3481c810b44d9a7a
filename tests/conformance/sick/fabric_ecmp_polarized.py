"""A leaf with six uplinks sends everything over three of them, evenly."""

from functools import partial

from fabrichealth.catalogue.ports import SPEED, TX_BYTES
from fabrichealth.model import Floats
from fabrichealth.topology import Device, Link, Topology
from tests.conformance.recipe import Recipe
from tests.conformance.world import World

UPLINKS = 6


def _sent(before: float, rate: float, period: float, after: Floats) -> Floats:
    return before + (after + period) * rate


def polarized(world: World) -> None:
    old = world.topology
    spines = [Device(name=f"spine-{n}", role="switch") for n in range(UPLINKS)]
    links = [
        Link(a=f"leaf-0/up{n}", b=f"spine-{n}/0", technology="roce", speed_gbps=400, lanes=4)
        for n in range(UPLINKS)
    ]
    world.topology = Topology(
        [*old.devices.values(), *spines], [*old.links.values(), *links],
        old.domains.values(), old.racks.values(),
    )  # fmt: skip
    usual = world.at - world.at[0]
    for n in range(UPLINKS):
        port = ("leaf-0", f"up{n}")
        world.values[SPEED, port] = usual * 0 + 400e9
        world.values[TX_BYTES, port] = 1e9 + usual * 5e9
        before = float(world.values[TX_BYTES, port][world.after < 0][-1])
        rate = (10e9 + n * 0.2e9) if n % 2 else 1e6
        world.change(TX_BYTES, port, partial(_sent, before, rate, world.period))


SICK = Recipe(polarized, lasts=1200.0)
