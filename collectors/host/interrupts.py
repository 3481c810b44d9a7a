"""Where a port's interrupts are served: a card whose interrupts run on the other NUMA node is slow.

The share is of what was served since the last look (of all since boot at the first). The file is
large on large hosts, so it is read seldom. A device without a node (-1), or a host of one node, has
no share; nor has a card that was hardly interrupted: an idle one, or one that is polled, serves its
few commands wherever its first interrupt was put.

Sockets that are split into several nodes (NPS, sub-NUMA clusters) make most interrupts of a card
with many queues remote, and none the slower for it. What lies behind another socket is a share of
its own, where the host tells how far its nodes are from one another.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from collectors.host.ports import HostPort
from collectors.maps.columns import Columns
from collectors.protocols import proc_interrupts, sysfs
from collectors.transports.tree import Tree
from fabrichealth.catalogue.devices import IRQ_FAR, IRQ_REMOTE
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Floats, Reason

METRICS = (IRQ_REMOTE, IRQ_FAR)

LEAST = 10.0
"""Interrupts a second of which a share is told; a port that carries something has thousands."""

NODES = "sys/devices/system/node"

FAR = 20
"""Distance from which on a node lies behind another socket: what ACPI takes for a remote one
(SLIT, 6.2.17: 10 is the node itself); nodes of one socket tell 11 to 16."""


@dataclass(slots=True)
class HostInterrupts:
    """Reads the interrupts of a host's cards, each period."""

    period: float
    """Seconds; 0 never."""
    _next: float = float("-inf")
    _looked: float | None = None
    _before: dict[int, Floats] = field(default_factory=dict)
    _order: list[int] = field(default_factory=list)
    """The CPUs of the last look, in the order of its columns."""

    def again(self) -> None:
        """Forget when the next look is due: the next capture."""
        self._next = float("-inf")

    def read(self, tree: Tree, ports: list[HostPort], at: float, columns: Columns) -> None:
        """Read the share of each card, if it is time; of a tree whose root is `/`."""
        if not self.period or at < self._next:
            return
        self._next = at + self.period
        nodes = _nodes(tree)
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
            node = _node(tree, port)
            if node is None or not nodes.get(node):  # a node of memory alone serves nothing
                continue
            served = self._served(numbers, counts, order)
            if served.sum() < least:
                continue
            labels = port.device, port.port
            columns.take(IRQ_REMOTE, labels, _outside(served, order, nodes[node]))
            near = _near(tree, node, nodes)
            if near:
                columns.take(IRQ_FAR, labels, _outside(served, order, near))
        self._before, self._order, self._looked = counts, order, at

    def _served(self, numbers: set[int], counts: dict[int, Floats], order: list[int]) -> Floats:
        """Return how many each CPU served since the last look, as `order` has them.

        A CPU that was not there then has served nothing that is known of.
        """
        place = {cpu: column for column, cpu in enumerate(self._order)}
        then = np.array([place.get(cpu, -1) for cpu in order])
        total = np.zeros(len(order))
        for number in numbers & counts.keys():
            now, before = counts[number], self._before.get(number)
            if before is None:
                total += now
                continue
            grown = np.where(then >= 0, now - before[then], 0.0)
            total += now if bool((grown < 0).any()) else grown
        return total


def _outside(served: Floats, order: list[int], local: Collection[int]) -> float:
    """Return the share of what was served on other CPUs than these."""
    here = np.array([cpu in local for cpu in order])
    return float(served[~here].sum()) / float(served.sum())


def _nodes(tree: Tree) -> dict[int, set[int]]:
    """Return the CPUs of each NUMA node, by its number; none where they cannot be read."""
    found = {}
    for name in tree.names(NODES):
        if name.startswith("node") and name[4:].isdigit():
            try:
                found[int(name[4:])] = proc_interrupts.cpu_list(
                    tree.read(f"{NODES}/{name}/cpulist")
                )
            except (OSError, MalformedReply):
                found[int(name[4:])] = set()
    return found


def _near(tree: Tree, node: int, nodes: dict[int, set[int]]) -> set[int]:
    """Return the CPUs of a node and of those of its socket; none where no distances are told."""
    try:
        told = tree.read(f"{NODES}/node{node}/distance").split()
    except OSError:
        return set()
    if len(told) != len(nodes) or not all(word.isdigit() and len(word) < 9 for word in told):
        return set()
    every = zip(sorted(nodes), told, strict=True)  # as the kernel lists them: by number
    return set().union(*(nodes[one] for one, word in every if int(word) < FAR))


def _interrupts(tree: Tree, port: HostPort) -> set[int]:
    """Return the numbers of the message interrupts of a port's card."""
    folder = port.path.partition("/ports/")[0]
    return {int(name) for name in tree.names(f"{folder}/device/msi_irqs") if name.isdigit()}


def _node(tree: Tree, port: HostPort) -> int | None:
    """Return the node that a port's card sits on; None where it has none."""
    folder = port.path.partition("/ports/")[0]
    try:
        return sysfs.count(tree.read(f"{folder}/device/numa_node"))
    except (OSError, MalformedReply):
        return None
