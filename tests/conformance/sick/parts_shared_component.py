"""Four hosts lose data, ten times a second each, on what leaf-0 sends them."""

import numpy as np

from fabrichealth.catalogue.ports import SYMBOL_ERRORS
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def one_way(world: World) -> None:
    for host in range(4):
        labels = (f"host-{host}", "eth0")
        world.change(SYMBOL_ERRORS, labels, lambda after: 1 + np.floor(after * 10))


SICK = Recipe(one_way)
