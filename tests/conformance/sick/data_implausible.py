"""A port claims twice what its line can carry."""

from fabrichealth.catalogue.ports import RX_BYTES
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def boasts(world: World) -> None:
    labels = ("host-0", "eth0")
    level = float(world.values[RX_BYTES, labels][world.after < 0][-1])
    world.change(RX_BYTES, labels, lambda after: level + (after + world.period) * 100e9)


SICK = Recipe(boasts)
