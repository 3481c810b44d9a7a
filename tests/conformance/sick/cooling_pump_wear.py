"""A pump gives a fifth less head, and so less flow, at the same speed."""

import numpy as np

from fabrichealth.catalogue.cooling import DIFFERENTIAL_PRESSURE, FLOW
from tests.conformance.recipe import Recipe
from tests.conformance.world import World

HEAD = 0.8


def worn(world: World) -> None:
    for branch in ("", "b1", "b2", "b3"):
        for element in ("loop", "filter"):
            labels = ("cdu-1", branch, element)
            world.change(
                DIFFERENTIAL_PRESSURE, labels, lambda after: np.full_like(after, 60.0 * HEAD)
            )
        for point in ("supply", "return"):
            world.change(
                FLOW,
                ("cdu-1", branch, point),
                lambda after: np.full_like(after, 60.0 * HEAD ** (1 / 1.75)),
            )


SICK = Recipe(worn, lasts=6 * 3600.0, least_period=1800.0)
