"""The only pump of a coolant unit stops, and with it the flow."""

import numpy as np

from fabrichealth.catalogue.cooling import FLOW, PUMP_RUNNING, PUMP_SPEED
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def stands(world: World) -> None:
    for metric in (PUMP_RUNNING, PUMP_SPEED):
        world.change(metric, ("cdu-1", "", ""), np.zeros_like)
    for branch in ("", "b1", "b2", "b3"):
        for point in ("supply", "return"):
            world.change(FLOW, ("cdu-1", branch, point), np.zeros_like)


SICK = Recipe(stands)
