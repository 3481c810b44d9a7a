"""A leaf crashes and is back within a poll, again and again: all its cables fall each time."""

import numpy as np

from fabrichealth.catalogue.ports import LINK_DOWNS
from tests.conformance.recipe import Recipe
from tests.conformance.world import HOSTS, World


def crashes(world: World) -> None:
    for number in range(HOSTS):
        for port in ((f"host-{number}", "eth0"), ("leaf-0", str(number))):
            world.change(LINK_DOWNS, port, lambda after: 1 + np.floor(after / 45))


SICK = Recipe(crashes, lasts=200.0)
