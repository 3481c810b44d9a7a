"""What the running kernel tells of interfaces beyond sysfs: driver statistics, FEC, pause, PFC.

Whatever a driver cannot tell is asked for again only after a rest. The driver's own statistics
count the physical port, sysfs what passed through the kernel (without RDMA, for one): where an
interface has both, a poll in which the driver does not answer has a gap, and never the other's
smaller number.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from errno import EACCES, EINVAL, ENODEV, ENOSYS, EOPNOTSUPP, EPERM
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from collectors.host.ports import HostPort
from collectors.host.statistics import StatisticsLayout
from collectors.maps import driver_statistics, link_layer
from collectors.maps.columns import Columns
from collectors.protocols import netlink
from collectors.protocols.dcb_netlink import Pfc
from collectors.protocols.ethtool_ioctl import Driver
from collectors.protocols.ethtool_netlink import Fec, LinkModes, LinkState, Pause
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Reason, SeriesTable

Answer = TypeVar("Answer")

LASTING = {EOPNOTSUPP, EPERM, EACCES, EINVAL, ENODEV, ENOSYS}
"""Errors that asking again soon does not mend."""

NAMES_LAST = 60.0
"""Seconds after which names are read again, since as many others may have taken their places."""

METRICS = (*driver_statistics.METRICS, *link_layer.METRICS)


class Interfaces(Protocol):
    """All this needs of the kernel; refusals are `OSError` with their errno."""

    def driver(self, interface: str) -> Driver:
        """Return who drives it."""
        ...

    def statistics_count(self, interface: str) -> int:
        """Return how many statistics its driver has now."""
        ...

    def statistics_names(self, interface: str, count: int) -> tuple[str, ...]:
        """Return their names."""
        ...

    def statistics(self, interface: str, count: int) -> NDArray[np.uint64]:
        """Return their values, [n] in the order of the names."""
        ...

    def link_modes(self, interface: str) -> LinkModes:
        """Return speed and lanes."""
        ...

    def link_state(self, interface: str) -> LinkState:
        """Return whether there is a link."""
        ...

    def pause(self, interface: str) -> Pause:
        """Return pause frames of the whole link."""
        ...

    def fec(self, interface: str) -> Fec:
        """Return what FEC did."""
        ...

    def pfc(self, interface: str) -> Pfc | None:
        """Return PFC frames by priority."""
        ...


@dataclass(slots=True)
class HostLinks:
    """Asks the kernel about interfaces; remembers what each has not."""

    kernel: Interfaces
    table: SeriesTable
    retry: float
    """Seconds for which a question that a driver cannot answer is not asked again."""
    fec: dict[str, str] = field(default_factory=dict)
    """FEC by interface, as the topology names it, where known."""
    _modes: dict[str, LinkModes] = field(default_factory=dict)
    _named: dict[HostPort, float] = field(default_factory=dict)
    """When the names of an interface's statistics are asked for again."""
    _layouts: dict[HostPort, StatisticsLayout] = field(default_factory=dict)
    _rest: dict[tuple[str, str], float] = field(default_factory=dict)

    def read(self, port: HostPort, speed: float | None, at: float, columns: Columns) -> None:
        """Read everything about one interface; `speed` in bit/s where it is known."""
        device, label, name = port.device, port.port, port.interface
        self._statistics(port, at, columns)
        modes = self._asked(port, "link modes", self.kernel.link_modes, at, columns)
        if modes is not None:
            self._modes[name] = modes
            if modes.lanes is None:
                self._let_rest(name, "link modes", at)
            columns.take_all(device, label, link_layer.speeds(modes))
        state = self._asked(port, "link state", self.kernel.link_state, at, columns)
        if state is not None:
            if state.downs is None:
                self._let_rest(name, "link state", at)
            else:
                columns.take_all(device, label, link_layer.downs(state))
        pause = self._asked(port, "pause", self.kernel.pause, at, columns)
        if pause is not None:
            if pause.received is None and pause.sent is None:
                self._let_rest(name, "pause", at)
            columns.take_all(device, label, link_layer.pauses(pause))
        fec = self._asked(port, "fec", self.kernel.fec, at, columns)
        if fec is not None:
            if fec == Fec():
                self._let_rest(name, "fec", at)
            lanes = self._modes.get(name, LinkModes()).lanes
            self.fec[name] = link_layer.fec_name(fec.mode, speed, lanes)
            columns.take_all(device, label, link_layer.repairs(fec))
        pfc = self._asked(port, "pfc", self.kernel.pfc, at, columns)
        if pfc is not None:
            columns.take_all(device, label, link_layer.priorities(pfc))

    def _statistics(self, port: HostPort, at: float, columns: Columns) -> None:
        count = self._asked(port, "statistics", self.kernel.statistics_count, at, columns)
        if count == 0:
            self._let_rest(port.interface, "statistics", at)
            return
        layout = self._layouts.get(port)
        stale = layout is None or layout.size != count or self._named.get(port, 0.0) <= at
        if count is not None and stale:
            self._named[port] = at + NAMES_LAST
            names = self._asked(
                port,
                "statistics",
                lambda name: self.kernel.statistics_names(name, count),
                at,
                columns,
            )
            if names is not None and len(names) == count:
                driver = port.driver or self._driver(port.interface)
                layout = StatisticsLayout(self.table, port.device, port.port, names, driver)
                self._layouts[port] = layout
        if layout is None:
            return
        size = layout.size
        values = None
        if count is not None:
            values = self._asked(
                port, "statistics", lambda name: self.kernel.statistics(name, size), at, columns
            )
        if values is not None and len(values) == size:
            columns.put_all(layout.series, layout.values(values))
        else:  # it failed, or rings were added meanwhile: a gap, and the next poll knows more
            columns.withhold(layout.series)
            columns.missing.append(f"{port.name} statistics")

    def _driver(self, interface: str) -> str:
        try:
            return self.kernel.driver(interface).name
        except (OSError, MalformedReply):
            return ""

    def _asked(
        self,
        port: HostPort,
        what: str,
        ask: Callable[[str], Answer],
        at: float,
        columns: Columns,
    ) -> Answer | None:
        """Return the answer; None, said once, where there is none."""
        if self._rest.get((port.interface, what), 0.0) > at:
            return None
        try:
            return ask(port.interface)
        except OSError as wrong:
            number = wrong.errno or 0
            reason = Reason.UNSUPPORTED if number == EOPNOTSUPP else Reason.FAILED
            name = netlink.error_name(number) if number else str(wrong)
            columns.refuse(reason, what, port.labels, name)
            if number in LASTING:
                self._let_rest(port.interface, what, at)
        except MalformedReply as wrong:
            columns.refuse(Reason.MALFORMED, what, port.labels, str(wrong))
        return None

    def _let_rest(self, interface: str, what: str, at: float) -> None:
        self._rest[interface, what] = at + self.retry
