"""A host stops its leaf for a seventh of the time, minute after minute."""

from fabrichealth.catalogue.congestion import PFC_RX_FRAMES, PFC_RX_PAUSE, PFC_TX_PAUSE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def slow(world: World) -> None:
    for metric, port in ((PFC_TX_PAUSE, ("host-0", "eth0")), (PFC_RX_PAUSE, ("leaf-0", "0"))):
        world.change(metric, (*port, "3"), lambda after: after * 0.14)
    world.change(PFC_RX_FRAMES, ("leaf-0", "0", "3"), lambda after: after * 5_000)


SICK = Recipe(slow)
