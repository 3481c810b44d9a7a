"""UFM's rows -> columns: the meaning of each column once a table, the series of each port once.

A row of a port already known costs one conversion a cell and one array; its labels stand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectors.fabric.counters import FabricCounters
from collectors.fabric.names import FabricNames
from collectors.maps import ufm as ufm_map
from collectors.maps.columns import Columns
from collectors.protocols import mlxlink, ufm
from collectors.protocols.ib_links import LANE
from collectors.protocols.ufm import Table
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.catalogue.infiniband import DESCRIPTION_INFO
from fabrichealth.catalogue.optics import OPTICS_INFO, RX_POWER
from fabrichealth.catalogue.ports import FEC_CODEWORDS, LANES, PORT_INFO, SPEED, UP
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Floats, Ids, Neighbor, Reason, SeriesTable

METRICS = (*ufm_map.METRICS, DESCRIPTION_INFO, OPTICS_INFO, LANES, PORT_INFO, SPEED, UP)

VIA = "ufm"

UP_WORDS = {"active": True, "4": True, "down": False, "1": False, "initialize": False,
            "init": False, "2": False, "armed": False, "3": False}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which columns of a table are what."""

    fields: tuple[tuple[int, ufm_map.Field], ...]
    worth: Floats
    bins: NDArray[np.bool_]
    """Which fields are bins of the FEC histogram."""
    words: Mapping[str, int]
    """Place of every column by name."""
    guid_at: int | None
    port_at: int | None


