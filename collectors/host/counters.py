"""State and counters of a host's ports out of a tree: laid out once, read often.

A row is one file and one series. What a driver refuses to read is refused once and then rests for
a while: asking a restricted device again each second floods the kernel's log and learns nothing.

A classic InfiniBand counter stops at its maximum, where it means "at least". The value is taken
when it arrives there, so that the rise to it is not lost, and said to be a sensor's fault; while it
stays there it is absent, so that nobody computes a rate of 0 from it. Clearing it brings it back.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from errno import (
    EAGAIN,
    EBUSY,
    EINTR,
    EINVAL,
    ENODATA,
    ENODEV,
    ENOENT,
    ENOTDIR,
    ENXIO,
    EOPNOTSUPP,
    ETIMEDOUT,
)
from typing import TypeVar

from collectors.host import rows
from collectors.host.ports import HostPort
from collectors.host.rows import Row
from collectors.maps import infiniband, interface, roce
from collectors.maps.columns import Columns
from collectors.maps.infiniband import Wait
from collectors.protocols import netlink, sysfs, sysfs_infiniband, sysfs_net
from collectors.transports.tree import Tree
from fabrichealth.catalogue.ports import ADMIN_UP, LANES, SPEED, UP
from fabrichealth.counters import Repair
from fabrichealth.errors import MalformedReply
from fabrichealth.metric import Metric
from fabrichealth.model import Reason, SeriesTable

GONE = {ENOENT, ENODEV, ENXIO, ENOTDIR}
DETACHED = {ENODEV, ENXIO}
"""Errors of a device that was taken away while its files were open."""
NEVER = {EINVAL, EOPNOTSUPP, ENODATA}
PASSING = {EAGAIN, EBUSY, EINTR, ETIMEDOUT}
"""Errors that the next poll may be free of; after any other a file rests."""

METRICS = (
    UP,
    ADMIN_UP,
    SPEED,
    LANES,
    *infiniband.METRICS,
    *roce.METRICS,
    *interface.METRICS,
)

OF_STATE = {UP, ADMIN_UP, SPEED, LANES}

FASTEST = 1.6e12
"""Bit/s of a port whose rate is not known, for what a counter can have gained since."""


Value = TypeVar("Value")


@dataclass(slots=True)
class HostCounters:
    """Reads the ports of one tree; outlives layouts, since repair and rest do."""

    tree: Tree
    table: SeriesTable
    retry: float
    """Seconds for which a file that a driver refuses is left alone."""
    wait_clock: float | None = None
    """Ticks per second of port_xmit_wait, where the device's own is known."""
    repair: Repair = field(default_factory=Repair)
    changed: bool = False
    """A file that was laid out is gone: lay out anew."""
    _ports: list[HostPort] = field(default_factory=list)
    _rows: list[Row] = field(default_factory=list)
    _rest: dict[str, float] = field(default_factory=dict)
    _silent: set[str] = field(default_factory=set)
    _absent: set[str] = field(default_factory=set)
    """State files that are not there; looked for again at the next layout."""
    _stopped: set[int] = field(default_factory=set)
    _waits: dict[int, Wait] = field(default_factory=dict)
    _speeds: dict[HostPort, float] = field(default_factory=dict)

    def lay_out(self, ports: Iterable[HostPort], at: float, columns: Columns) -> None:
        """Find the counters of these ports, and refuse those that cannot be read."""
        self._ports = list(ports)
        self._rows = []
        self._silent.clear()
        self._absent.clear()
        self.changed = False
        for port in self._ports:
            taken: set[Metric] = set()
            for row in rows.candidates(self.tree, port):
                if row.metric in taken or self._number(row, at, columns) is None:
                    continue  # a better witness is there, or this one is silent
                taken.add(row.metric)
                row.series = self.table.intern(row.metric, (port.device, port.port))
                self._rows.append(row)

    def read(self, at: float, columns: Columns) -> None:
        """Read state, then counters, of every port laid out."""
        for port in self._ports:
            if port.rdma:
                self._rdma_state(port, at, columns)
            else:
                self._interface_state(port, at, columns)
        for row in self._rows:
            value = self._number(row, at, columns)
            if value is None:
                continue
            if value == row.stops_at:
                if row.series in self._stopped:
                    continue
                self._stopped.add(row.series)
                text = f"{value}, its maximum: at least so many; clear the counter"
                columns.refuse(Reason.SENSOR_FAULT, str(row.metric), row.port.labels, text)
            else:
                self._stopped.discard(row.series)
            if row.wraps:
                speed = self._speeds.get(row.port, FASTEST)
                most = speed / 8 / roce.SMALLEST_PACKET_BYTES
                value = self.repair.monotone(
                    row.series, value, at, bits=row.wraps, most_per_second=most
                )
            if row.ticks:
                self._transmit_wait(row, value, columns)
            else:
                columns.put(row.series, value * row.worth)

    def speed(self, port: HostPort) -> float | None:
        """Return the rate at which a port last was up, bit/s."""
        return self._speeds.get(port)

    def _rdma_state(self, port: HostPort, at: float, columns: Columns) -> None:
        state = self._parsed(port, "state", UP, sysfs_infiniband.state, at, columns)
        physical = self._parsed(port, "phys_state", ADMIN_UP, sysfs_infiniband.state, at, columns)
        labels = (port.device, port.port)
        if state is not None:
            columns.take(UP, labels, float(state == sysfs_infiniband.ACTIVE))
        if physical is not None:
            enabled = physical != sysfs_infiniband.PHYSICALLY_DISABLED
            columns.take(ADMIN_UP, labels, float(enabled))
        linked = physical in {None, sysfs_infiniband.PHYSICALLY_UP}
        if linked and state is not None and state > sysfs_infiniband.DOWN:
            # A port that is down shows the slowest rate there is, which nothing runs at.
            rate = self._parsed(port, "rate", SPEED, sysfs_infiniband.rate, at, columns)
            if rate is not None:
                self._speeds[port] = rate.bits_per_second
                columns.take(SPEED, labels, rate.bits_per_second)
                columns.take(LANES, labels, float(rate.lanes))

    def _interface_state(self, port: HostPort, at: float, columns: Columns) -> None:
        labels = (port.device, port.port)
        flags = self._parsed(port, "flags", ADMIN_UP, sysfs_net.flags, at, columns)
        if flags is not None:
            columns.take(ADMIN_UP, labels, float(flags & sysfs_net.ADMIN_UP))
        up = self._parsed(port, "operstate", UP, sysfs_net.up, at, columns, quiet=True)
        if up is None and flags is not None and flags & sysfs_net.ADMIN_UP:
            carrier = self._parsed(port, "carrier", UP, sysfs.count, at, columns)
            up = None if carrier is None else carrier > 0
        if up is None:
            return
        columns.take(UP, labels, float(up))
        if up:  # else the driver refuses, or tells of the last link
            speed = self._parsed(port, "speed", SPEED, sysfs_net.speed, at, columns)
            if speed is not None:
                self._speeds[port] = speed
                columns.take(SPEED, labels, speed)

    def _transmit_wait(self, row: Row, ticks: int, columns: Columns) -> None:
        speed = self._speeds.get(row.port)
        if self.wait_clock:
            tick = 1.0 / self.wait_clock
        elif speed:
            tick = infiniband.wait_tick(speed)
        else:
            return
        wait = self._waits.setdefault(row.series, Wait())
        columns.put(row.series, wait.seconds(ticks, tick))

    def _number(self, row: Row, at: float, columns: Columns) -> int | None:
        """Return what a counter file holds; None, said once, where it cannot be had."""
        if self._rest.get(row.path, 0.0) > at:
            return None
        try:
            raw = self.tree.read(row.path)
            value = sysfs.count(raw)
        except OSError as wrong:
            self._failed(row.path, row.port, row.metric, wrong, at, columns)
        except MalformedReply as wrong:
            columns.refuse(Reason.MALFORMED, str(row.metric), row.port.labels, str(wrong))
        else:
            if value is not None:
                return value
            self._rest[row.path] = at + self.retry
            said = sysfs.word(raw)
            columns.refuse(Reason.UNSUPPORTED, str(row.metric), row.port.labels, said)
        return None

    def _parsed(
        self,
        port: HostPort,
        name: str,
        metric: Metric,
        parse: Callable[[bytes], Value | None],
        at: float,
        columns: Columns,
        *,
        quiet: bool = False,
    ) -> Value | None:
        """Return what a state file says; None, said once, where it says nothing."""
        path = f"{port.path}/{name}"
        if path in self._absent or self._rest.get(path, 0.0) > at:
            return None
        try:
            value = parse(self.tree.read(path))
        except OSError as wrong:
            self._failed(path, port, metric, wrong, at, columns)
            return None
        except MalformedReply as wrong:
            columns.refuse(Reason.MALFORMED, str(metric), port.labels, str(wrong))
            return None
        if value is not None:
            self._silent.discard(path)
        elif path not in self._silent and not quiet:
            self._silent.add(path)
            columns.refuse(Reason.UNSUPPORTED, str(metric), port.labels, "unknown")
        return value

    def _failed(
        self,
        path: str,
        port: HostPort,
        metric: Metric,
        wrong: OSError,
        at: float,
        columns: Columns,
    ) -> None:
        """Count a file that could not be read, and let it rest; one that is gone is absent."""
        number = wrong.errno or 0
        if number in GONE:
            self._absent.add(path)
            self.changed |= number in DETACHED or metric not in OF_STATE
            return
        if number not in PASSING:
            self._rest[path] = at + self.retry
        reason = Reason.UNSUPPORTED if number in NEVER else Reason.FAILED
        columns.refuse(reason, str(metric), port.labels, netlink.error_name(number))
