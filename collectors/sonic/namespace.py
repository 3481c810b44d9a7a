"""One namespace of a SONiC switch (most have one): the parts of a visit, each at its own pace."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from collectors.maps.columns import Columns
from collectors.maps.names import port_name
from collectors.sonic import buffers, counters, modules, ports
from collectors.sonic.asking import Part
from collectors.sonic.buffers import Buffers
from collectors.sonic.counters import Counters
from collectors.sonic.modules import Modules
from collectors.sonic.ports import Ports
from collectors.source import Target
from fabrichealth.model import Neighbor, SeriesTable

OUTSIDE = re.compile(r"Ethernet\d")
"""Ports of the front; those of the backplane are Ethernet-BP, -IB, -Rec and PORT."""

METRICS = tuple(
    dict.fromkeys((*ports.METRICS, *counters.METRICS, *modules.METRICS, *buffers.METRICS))
)


@dataclass(frozen=True, slots=True)
class Paces:
    """Seconds between two readings of what changes slowly; 0 is at every visit."""

    modules: float
    neighbors: float
    configuration: float
    stale_after: float
    pause_worth: float


@dataclass(slots=True)
class Namespace:
    """What is known of one namespace between visits."""

    table: SeriesTable
    target: Target
    device: str
    paces: Paces
    name: str = ""
    """`asic0` and so on, where there are several."""
    _due: dict[str, float] = field(default_factory=dict)
    _ports: Ports = field(init=False)
    _counters: Counters = field(init=False)
    _modules: Modules = field(init=False)
    _buffers: Buffers = field(init=False)

    def __post_init__(self) -> None:
        self._ports = Ports(self.table, self.target, self.device, self._labelled)
        self._counters = Counters(self.table, self.device, self._labelled, self.paces.pause_worth)
        self._modules = Modules(self.table, self.device, self.paces.stale_after)
        self._buffers = Buffers(self.table, self.device)

    def parts(
        self, at: float, columns: Columns, neighbors: list[Neighbor], *, whole: bool = False
    ) -> Iterator[tuple[str, Part]]:
        """Yield the parts of a visit with the database of each; a part may fail alone.

        A whole visit leaves nothing to its own pace: a capture is read as far as it goes.
        """
        yield "COUNTERS_DB", self._counters.names()
        settled = whole or self._is_due("configuration", self.paces.configuration, at)
        if settled:
            yield "APPL_DB", self._ports.names()
        yield "APPL_DB", self._ports.state(self._counters.named, columns)
        if settled:
            yield "CONFIG_DB", self._buffers.read(columns)
        fec, lossless = self._ports.fec, self._buffers.lossless
        yield "COUNTERS_DB", self._counters.read(fec, lossless, columns)
        if whole or self._is_due("modules", self.paces.modules, at):
            yield "STATE_DB", self._modules.read(at, columns)
        if whole or self._is_due("neighbors", self.paces.neighbors, at):
            yield "APPL_DB", self._ports.neighbors(self._counters.named, neighbors)

    def _labelled(self, port: str) -> str:
        """Return a port's label: ports inside a switch have equal names in all its namespaces."""
        outside = not self.name or OUTSIDE.match(port)
        return port_name(port if outside else f"{self.name}/{port}")

    def _is_due(self, part: str, pace: float, at: float) -> bool:
        due = self._due.get(part)
        if due is not None and at < due - 1e-3 and due - at <= pace:  # else the clock was set back
            return False
        self._due[part] = at + pace
        return True
