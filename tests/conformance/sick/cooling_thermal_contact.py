"""One accelerator of twelve is 15 K hotter at the same power."""

import numpy as np

from fabrichealth.catalogue.accelerators import TEMPERATURE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def loose(world: World) -> None:
    world.change(TEMPERATURE, ("host-0-0",), lambda after: np.full_like(after, 70.0))


SICK = Recipe(loose, lasts=6 * 3600.0, least_period=1800.0)
