"""Each host has one accelerator left, and a job of two waits for twenty minutes."""

import numpy as np

from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import JOBS_PENDING
from tests.conformance.recipe import Recipe
from tests.conformance.world import HOSTS, World


def scattered(world: World) -> None:
    for host in range(HOSTS):
        world.change(ALLOCATED, (f"host-{host}-1",), np.zeros_like)
    world.change(JOBS_PENDING, ("pod-a", "2"), np.ones_like)


SICK = Recipe(scattered, lasts=1200.0)
