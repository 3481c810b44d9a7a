"""Everyone sends to one host: its leaf port is full, and the leaf stops the senders at times."""

from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE, QUEUE_OCCUPANCY
from fabrichealth.catalogue.ports import TX_BYTES
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def incast(world: World) -> None:
    full = ("leaf-0", "0")
    rate = 400e9 / 8 * 0.99
    began = float(world.values[TX_BYTES, full][world.after < 0][-1])
    world.change(TX_BYTES, full, lambda after: began + world.period * 10e9 + after * rate)
    world.change(QUEUE_OCCUPANCY, (*full, "3"), lambda after: after * 0 + 4e6)
    for n in range(1, 6):
        world.change(PFC_TX_PAUSE, ("leaf-0", str(n), "3"), lambda after: after * 0.2)
        world.change(PFC_RX_PAUSE, (f"host-{n}", "eth0", "3"), lambda after: after * 0.2)


SICK = Recipe(incast)
