"""A receiver loses data ten times a second."""

import numpy as np

from fabrichealth.catalogue.ports import SYMBOL_ERRORS
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def lossy(world: World) -> None:
    world.change(SYMBOL_ERRORS, ("host-0", "eth0"), lambda after: 1 + np.floor(after * 10))


SICK = Recipe(lossy)
