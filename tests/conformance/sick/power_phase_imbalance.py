"""Somebody plugs everything into one phase."""

import numpy as np

from fabrichealth.catalogue.power import FEED_CURRENT
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def unequal(world: World) -> None:
    world.change(FEED_CURRENT, ("r1", "r1-A", "2"), lambda after: np.full_like(after, 40.0))


SICK = Recipe(unequal, lasts=900.0)
