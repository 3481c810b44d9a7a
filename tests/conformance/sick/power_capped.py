"""A rack is flat at its limit, and the clocks of its accelerators fall."""

import numpy as np

from fabrichealth.catalogue.accelerators import CLOCK
from fabrichealth.catalogue.power import RACK_POWER
from tests.conformance.recipe import Recipe
from tests.conformance.world import HOSTS, World


def capped(world: World) -> None:
    world.change(RACK_POWER, ("r1",), lambda after: np.full_like(after, 129_500.0))
    for number in range(HOSTS):
        world.change(CLOCK, (f"host-{number}-0",), lambda after: np.full_like(after, 1.2e9))


SICK = Recipe(capped, lasts=320.0, healthy={CLOCK: 1.8e9})
