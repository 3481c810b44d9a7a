"""The controller of a coolant unit answers, and every reading of it is 0."""

import numpy as np

from analyzer.evidence.cooling.places import MEASURED
from fabrichealth.catalogue.cooling import AIR_HUMIDITY, AIR_TEMPERATURE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def mute(world: World) -> None:
    for metric, labels in list(world.values):
        room = metric in {AIR_TEMPERATURE, AIR_HUMIDITY}
        if metric in MEASURED and not room and labels[:2] == ("cdu-1", ""):
            world.change(metric, labels, np.zeros_like)


SICK = Recipe(mute, lasts=720.0)
