"""The rope under a coolant unit is wet."""

import numpy as np

from fabrichealth.catalogue.cooling import LEAK
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def wet(world: World) -> None:
    world.change(LEAK, ("cdu-1", "", ""), np.ones_like)


SICK = Recipe(wet, lasts=200.0)
