"""The interrupts of both ports of a host move to the other socket."""

import numpy as np

from fabrichealth.catalogue.devices import IRQ_FAR, IRQ_REMOTE
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def misplaced(world: World) -> None:
    for port in ("eth0", "eth1"):
        for metric in (IRQ_REMOTE, IRQ_FAR):
            world.change(metric, ("host-0", port), lambda after: np.full_like(after, 0.8))


SICK = Recipe(misplaced, lasts=1900.0)
