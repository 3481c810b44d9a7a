"""The approach of the exchanger to its facility side goes from 4 to 8 K at the same heat."""

import numpy as np

from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE, FLOW
from tests.conformance.recipe import Recipe
from tests.conformance.world import World

FACILITY = "cdu-1-facility"


def fouled(world: World) -> None:
    for loop, point, celsius in (
        ("cdu-1", "return", 40.0), (FACILITY, "supply", 26.0), (FACILITY, "return", 36.0),
    ):  # fmt: skip
        world.values[COOLANT_TEMPERATURE, (loop, "", point)] = np.full(len(world.at), celsius)
    world.values[FLOW, (FACILITY, "", "supply")] = np.full(len(world.at), 60.0)
    colder = {"supply": 22.0, "return": 32.0}
    for point, celsius in colder.items():
        labels = (FACILITY, "", point)
        world.values[COOLANT_TEMPERATURE, labels][world.after >= 0] = celsius


SICK = Recipe(fouled, lasts=6 * 3600.0, least_period=1800.0)
