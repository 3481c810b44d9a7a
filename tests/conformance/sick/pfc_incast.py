"""Everyone sends to one host: its leaf port is full, and the leaf stops the senders at times."""

from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE, QUEUE_OCCUPANCY
from fabrichealth.catalogue.ports import TX_BYTES
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def full(world: World, load: float, senders: int, stopped: float) -> None:
    """Fill the queue of a leaf's first port, which sends so much, and stop some senders."""
    port = ("leaf-0", "0")
    rate = 400e9 / 8 * load
    began = float(world.values[TX_BYTES, port][world.after < 0][-1])
    world.change(TX_BYTES, port, lambda after: began + world.period * 10e9 + after * rate)
    world.change(QUEUE_OCCUPANCY, (*port, "3"), lambda after: after * 0 + 4e6)
    for n in range(1, senders + 1):
        world.change(PFC_TX_PAUSE, ("leaf-0", str(n), "3"), lambda after: after * stopped)
        world.change(PFC_RX_PAUSE, (f"host-{n}", "eth0", "3"), lambda after: after * stopped)


def incast(world: World) -> None:
    full(world, load=0.99, senders=5, stopped=0.2)


SICK = Recipe(incast)
