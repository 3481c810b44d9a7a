"""Three accelerators with an old driver call themselves unhealthy; those with a new one do not."""

import numpy as np

from fabrichealth.catalogue.accelerators import ACCELERATOR_INFO, HEALTHY
from tests.conformance.recipe import Recipe
from tests.conformance.world import HOSTS, World

OLD = ("host-0-0", "host-0-1", "host-1-0")


def drifted(world: World) -> None:
    for host in range(HOSTS):
        for card in range(2):
            name = f"host-{host}-{card}"
            course = world.values.pop((ACCELERATOR_INFO, (name, "", "", "", "", "")))
            driver = "535.1" if name in OLD else "550.2"
            world.values[ACCELERATOR_INFO, (name, "", "", "", "", driver)] = course
    for name in OLD:
        world.change(HEALTHY, (name,), np.zeros_like)


SICK = Recipe(drifted)
