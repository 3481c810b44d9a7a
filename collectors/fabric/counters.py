"""Counters of a fabric's ports -> columns: laid out once per set of names, read often.

A classic counter stops at its maximum, where it means "at least". The value is taken when it
arrives there and said to be a sensor's fault; while it stays there it is absent, as on a host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from collectors.maps import infiniband
from collectors.maps.columns import Columns
from collectors.maps.infiniband import Wait
from collectors.protocols.sysfs_infiniband import SATURATES
from fabrichealth.catalogue.ports import TRANSMIT_WAIT
from fabrichealth.model import Reason, SeriesTable

METRICS = (*infiniband.METRICS, *infiniband.DETAILS.values())


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    series: int
    worth: float
    stops_at: int
    ticks: bool = False


@dataclass(slots=True)
class FabricCounters:
    """The counters of every port seen; outlives polls."""

    table: SeriesTable
    wait_clock: float | None = None
    """Ticks per second of PortXmitWait, where the devices' own is known."""
    speeds: dict[tuple[str, str], float] = field(default_factory=dict)
    """Bit/s at which each port (device, port) last was up."""
    _rows: dict[tuple[str, str, tuple[str, ...]], tuple[_Row, ...]] = field(default_factory=dict)
    _stopped: set[int] = field(default_factory=set)
    _waits: dict[int, Wait] = field(default_factory=dict)

    def take(
        self,
        device: str,
        port: str,
        counters: Mapping[str, int],
        columns: Columns,
        *,
        wide: bool,
    ) -> None:
        """Take one port's counters by their PMA names; `wide` ones never stop."""
        key = (device, port, tuple(counters))
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = self._laid_out(device, port, key[2])
        for row in rows:
            value = counters[row.name]
            if value == row.stops_at and not wide:
                if row.series in self._stopped:
                    continue
                self._stopped.add(row.series)
                text = f"{value}, its maximum: at least so many; clear the counter"
                labels = {"device": device, "port": port}
                metric = str(self.table.metric(row.series))
                columns.refuse(Reason.SENSOR_FAULT, metric, labels, text)
            else:
                self._stopped.discard(row.series)
            if row.ticks:
                self._transmit_wait(row, value, (device, port), columns)
            else:
                columns.put(row.series, value * row.worth)

    def unsupported(self, device: str, port: str, names: tuple[str, ...], columns: Columns) -> None:
        """Refuse counters that the reply holds though the port has none."""
        for name in names:
            known = infiniband.COUNTERS.get(infiniband.PMA.get(name, ""))
            what = known[0] if known else TRANSMIT_WAIT if name == "PortXmitWait" else None
            if what is not None:
                labels = {"device": device, "port": port}
                text = "CapMask2 offers no such counter"
                columns.refuse(Reason.UNSUPPORTED, str(what), labels, text)

    def _laid_out(self, device: str, port: str, names: tuple[str, ...]) -> tuple[_Row, ...]:
        rows = []
        for name in names:
            kernel = infiniband.PMA.get(name, "")
            if kernel == infiniband.TRANSMIT_WAIT_COUNTER:
                series = self.table.intern(TRANSMIT_WAIT, (device, port))
                rows.append(_Row(name, series, 1.0, (1 << SATURATES[kernel]) - 1, ticks=True))
            elif kernel in infiniband.COUNTERS:
                metric, worth = infiniband.COUNTERS[kernel]
                stops = (1 << SATURATES[kernel]) - 1
                rows.append(_Row(name, self.table.intern(metric, (device, port)), worth, stops))
            elif name in infiniband.DETAILS:
                series = self.table.intern(infiniband.DETAILS[name], (device, port))
                rows.append(_Row(name, series, 1.0, (1 << 16) - 1))
        return tuple(rows)

    def _transmit_wait(
        self, row: _Row, ticks: int, port: tuple[str, str], columns: Columns
    ) -> None:
        speed = self.speeds.get(port)
        if self.wait_clock:
            tick = 1.0 / self.wait_clock
        elif speed:
            tick = infiniband.wait_tick(speed)
        else:
            labels = {"device": port[0], "port": port[1]}
            text = f"{ticks} ticks of a length unknown: no speed of the port; read iblinkinfo too"
            columns.refuse(Reason.UNSUPPORTED, str(TRANSMIT_WAIT), labels, text)
            return
        columns.put(row.series, self._waits.setdefault(row.series, Wait()).seconds(ticks, tick))
