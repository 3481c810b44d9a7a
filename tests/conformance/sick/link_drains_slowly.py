"""A link that repeats most of what it sends: its leaf port keeps a full queue at a low rate."""

from tests.conformance.recipe import Recipe
from tests.conformance.sick.pfc_incast import full
from tests.conformance.world import World


def repeats(world: World) -> None:
    full(world, load=0.4, senders=3, stopped=0.3)


SICK = Recipe(repeats)
