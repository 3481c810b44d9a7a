"""A cable falls and comes back, faster than it is polled."""

import numpy as np

from fabrichealth.catalogue.ports import LINK_DOWNS
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def flaps(world: World) -> None:
    for port in (("host-0", "eth0"), ("leaf-0", "0")):
        world.change(LINK_DOWNS, port, lambda after: 1 + np.floor(after / 20))


SICK = Recipe(flaps)
