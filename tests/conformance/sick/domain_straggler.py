"""The clock of one accelerator falls, and the others of its job spin while they wait for it."""

import numpy as np

from fabrichealth.catalogue.accelerators import CLOCK, TENSOR_ACTIVE
from fabrichealth.events import Event
from tests.conformance.recipe import Recipe
from tests.conformance.world import HOSTS, START, World

CARDS = [f"host-{host}-{card}" for host in range(HOSTS) for card in range(2)]


def slow(world: World) -> None:
    world.change(CLOCK, ("host-0-0",), lambda after: np.full_like(after, 1.3e9))
    for card in CARDS[1:]:
        world.change(TENSOR_ACTIVE, (card,), lambda after: np.full_like(after, 0.4))


SICK = Recipe(
    slow,
    lasts=200.0,
    healthy={CLOCK: 1.8e9, TENSOR_ACTIVE: 0.5},
    events=[Event(START - 3600.0, "job_start", {"job": "j1"}, more={"accelerators": CARDS})],
)
