"""A leaf loses power: its peers' ports fall, and itself says nothing."""

import numpy as np

from fabrichealth.catalogue.ports import ADMIN_UP, UP
from tests.conformance.recipe import Recipe
from tests.conformance.world import HOSTS, World


def dark(world: World) -> None:
    for number in range(HOSTS):
        world.change(UP, (f"host-{number}", "eth0"), np.zeros_like)
        for metric in (UP, ADMIN_UP):
            world.change(metric, ("leaf-0", str(number)), lambda after: after * np.nan)


SICK = Recipe(dark)
