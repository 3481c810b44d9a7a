"""A meter of one feed reads a tenth too much."""

import numpy as np

from fabrichealth.catalogue.power import FEED_POWER
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def drifted(world: World) -> None:
    world.change(FEED_POWER, ("r1", "r1-A"), lambda after: np.full_like(after, 18_400.0))


SICK = Recipe(drifted, lasts=2000.0, healthy={})
