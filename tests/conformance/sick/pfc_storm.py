"""A host's port stops its leaf nearly all the time; the other leaf port backs up behind it."""

from fabrichealth.catalogue.congestion import PFC_RX_FRAMES, PFC_RX_PAUSE, PFC_TX_PAUSE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def storm(world: World) -> None:
    for metric, port in ((PFC_TX_PAUSE, ("host-0", "eth0")), (PFC_RX_PAUSE, ("leaf-0", "0"))):
        world.change(metric, (*port, "3"), lambda after: after * 0.97)
    world.change(PFC_RX_FRAMES, ("leaf-0", "0", "3"), lambda after: after * 23_000)
    for port in (("host-1", "eth0"), ("host-2", "eth0")):
        world.change(PFC_RX_PAUSE, (*port, "3"), lambda after: after * 0.6)


SICK = Recipe(storm, lasts=45.0)
