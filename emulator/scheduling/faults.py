"""What befalls the jobs of a domain: small ones that leave a little on every host."""

from dataclasses import dataclass
from typing import Any

from emulator.fabric import Fabric
from emulator.faults import Fault
from emulator.scheduling.workload import FIRST, Workload


@dataclass(frozen=True)
class Scattered(Fault):
    """The job that had everything ends, and a small one on each host leaves a few free.

    One that wants as many as a host has waits from then on, until the first of them is done.
    """

    leaves: int = 3
    """Accelerators that are free on each host."""
    waits: str = "evaluation"

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Give the hosts to small jobs."""
        load = _of(fabric)
        load.end(FIRST)
        for number, (host, many) in enumerate(load.hosts.items()):
            load.place(f"tuning-{number}", fabric.now, **{host: tuple(range(many - self.leaves))})
        load.queue(self.waits, max(load.hosts.values()), fabric.now)
        return []

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """The first job is done, and the one that waited has its host."""
        load = _of(fabric)
        first, many = next(iter(load.hosts.items()))
        for name in ("tuning-0", self.waits):
            load.end(name)
        load.place(self.waits, fabric.now, **{first: tuple(range(many))})
        return []


def _of(fabric: Fabric) -> Workload:
    if fabric.workload is None:
        raise ValueError("a plan without jobs has none to scatter; set jobs")
    return fabric.workload
