"""An accelerator falls off the bus, again and again."""

import numpy as np

from fabrichealth.catalogue.accelerators import ERRORS
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def falls_off(world: World) -> None:
    world.change(ERRORS, ("host-0-0", "xid:79"), lambda after: 1 + np.floor(after / 60))


SICK = Recipe(falls_off, passing=True)
