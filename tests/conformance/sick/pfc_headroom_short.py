"""A leaf's port loses packets of the lossless priority, poll after poll."""

import numpy as np

from fabrichealth.catalogue.congestion import PFC_RX_DROPPED_PACKETS
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def drops(world: World) -> None:
    world.change(PFC_RX_DROPPED_PACKETS, ("leaf-0", "0", "3"), lambda after: 3 + np.floor(after))


SICK = Recipe(drops)
