"""What tools printed about a host -> columns.

A reply that does not name its interface belongs to `--set port=`, to the interface that others name
(first those whose files have the same name up to the dot), to its file's name where several of a
kind lie side by side, and else to port `1`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from collectors.host import ports
from collectors.host.counters import FASTEST
from collectors.host.ports import HostPort, Naming
from collectors.host.replies import Failure, Reply, Said
from collectors.host.statistics import StatisticsLayout
from collectors.maps import interface, link_layer, modules, roce
from collectors.maps.columns import Columns, Reading
from collectors.protocols.ethtool_json import Groups
from collectors.protocols.ethtool_netlink import Fec, LinkModes, Pause
from collectors.protocols.ethtool_text import DriverInfo, Settings, Statistics
from collectors.protocols.module import Module
from collectors.protocols.rdma_statistic import PortStatistics
from collectors.protocols.sysfs import PCI
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.catalogue.ports import PORT_INFO, UP
from fabrichealth.counters import Repair
from fabrichealth.model import Reason, SeriesTable

METRICS = (*interface.GROUPS.values(), *modules.METRICS, UP, DEVICE_INFO, PORT_INFO)

INTERFACE = re.compile(r"(?:eth|en|ib|swp|bond|Ethernet)[A-Za-z0-9]*\d[A-Za-z0-9]*")
"""How interfaces of hosts and switches are called, where a file is named for one."""

TRUST = (Statistics, Groups, PortStatistics, Fec, Pause, Settings, Module, DriverInfo)
"""Better witnesses of one thing first."""


@dataclass(slots=True)
class HostCaptures:
    """Turns replies into columns; outlives polls, since the repair of wraps does."""

    table: SeriesTable
    naming: Naming
    port: str = ""
    """The port that nameless replies are about, where that is given."""
    driver: str = ""
    repair: Repair = field(default_factory=Repair)

    def take(
        self,
        replies: list[Reply],
        failures: Iterable[Failure],
        at: float,
        columns: Columns,
    ) -> None:
        """Take what replies say, and count what failed."""
        named = [(self._interface(reply, replies), reply.said) for reply in replies]
        drivers = {name: said for name, said in named if isinstance(said, DriverInfo)}
        for kind in TRUST:
            for name, said in named:
                if isinstance(said, kind):
                    self._one(said, name, drivers, at, columns)
        self._info(named, drivers, columns)
        default = self.port or (named[0][0] if named else "1")
        for failure in failures:
            if failure.malformed:
                reason = Reason.MALFORMED
            else:
                reason = Reason.UNSUPPORTED if failure.unsupported else Reason.FAILED
            told = self.port or _interface_of(failure.file) or default
            labels = {"device": self.naming.subject, "port": told}
            columns.refuse(reason, failure.file, labels, failure.text)

    def _interface(self, reply: Reply, replies: list[Reply]) -> str:
        if isinstance(reply.said, PortStatistics):
            return f"{reply.said.device}/{reply.said.port}"
        if reply.interface or self.port:
            return reply.interface or self.port
        stem = reply.file.partition(".")[0]
        for others in ([one for one in replies if one.file.partition(".")[0] == stem], replies):
            said = {other.interface for other in others if other.interface}
            if len(said) == 1:
                return said.pop()
        nameless = Counter(type(other.said) for other in replies if not other.interface)
        alone = nameless[type(reply.said)] == 1
        return "1" if alone else stem

    def _one(
        self,
        said: Said,
        name: str,
        drivers: Mapping[str, DriverInfo],
        at: float,
        columns: Columns,
    ) -> None:
        port = self._port(name, drivers.get(name))
        if isinstance(said, Statistics):
            self._statistics(said, port, columns)
        elif isinstance(said, PortStatistics):
            self._rdma(said, port, at, columns)
        else:
            columns.take_all(port.device, port.port, _readings(said))

    def _port(self, name: str, driver: DriverInfo | None) -> HostPort:
        pci = driver.bus if driver and PCI.fullmatch(driver.bus) else ""
        uid = f"{pci}/0" if pci else ""
        device = self.naming.owner((pci,))
        label = self.naming.port(device, uid, name)
        kind = driver.driver if driver else self.driver
        return HostPort(device, label, name, "", interface=name, uid=uid, driver=kind)

    def _statistics(self, said: Statistics, port: HostPort, columns: Columns) -> None:
        names = tuple(said.values)
        driver = self.driver or port.driver
        layout = StatisticsLayout(self.table, port.device, port.port, names, driver)
        columns.put_all(layout.series, layout.values(np.array(list(said.values.values()), "u8")))
        for name in said.twice:
            columns.refuse(Reason.DUPLICATE, name, port.labels, "given twice, with two values")
        for line in said.malformed:
            columns.refuse(Reason.MALFORMED, "statistics", port.labels, line)

    def _rdma(self, said: PortStatistics, port: HostPort, at: float, columns: Columns) -> None:
        for name, metric in roce.chosen(said.counters).items():
            series = self.table.intern(metric, (port.device, port.port))
            value = said.counters[name]
            wraps = roce.wraps_at_bits(name, said.counters)
            if wraps:
                most = FASTEST / 8 / roce.SMALLEST_PACKET_BYTES
                value = self.repair.monotone(series, value, at, bits=wraps, most_per_second=most)
            columns.put(series, float(value))

    def _info(
        self, named: list[tuple[str, Said]], drivers: Mapping[str, DriverInfo], columns: Columns
    ) -> None:
        """Take what the replies say of identity: PCI address, driver, firmware, FEC."""
        modes = {name: said.modes for name, said in named if isinstance(said, Settings)}
        fecs = {name: said.mode for name, said in named if isinstance(said, Fec)}
        for name in {*drivers, *fecs}:
            port = self._port(name, drivers.get(name))
            speed = modes.get(name, LinkModes())
            fec = link_layer.fec_name(fecs.get(name), speed.speed, speed.lanes)
            columns.take(PORT_INFO, ports.info(port, fec), 1.0)
        cards: dict[str, list[DriverInfo]] = {}
        for name, driver in drivers.items():
            cards.setdefault(self._port(name, driver).device, []).append(driver)
        for device, its in cards.items():
            firmware = ports.joined(card.firmware for card in its)
            names = ports.joined(card.driver for card in its)
            columns.take(DEVICE_INFO, (device, "", firmware, names, ""), 1.0)


def _interface_of(file: str) -> str:
    """Return the interface that the file of a failed tool is named for; empty where for none.

    `ethtool-m-eth4`, `eth4.txt`: the last word that has letters and ends in a number.
    """
    words = re.split(r"[-_. ]", file.partition(".stderr")[0])
    return next((word for word in reversed(words) if INTERFACE.fullmatch(word)), "")


def _readings(said: Said) -> Iterator[Reading]:
    if isinstance(said, Groups):
        for key, value in said.values.items():
            if key in interface.GROUPS:
                yield interface.GROUPS[key], (), float(value)
    elif isinstance(said, Fec):
        yield from link_layer.repairs(said)
    elif isinstance(said, Pause):
        yield from link_layer.pauses(said)
    elif isinstance(said, Settings):
        if said.up is not None:
            yield UP, (), float(said.up)
        yield from link_layer.speeds(said.modes)
    elif isinstance(said, Module):
        yield from modules.readings(said)
