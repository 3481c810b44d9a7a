"""The supply is 18 K warmer than usual, beyond what any class allows."""

import numpy as np

from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def hot(world: World) -> None:
    world.change(
        COOLANT_TEMPERATURE, ("cdu-1", "", "supply"), lambda after: np.full_like(after, 48.0)
    )


SICK = Recipe(hot, lasts=6 * 3600.0, least_period=1800.0)
