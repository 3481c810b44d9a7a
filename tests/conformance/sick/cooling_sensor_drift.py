"""The pressure drop of a loop reads a fifth too much; flow and pump speed are as ever."""

import numpy as np

from fabrichealth.catalogue.cooling import DIFFERENTIAL_PRESSURE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def drifted(world: World) -> None:
    for element in ("loop", "filter"):
        labels = ("cdu-1", "", element)
        world.change(DIFFERENTIAL_PRESSURE, labels, lambda after: np.full_like(after, 75.0))


SICK = Recipe(drifted, lasts=6 * 3600.0, least_period=1800.0)
