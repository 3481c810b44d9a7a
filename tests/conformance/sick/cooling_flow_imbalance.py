"""A valve closes half: one branch of three gets less flow from one minute to the next."""

import numpy as np

from fabrichealth.catalogue.cooling import FLOW
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def throttled(world: World) -> None:
    for point in ("supply", "return"):
        world.change(FLOW, ("cdu-1", "b1", point), lambda after: np.full_like(after, 38.0))


SICK = Recipe(throttled, lasts=6 * 3600.0, least_period=1800.0)
