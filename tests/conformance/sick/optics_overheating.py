"""A module without air: beyond its own alarm, far from its siblings."""

import numpy as np

from fabrichealth.catalogue.optics import TEMPERATURE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def hot(world: World) -> None:
    world.change(TEMPERATURE, ("host-0", "eth0"), lambda after: np.full_like(after, 83.0))


SICK = Recipe(hot, lasts=400.0)
