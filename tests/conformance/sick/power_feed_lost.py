"""A feed is dead, and its meter, fed by the other, says so; its partner takes over."""

import numpy as np

from fabrichealth.catalogue.power import FEED_CURRENT, FEED_VOLTAGE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def dead(world: World) -> None:
    for phase in "123":
        world.change(FEED_VOLTAGE, ("r1", "r1-A", phase), np.zeros_like)
        world.change(FEED_CURRENT, ("r1", "r1-A", phase), np.zeros_like)
        world.change(FEED_CURRENT, ("r1", "r1-B", phase), lambda after: np.full_like(after, 47.0))


SICK = Recipe(dead)
