"""Dirt before one receiver takes four decibels of every lane's light."""

import numpy as np

from fabrichealth.catalogue.optics import RX_POWER
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def dirty(world: World) -> None:
    for lane in "1234":
        labels = ("host-0", "eth0", lane)
        world.change(RX_POWER, labels, lambda after: np.full_like(after, -5.5))


SICK = Recipe(dirty, lasts=700.0)
