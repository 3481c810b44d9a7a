"""A third of a domain does nothing; the others work, and the mean looks well."""

import numpy as np

from fabrichealth.catalogue.accelerators import UTILIZATION
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def idle(world: World) -> None:
    for host in (3, 4):
        for card in range(2):
            world.change(UTILIZATION, (f"host-{host}-{card}",), np.zeros_like)


SICK = Recipe(idle, lasts=570.0)
