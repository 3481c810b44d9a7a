"""The filter takes twice the pressure at the same flow."""

import numpy as np

from fabrichealth.catalogue.cooling import DIFFERENTIAL_PRESSURE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def full(world: World) -> None:
    labels = ("cdu-1", "", "filter")
    world.change(DIFFERENTIAL_PRESSURE, labels, lambda after: np.full_like(after, 120.0))


SICK = Recipe(full, lasts=6 * 3600.0, least_period=1800.0)
