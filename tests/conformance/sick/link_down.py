"""A cable is pulled."""

import numpy as np

from fabrichealth.catalogue.ports import UP
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def pulled(world: World) -> None:
    for port in (("host-0", "eth0"), ("leaf-0", "0")):
        world.change(UP, port, np.zeros_like)


SICK = Recipe(pulled)