@dataclass(slots=True)
class UfmRows:
    """Takes the rows of one UFM; outlives polls."""

    table: SeriesTable
    names: FabricNames
    counters: FabricCounters
    neighbors: dict[Neighbor, None] = field(default_factory=dict)
    _taken: dict[tuple[tuple[str, ...], str, int], Sequence[Any]] = field(default_factory=dict)
    """Rows of this poll by names, GUID and port."""
    _plans: dict[tuple[str, ...], _Plan] = field(default_factory=dict)
    _infos: dict[tuple[str, int, str], int] = field(default_factory=dict)
    _series: dict[tuple[tuple[str, ...], str, int], Ids] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin another poll."""
        self.neighbors = {}
        self._taken = {}

    def take(self, table: Table, row: Sequence[Any], columns: Columns) -> None:
        """Take one row of a table."""
        plan = self._plan(table)
        if all(key in plan.words for key in ufm.FAR_KEYS):
            self._link([row[plan.words[key]] for key in ufm.FAR_KEYS], columns)
            return
        guid_at, port_at = plan.guid_at, plan.port_at
        guid = ufm.guid(row[guid_at]) if guid_at is not None else None
        port = ufm.port(row[port_at]) if port_at is not None else None
        if guid is None or port is None:
            if (
                port_at is None or str(row[port_at]).strip() != "0"
            ):  # a switch's own port has no link
                columns.refuse(Reason.MALFORMED, "row", {}, str(list(row)[:4])[:200])
            return
        self._learn(plan, row, guid)
        device, label = self.names.labels(guid, port)
        first = self._taken.setdefault((table.names, guid, port), row)
        if first is not row and first != row:
            place = {"device": device, "port": label}
            columns.refuse(Reason.DUPLICATE, "row", place, f"another row of the port: {row!s:.150}")
            return
        self._state(plan, row, device, label, columns)
        self._numbers(table, plan, row, (guid, port), columns)
        self._others(plan, row, device, label, columns)
        self._identity(plan, row, (guid, port), columns)

    def _plan(self, table: Table) -> _Plan:
        plan = self._plans.get(table.names)
        if plan is None:
            known = [(at, ufm_map.field(name)) for at, name in enumerate(table.names)]
            fields = tuple((at, one) for at, one in known if one is not None)
            worth = np.array([one.worth for _, one in fields], np.float64)
            bins = np.array([one.metric is FEC_CODEWORDS for _, one in fields], np.bool_)
            words = {name: at for at, name in reversed(list(enumerate(table.names)))}
            plan = self._plans[table.names] = _Plan(
                fields,
                worth,
                bins,
                words,
                table.place(*ufm.GUID_KEYS),
                table.place(*ufm.PORT_KEYS),
            )
        return plan

    def _learn(self, plan: _Plan, row: Sequence[Any], guid: str) -> None:
        at = plan.words.get("portguid")
        own = ufm.guid(row[at]) if at is not None else None
        if own is not None and own != guid:
            self.names.learn(guid, [own])

    def _numbers(
        self,
        table: Table,
        plan: _Plan,
        row: Sequence[Any],
        place: tuple[str, int],
        columns: Columns,
    ) -> None:
        """Take every plain number of a row with one array."""
        device, port = self.names.labels(*place)
        key = (table.names, *place)
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = self.table.intern_all(
                (one.metric, (device, port, *one.more)) for _, one in plan.fields
            )
        cells = [self._cell(row[at], one, device, port, columns) for at, one in plan.fields]
        values = np.array(cells, np.float64)
        if not np.nan_to_num(values[plan.bins]).any():
            values[plan.bins] = np.nan  # a link with FEC has clean codewords: this one has none
        known = np.isfinite(values)
        columns.put_all(series[known], (values * plan.worth)[known])

    def _cell(
        self, cell: Any, one: ufm_map.Field, device: str, port: str, columns: Columns
    ) -> float:
        try:
            value = ufm.number(cell)
        except MalformedReply as wrong:
            labels = {"device": device, "port": port}
            columns.refuse(Reason.MALFORMED, str(one.metric), labels, str(wrong))
            return nan
        if value is None or (one.ratio and 0.0 < value < ufm_map.UNMEASURED):
            return nan
        return value

    def _state(
        self, plan: _Plan, row: Sequence[Any], device: str, port: str, columns: Columns
    ) -> None:
        """Take whether a port is up and how fast; it is the rate by which waiting is counted."""
        state = _word(plan, row, "logicalstate").casefold()
        up = UP_WORDS.get(state)
        if up is not None:
            columns.take(UP, (device, port), float(up))
        lanes = _word(plan, row, "linkwidthactive", "activewidth").lower().rstrip("x")
        words = _word(plan, row, "linkspeedactive", "activespeed").upper()
        rate = LANE.get(words.removeprefix("IB-"))
        if up is not False and lanes.isdecimal() and 0 < int(lanes) <= 12:
            columns.take(LANES, (device, port), float(int(lanes)))
            if rate is not None:
                self.counters.speeds[device, port] = rate * int(lanes)
                columns.take(SPEED, (device, port), rate * int(lanes))

    def _others(
        self, plan: _Plan, row: Sequence[Any], device: str, port: str, columns: Columns
    ) -> None:
        """Take what is more than one number: waiting, masks, what belongs to the device."""
        for name in ufm_map.WAIT & plan.words.keys():
            ticks = self._cell(row[plan.words[name]], _TICKS, device, port, columns)
            if np.isfinite(ticks) and ticks >= 0:
                wait = {"PortXmitWait": int(ticks)}
                self.counters.take(device, port, wait, columns, wide=True)
        if ufm_map.CHIP in plan.words:
            chip = self._cell(row[plan.words[ufm_map.CHIP]], _CHIP, device, port, columns)
            columns.take(DEVICE_TEMPERATURE, (device, "chip"), chip)
        lanes = [
            one.more[0]
            for at, one in plan.fields
            if one.metric is RX_POWER and str(row[at]).strip().casefold() not in ufm.NO_VALUE
        ]
        for name, (metric, side) in ufm_map.MASKS.items():
            if name in plan.words and lanes:
                mask = self._cell(row[plan.words[name]], _TICKS, device, port, columns)
                if np.isfinite(mask) and 0 <= mask < 256:
                    for lane in lanes:
                        flag = float(int(mask) >> (int(lane) - 1) & 1)
                        columns.take(metric, (device, port, lane, side), flag)

    def _identity(
        self, plan: _Plan, row: Sequence[Any], place: tuple[str, int], columns: Columns
    ) -> None:
        device, port = self.names.labels(*place)
        description = _word(plan, row, "nodedescription", "nodedesc", "systemname")
        if description:
            columns.take(DESCRIPTION_INFO, (device, description), 1.0)
        part, serial = _word(plan, row, "cablepn"), _word(plan, row, "cablesn")
        if part or serial:
            labels = (
                device,
                port,
                _word(plan, row, "cablevendor"),
                part,
                serial,
                "",
                "",
                "",
                "",
                "",
            )
            columns.take(OPTICS_INFO, labels, 1.0)
        fec = mlxlink.fec_name(_word(plan, row, "activefec"))
        key = (*place, fec)
        info = self._infos.get(key)
        if info is None:
            info = self._infos[key] = self._info(place, fec)
        columns.put(info, 1.0)
        peer = _word(plan, row, "peer").rpartition("_")
        far, number = ufm.guid(peer[0]), ufm.port(peer[2])
        if far is not None and number is not None:
            self.neighbors[Neighbor(device, port, *self.names.labels(far, number), VIA)] = None

    def _info(self, place: tuple[str, int], fec: str) -> int:
        device, port = self.names.labels(*place)
        known = {
            "device": device,
            "port": port,
            "technology": "ib",
            "fec": fec,
            "uid": self.names.uid(*place),
            "packets": "packets",
        }
        return self.table.intern(PORT_INFO, tuple(known.get(one, "") for one in PORT_INFO.labels))

    def _link(self, cells: Sequence[Any], columns: Columns) -> None:
        one, near, other, far = cells
        ends = (ufm.guid(one), ufm.port(near)), (ufm.guid(other), ufm.port(far))
        named = [self.names.labels(g, p) for g, p in ends if g is not None and p is not None]
        if len(named) < 2:
            columns.refuse(Reason.MALFORMED, "link", {}, str(cells)[:200])
            return
        here, there = named
        self.neighbors[Neighbor(*here, *there, VIA)] = None
        self.neighbors[Neighbor(*there, *here, VIA)] = None
        for end in named:
            columns.take(UP, end, 1.0)


_TICKS = ufm_map.Field(UP)
_CHIP = ufm_map.Field(DEVICE_TEMPERATURE)


def _word(plan: _Plan, row: Sequence[Any], *names: str) -> str:
    """Return the first of some cells that has a value, as text."""
    for name in names:
        at = plan.words.get(name)
        text = str(row[at]).strip() if at is not None else ""
        if text.casefold() not in ufm.NO_VALUE:
            return text
    return ""
