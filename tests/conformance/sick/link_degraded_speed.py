"""A link comes back with two lanes of four."""

import numpy as np

from fabrichealth.catalogue.ports import LANES, SPEED
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def narrow(world: World) -> None:
    for port in (("host-0", "eth0"), ("leaf-0", "0")):
        world.change(SPEED, port, lambda after: np.full_like(after, 200e9))
        world.change(LANES, port, lambda after: np.full_like(after, 2.0))


SICK = Recipe(narrow)
