"""A link that repeats most of what it sends: its leaf port keeps a full queue at a low rate."""

from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE, QUEUE_OCCUPANCY
from fabrichealth.catalogue.ports import TX_BYTES
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def repeats(world: World) -> None:
    slow = ("leaf-0", "0")
    rate = 400e9 / 8 * 0.4
    began = float(world.values[TX_BYTES, slow][world.after < 0][-1])
    world.change(TX_BYTES, slow, lambda after: began + world.period * 10e9 + after * rate)
    world.change(QUEUE_OCCUPANCY, (*slow, "3"), lambda after: after * 0 + 4e6)
    for n in range(1, 4):
        world.change(PFC_TX_PAUSE, ("leaf-0", str(n), "3"), lambda after: after * 0.3)
        world.change(PFC_RX_PAUSE, (f"host-{n}", "eth0", "3"), lambda after: after * 0.3)


SICK = Recipe(repeats)
