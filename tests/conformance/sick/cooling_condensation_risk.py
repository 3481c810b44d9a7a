"""Supply of 10 °C in air of 24 °C and 40 % humidity: its dew point is 9.6 °C."""

import numpy as np

from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def cold(world: World) -> None:
    world.change(
        COOLANT_TEMPERATURE, ("cdu-1", "", "supply"), lambda after: np.full_like(after, 10.0)
    )


SICK = Recipe(cold, lasts=6 * 3600.0, least_period=1800.0)
