"""A host's clock runs three minutes ahead; two cables of it fall and come back, again and again."""

import numpy as np

from fabrichealth.catalogue.ports import UP
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def ahead(world: World) -> None:
    for number, leaf in enumerate(("leaf-0", "leaf-1")):
        for port, late in ((("host-0", f"eth{number}"), 180.0), ((leaf, "0"), 0.0)):
            since = world.after - late
            gone = [(since >= began) & (since < began + 60) for began in (0, 500, 1300)]
            world.values[UP, port] = np.where(np.any(gone, axis=0), 0.0, 1.0)


SICK = Recipe(ahead, lasts=2000.0, most_period=60.0, passing=True)
