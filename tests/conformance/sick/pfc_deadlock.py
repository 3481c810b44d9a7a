"""Two leaves and two hosts that forward: four queues wait for each other, and nothing moves."""

from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE, QUEUE_TX_BYTES
from fabrichealth.topology import Topology
from tests.conformance.recipe import Recipe
from tests.conformance.world import World

RING = (
    (("leaf-0", "0"), ("host-0", "eth0")),
    (("host-0", "eth1"), ("leaf-1", "0")),
    (("leaf-1", "1"), ("host-1", "eth1")),
    (("host-1", "eth0"), ("leaf-0", "1")),
)


def deadlock(world: World) -> None:
    forwards = ("host-0", "host-1")
    world.topology = Topology(
        [
            device.model_copy(update={"role": "switch"}) if device.name in forwards else device
            for device in world.topology.devices.values()
        ],
        world.topology.links.values(),
        world.topology.domains.values(),
        world.topology.racks.values(),
    )
    for stopped, stopping in RING:
        world.change(PFC_RX_PAUSE, (*stopped, "3"), lambda after: after * 1.0)
        world.change(PFC_TX_PAUSE, (*stopping, "3"), lambda after: after * 1.0)
        world.change(QUEUE_TX_BYTES, (*stopped, "3"), lambda after: after * 0.0)


SICK = Recipe(deadlock, lasts=45.0)
