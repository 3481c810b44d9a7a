"""A leaf's marking threshold is set beyond what its queues may hold before they pause."""

import numpy as np

from fabrichealth.catalogue.congestion import (
    BUFFER_ALPHA,
    BUFFER_POOL,
    ECN_THRESHOLD,
    PFC_XOFF_THRESHOLD,
)
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def misconfigured(world: World) -> None:
    k_max = np.where(world.after >= 0, 400e3, 100e3)
    world.values[ECN_THRESHOLD, ("leaf-0", "0", "3", "max")] = k_max


SICK = Recipe(
    misconfigured,
    healthy={
        ECN_THRESHOLD: 100e3,
        BUFFER_ALPHA: 1 / 64,
        BUFFER_POOL: 12e6,
        PFC_XOFF_THRESHOLD: 1e6,
    },
)
