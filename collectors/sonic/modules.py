"""The optical modules of a SONiC switch: STATE_DB's TRANSCEIVER tables, read at their own pace.

The switch reads its modules once a minute, so asking more often tells nothing new. A row that has
stood still for long (its `last_update_time`, which is local text without a zone and says no more
than that) is refused as stale: a monitor that hangs must not look like a module that is well.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from collectors.maps import modules
from collectors.maps.columns import Columns
from collectors.protocols import sonic_transceiver, sonic_values
from collectors.protocols.module import Module
from collectors.protocols.sonic_transceiver import Cage
from collectors.protocols.sonic_values import Hash
from collectors.sonic import asking
from collectors.sonic.asking import Keys, Part, hashes, keys
from collectors.sonic.sheet import Cell, Context, Form, Hashes, Sheet
from fabrichealth.catalogue.optics import (
    ALARM,
    LASER_TEMPERATURE,
    LOS,
    PRE_FEC_BER,
    RX_POWER,
    SNR,
    THRESHOLD,
    TX_BIAS,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Reason, SeriesTable

METRICS = (*modules.METRICS, LASER_TEMPERATURE, PRE_FEC_BER, SNR)

MILLI = 1e-3
"""Bias is in mA; everything else is in the catalogue's unit already."""
INFO, FIRMWARE = sonic_transceiver.INFO, sonic_transceiver.FIRMWARE

Sensed = tuple[Metric, tuple[str, ...], Form]
"""What a field tells: its metric, labels after device and port, and how its text is read."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What a module said of itself, and what follows from it."""

    about: list[Hash]
    cage: Cage
    series: list[int]


