"""A feed takes over what its partner carried, and more than its breaker may."""

import numpy as np

from fabrichealth.catalogue.power import FEED_CURRENT
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def overloaded(world: World) -> None:
    world.change(FEED_CURRENT, ("r1", "r1-B", "2"), lambda after: np.full_like(after, 61.5))


SICK = Recipe(overloaded, lasts=120.0)
