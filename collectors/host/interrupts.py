"""Where a port's interrupts are served: a card whose interrupts run on the other NUMA node is slow.

The share is of what was served since the last look (of all since boot at the first). The file is
large on large hosts, so it is read seldom. A device without a node (-1), or a host of one node, has
no share; nor has a card that was hardly interrupted: an idle one, or one that is polled, serves its
few commands wherever its first interrupt was put.
"""

from dataclasses import dataclass, field

import numpy as np

from collectors.host.ports import HostPort
from collectors.maps.columns import Columns
from collectors.protocols import proc_interrupts, sysfs
from collectors.transports.tree import Tree
from fabrichealth.catalogue.devices import IRQ_REMOTE
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Floats, Reason

METRICS = (IRQ_REMOTE,)

LEAST = 10.0
"""Interrupts a second of which a share is told; a port that carries something has thousands."""

NODES = "sys/devices/system/node"


@dataclass(slots=True)
class HostInterrupts:
    """Reads the interrupts of a host's cards, each period."""

    period: float
    """Seconds; 0 never."""
    _next: float = float("-inf")
    _looked: float | None = None
    _before: dict[int, Floats] = field(default_factory=dict)

    def again(self) -> None:
        """Forget when the next look is due: the next capture."""
        self._next = float("-inf")

    def read(self, tree: Tree, ports: list[HostPort], at: float, columns: Columns) -> None:
        """Read the share of each card, if it is time; of a tree whose root is `/`."""
        if not self.period or at < self._next:
            return
        self._next = at + self.period
        nodes = [name for name in tree.names(NODES) if _is_node(name)]
        cards = [port for port in ports if port.interface or port.technology == "ib"]
        wanted = {port: _interrupts(tree, port) for port in cards}
        if len(nodes) < 2 or not any(wanted.values()):
            return
        try:
            raw = tree.read("proc/interrupts")
            order = proc_interrupts.cpus(raw)
            counts = proc_interrupts.served(raw, set().union(*wanted.values()))
        except (OSError, MalformedReply) as wrong:
            columns.refuse(Reason.FAILED, f"{IRQ_REMOTE}", {}, str(wrong))
            return
        least = 1.0 if self._looked is None else LEAST * (at - self._looked)
        for port, numbers in wanted.items():
            local = _local(tree, port)
            if (
                local is not None
                and (share := self._remote(numbers, counts, order, local, least)) is not None
            ):
                columns.take(IRQ_REMOTE, (port.device, port.port), share)
        self._before, self._looked = counts, at

    def _remote(
        self,
        numbers: set[int],
        counts: dict[int, Floats],
        order: list[int],
        local: set[int],
        least: float,
    ) -> float | None:
        """Return the share served on other nodes; None where fewer than the least were."""
        here = np.array([cpu in local for cpu in order])
        total = np.zeros(len(order))
        for number in numbers & counts.keys():
            before = self._before.get(number)
            now = counts[number]
            fresh = before is None or len(before) != len(now) or bool((now < before).any())
            total += now if before is None or fresh else now - before
        served = float(total.sum())
        return float(total[~here].sum()) / served if served >= least else None


def _is_node(name: str) -> bool:
    return name.startswith("node") and name[4:].isdigit()


def _interrupts(tree: Tree, port: HostPort) -> set[int]:
    """Return the numbers of the message interrupts of a port's card."""
    folder = port.path.partition("/ports/")[0]
    return {int(name) for name in tree.names(f"{folder}/device/msi_irqs") if name.isdigit()}


def _local(tree: Tree, port: HostPort) -> set[int] | None:
    """Return the CPUs of the node that a port's card sits on; None where it has none."""
    folder = port.path.partition("/ports/")[0]
    try:
        node = sysfs.count(tree.read(f"{folder}/device/numa_node"))
        if node is None:
            return None
        raw = tree.read(f"{NODES}/node{node}/cpulist")
        return proc_interrupts.cpu_list(raw)
    except (OSError, MalformedReply):
        return None
