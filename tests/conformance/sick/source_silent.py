"""One target of many stops answering."""

import numpy as np

from fabrichealth.catalogue.watchers import LAST_SUCCESS, SOURCE_UP
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def silent(world: World) -> None:
    labels = ("test", "host-0")
    heard = float(world.at[world.after < 0][-1])
    world.change(SOURCE_UP, labels, np.zeros_like)
    world.change(LAST_SUCCESS, labels, lambda after: np.full_like(after, heard))


SICK = Recipe(silent)
