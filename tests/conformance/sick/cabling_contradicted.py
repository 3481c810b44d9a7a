"""A host's cable was plugged into another leaf's port than the topology says."""

import numpy as np

from fabrichealth.catalogue.ports import NEIGHBOR_INFO
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def swapped(world: World) -> None:
    heard = np.where(world.after >= 0, 1.0, np.nan)
    world.values[NEIGHBOR_INFO, ("host-0", "eth0", "leaf-1", "3", "lldp")] = heard


SICK = Recipe(swapped, lasts=1200.0)
