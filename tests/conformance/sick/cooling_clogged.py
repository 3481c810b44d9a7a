"""One of three branches clogs within hours: less flow at the same pressure drop."""

import numpy as np

from fabrichealth.catalogue.cooling import FLOW
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def clogging(world: World) -> None:
    for point in ("supply", "return"):
        world.change(FLOW, ("cdu-1", "b1", point), lambda after: 60.0 * np.exp(-after / 30_000.0))


SICK = Recipe(clogging, lasts=6 * 3600.0, least_period=1800.0)
