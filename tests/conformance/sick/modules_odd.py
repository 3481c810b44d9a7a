"""One receiver hears more light than any of its sort, within every limit, of an even sender."""

from fabrichealth.catalogue.optics import RX_POWER
from tests.conformance.recipe import Recipe
from tests.conformance.sick.parts_bad_batch import more_hosts
from tests.conformance.world import World


def bright(world: World) -> None:
    more_hosts(world)
    for lane in "1234":
        world.change(RX_POWER, ("host-0", "eth0", lane), lambda after: after * 0.0 + 2.5)


SICK = Recipe(bright, lasts=480.0, least_period=60.0)