@dataclass(slots=True)
class Modules:
    """Reads the modules of one namespace."""

    table: SeriesTable
    device: str
    stale_after: float
    _monitors: Sheet = field(init=False)
    _flags: Sheet = field(init=False)
    _known: dict[str, _Known] = field(default_factory=dict)
    _stood: dict[str, tuple[bytes, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._monitors, self._flags = Sheet(self.table), Sheet(self.table, flags=True)

    def read(self, at: float, columns: Columns) -> Part:
        """Read what every module says of itself."""
        found = keys((yield Keys("STATE_DB", "TRANSCEIVER_*")))
        named = [(key.partition("|")[0], key.partition("|")[2], key) for key in found]
        wanted = [row for row in named if row[0] in TABLES and row[1]]
        if not wanted:
            return
        asked = tuple(key for _, _, key in wanted)
        answer = hashes((yield asking.Hashes("STATE_DB", asked)))
        ports: dict[str, dict[str, Hash]] = {}
        for (table, port, _), raw in zip(wanted, answer, strict=True):
            if raw:
                ports.setdefault(port, {})[table] = raw
        for port, tables in ports.items():
            self._identify(port, tables, columns)
        moving = self._moving(ports, at, columns)
        self._monitors.take(self._rows(moving, MONITORS), _monitor_cells, columns)
        self._flags.take(self._rows(moving, FLAGS), _flag_cells, columns)

    def _identify(self, port: str, tables: Mapping[str, Hash], columns: Columns) -> None:
        """Take who made a module, and note what it has; anew only if it says something else."""
        about = [tables.get(INFO, []), tables.get(FIRMWARE, [])]
        known = self._known.get(port)
        if known is None or known.about != about:
            info, firmware = map(sonic_values.words, about)
            identity = Module(sonic_transceiver.identity(info, firmware))
            series = [
                self.table.intern(metric, (self.device, port, *labels))
                for metric, labels, _ in modules.readings(identity)
            ]
            known = self._known[port] = _Known(about, sonic_transceiver.cage(info), series)
        for one in known.series:
            columns.put(one, 1.0)

    def _moving(
        self, ports: Mapping[str, Mapping[str, Hash]], at: float, columns: Columns
    ) -> dict[str, dict[str, Hash]]:
        """Return the tables of each port without those that have stood still for too long."""
        found: dict[str, dict[str, Hash]] = {}
        for port, tables in ports.items():
            kept = found[port] = dict(tables)
            for table, raw in tables.items():
                stamp = _stamp(raw) if table in MOVING else b""
                if not stamp:
                    continue
                key = f"{table}|{port}"
                before = self._stood.get(key)
                if before is None or before[0] != stamp:
                    self._stood[key] = stamp, at
                elif at - before[1] > self.stale_after:
                    labels = {"device": self.device, "port": port}
                    columns.refuse(Reason.STALE, table, labels, stamp.decode("utf-8", "replace"))
                    del kept[table]
        return found

    def _rows(self, ports: Mapping[str, Mapping[str, Hash]], wanted: Iterable[str]) -> Hashes:
        """Yield the hashes of some tables; their layout depends on what the module has."""
        order = tuple(wanted)
        for port, tables in ports.items():
            cage = self._known[port].cage
            if not cage.sensors or _unpowered(tables.get(sonic_transceiver.DOM, [])):
                continue
            flagged = "flagged" if _has_los(tables) else ""
            limits = (str(cage.media_lanes), str(cage.host_lanes), flagged)
            for table in order:
                if table in tables:
                    yield f"{table}|{port}", tables[table], (self.device, port), (table, *limits)


def _monitor_cells(context: Context, names: Collection[str]) -> Iterator[Cell]:
    """Yield what a table of monitors or limits tells, for the lanes that the module has."""
    table, media, host, flagged = context
    cage = Cage(int(media), int(host))
    for name in names:
        for metric, labels, form in MONITORS[table](name, names):
            lane = labels[0] if labels and metric is not THRESHOLD else ""
            if lane and not cage.has(int(lane), "host" if "host" in labels else "media"):
                continue
            worth = MILLI if metric is TX_BIAS or labels[:1] == ("tx_bias",) else 1.0
            yield Cell(metric, labels, (name,), worth, form)
            if metric is RX_POWER and not flagged:  # no flag of its own: dark is lost signal
                yield Cell(LOS, (*labels, "media"), (name,), 1.0, Form.DARK)


def _flag_cells(context: Context, names: Collection[str]) -> Iterator[Cell]:
    """Yield what a table of flags tells, for the lanes that the module has."""
    table, media, host, _ = context
    cage = Cage(int(media), int(host))
    for name in names:
        for metric, labels in FLAGS[table](table, name):
            side = "host" if "host" in labels else "media"
            if not labels[0] or cage.has(int(labels[0]), side):
                yield Cell(metric, labels, (name,))


def _sensor(name: str, _: Collection[str]) -> Iterator[Sensed]:
    """Yield what a field of DOM_SENSOR measures."""
    found = sonic_transceiver.monitor(name)
    if found and found.quantity in modules.MODULE:
        yield modules.MODULE[found.quantity], (), Form.NUMBER
    elif found and found.quantity in modules.LANE:
        form = Form.LIGHT if found.quantity in modules.LIGHT else Form.NUMBER
        yield modules.LANE[found.quantity], (str(found.lane),), form
    elif found:
        yield LASER_TEMPERATURE, ("",), Form.NUMBER


def _limit(name: str, _: Collection[str]) -> Iterator[Sensed]:
    """Yield what a field of DOM_THRESHOLD limits."""
    found = sonic_transceiver.limit(name)
    if found:
        yield THRESHOLD, (found.quantity, found.bound, found.level), Form.NUMBER


def _diagnostic(name: str, names: Collection[str]) -> Iterator[Sensed]:
    """Yield what a field of VDM_REAL_VALUE measures; of error ratios the present one is best."""
    found = sonic_transceiver.diagnostic(name)
    if found is None:
        return
    lane = str(found.lane)
    if found.quantity == "laser_temperature":
        yield LASER_TEMPERATURE, (lane,), Form.NUMBER
    elif found.quantity == "snr":
        yield SNR, (lane, found.side), Form.NUMBER
    elif "_curr_" in name or name.replace("_avg_", "_curr_") not in names:
        yield PRE_FEC_BER, (lane, found.side), Form.NUMBER


def _performance(name: str, _: Collection[str]) -> Iterator[Sensed]:
    """Yield what a coherent module's performance monitor measures over its interval."""
    if name == "prefec_ber_avg":
        yield PRE_FEC_BER, ("", "media"), Form.NUMBER


def _alarm(_: str, name: str) -> Iterator[tuple[Metric, tuple[str, ...]]]:
    """Yield what a field of DOM_FLAG warns of."""
    found = sonic_transceiver.flag(name)
    if found:
        lane = str(found.lane) if found.lane else ""
        yield ALARM, (lane, found.quantity, found.bound, found.level)


def _signal(_: str, name: str) -> Iterator[tuple[Metric, tuple[str, ...]]]:
    """Yield the condition of a lane that a field of a status table tells."""
    found = sonic_transceiver.signal(name)
    if found and found[0] in modules.SIGNALS:
        metric, side = modules.SIGNALS[found[0]]
        yield metric, (str(found[1]), *side)


def _diagnostic_alarm(table: str, name: str) -> Iterator[tuple[Metric, tuple[str, ...]]]:
    """Yield what a field of a VDM flag table warns of; bound and level are the table's."""
    found = sonic_transceiver.diagnostic(name)
    if found and found.quantity in {"laser_temperature", "snr"} and found.side == "media":
        yield ALARM, (str(found.lane), found.quantity, *sonic_transceiver.VDM_FLAGS[table])


MONITORS = {  # of two that tell one thing the first is taken
    sonic_transceiver.FAST: _sensor,
    sonic_transceiver.DOM: _sensor,
    sonic_transceiver.LIMITS: _limit,
    sonic_transceiver.VDM: _diagnostic,
    sonic_transceiver.PM: _performance,
}
FLAGS = {
    sonic_transceiver.DOM_FLAGS: _alarm,
    sonic_transceiver.STATUS_FLAGS: _signal,
    sonic_transceiver.STATUS: _signal,
    **dict.fromkeys(sonic_transceiver.VDM_FLAGS, _diagnostic_alarm),
}
MOVING = {
    sonic_transceiver.FAST,
    sonic_transceiver.DOM,
    sonic_transceiver.VDM,
    sonic_transceiver.PM,
}
"""Tables that are written anew each minute; limits are written when a module is plugged."""
TABLES = {INFO, FIRMWARE, *MONITORS, *FLAGS}


def _unpowered(dom: Hash) -> bool:
    """Return whether a module says it is supplied with 0 V: placeholders, it could not say so."""
    said = dom[0::2]
    if b"voltage" not in said:
        return False
    place = 2 * said.index(b"voltage") + 1
    return place < len(dom) and not sonic_values.numbers([dom[place]])[0]


def _stamp(raw: Hash) -> bytes:
    said = raw[0::2]
    if sonic_transceiver.STAMP not in said:
        return b""
    place = 2 * said.index(sonic_transceiver.STAMP) + 1
    text = raw[place] if place < len(raw) else b""
    return b"" if text in sonic_values.ABSENT else text


def _has_los(tables: Mapping[str, Hash]) -> bool:
    """Return whether a module has a flag of its own for lost signal."""
    return any(
        name in {b"rx1los", b"rxlos1"}
        for table in (sonic_transceiver.STATUS_FLAGS, sonic_transceiver.STATUS)
        for name in tables.get(table, [])[0::2]
    )
