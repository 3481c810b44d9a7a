"""A supply says that it is not healthy."""

import numpy as np

from fabrichealth.catalogue.power import SUPPLY_HEALTHY
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def failed(world: World) -> None:
    world.change(SUPPLY_HEALTHY, ("r1", "3"), np.zeros_like)


SICK = Recipe(failed)
