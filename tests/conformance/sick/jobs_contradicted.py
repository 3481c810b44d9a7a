"""Two jobs are said to have one accelerator at once."""

from fabrichealth.events import Event
from tests.conformance.recipe import Recipe
from tests.conformance.world import World


def doubled(world: World) -> None:
    world.events = [
        Event(at, "job_start", {"job": job}, more={"accelerators": ["host-0-0"]})
        for at, job in ((world.at[0] - 60.0, "r1-first"), (world.onset, "r1-second"))
    ]


SICK = Recipe(doubled, lasts=600.0)
