"""Sixteen links of a larger pod err both ways; what they share is a lot of modules."""

import numpy as np

from fabrichealth.catalogue.ports import SYMBOL_ERRORS
from fabrichealth.metric import Subject
from fabrichealth.topology import Device, Link, Module, Topology
from tests.conformance.recipe import Recipe
from tests.conformance.world import World

MORE = range(6, 46)
BAD = "of-leaf-0"
"""The conformance suite wants to read where the trouble is."""


def bad_lot(world: World) -> None:
    more_hosts(world)
    for number in MORE[:32:2]:
        for end in ((f"host-{number}", "eth0"), ("leaf-0", str(number))):
            world.change(SYMBOL_ERRORS, end, lambda after: 1 + np.floor(after * 10))


def more_hosts(world: World) -> None:
    """Give the pod forty more hosts at leaf-0, which say what host-0 says."""
    topology = world.topology
    devices = [Device(name=f"host-{n}", role="host", rack=f"r{n // 8}") for n in MORE]
    links = []
    for n in MORE:
        lot = BAD if n in MORE[:32:2] else f"24{n % 5}"
        modules = {
            f"module_{end}": Module(vendor="Lumen", part="L400", lot=one)
            for end, one in (("a", lot), ("b", f"24{n % 7}"))
        }
        links.append(
            Link(a=f"host-{n}/eth0", b=f"leaf-0/{n}", technology="ib", speed_gbps=400, lanes=4,
                 medium="optical", fec="rs544", generation="ndr", **modules)
        )  # fmt: skip
    world.topology = Topology(
        [*topology.devices.values(), *devices], [*topology.links.values(), *links],
        topology.domains.values(), topology.racks.values(),
    )  # fmt: skip
    for (metric, labels), values in list(world.values.items()):
        if labels[:2] == ("host-0", "eth0") and metric.subject in {Subject.PORT, Subject.LANE}:
            for n in MORE:
                for end in ((f"host-{n}", "eth0"), ("leaf-0", str(n))):
                    world.values[metric, (*end, *labels[2:])] = values.copy()


SICK = Recipe(bad_lot)
