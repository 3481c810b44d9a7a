"""Sensors of a device by SNMP: light, bias, voltage and heat of its modules; heat and fans.

What a sensor is stands in columns that hardly change; they are read again when sensors come or go,
and now and then. In between a poll reads value and status alone, and turns them as whole columns.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from collectors.maps import snmp_sensors
from collectors.maps.columns import Columns
from collectors.maps.modules import TINY
from collectors.maps.snmp_rules import SensorMap
from collectors.maps.snmp_sensors import OVERFLOW, Form, Place, Sensor
from collectors.protocols.snmp_columns import NONE, Answer, checked, numbers, text
from collectors.protocols.snmprec import Value
from collectors.snmp.asking import Answers, Part
from collectors.snmp.ports import Ports
from fabrichealth.catalogue.optics import LOS, RX_POWER
from fabrichealth.errors import MalformedReply
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Reason, SeriesTable
from fabrichealth.units import DARK_DBM, dbm

OK, UNAVAILABLE = 1, 2
"""EntitySensorStatus; 3 is nonoperational (RFC 3433)."""


def metrics(known: SensorMap) -> tuple[Metric, ...]:
    """Return every metric that a map of sensors can give."""
    return (*snmp_sensors.METRICS, *known.devices.values())


@dataclass(frozen=True, slots=True)
class _Layout:
    """Sensors that have a series [n]; rows are places in the answer."""

    version: int
    oids: tuple[str, ...]
    indices: tuple[str, ...]
    rows: NDArray[np.intp]
    series: Ids
    times: Floats
    over: Floats
    """A value is multiplied by one and divided by the other: 533 tenths are 53.3 exactly."""
    forms: NDArray[np.int8]
    lit: NDArray[np.intp]
    """Places among the sensors of received light [r]."""
    dark: Ids
    """Their series of lost signal [r]."""
    wrong: tuple[tuple[Reason, str, object], ...]


@dataclass(slots=True)
class Sensors:
    """Reads the sensors of one device."""

    table: SeriesTable
    device: str
    known: SensorMap
    ports: Ports
    again: float
    """Seconds after which it is read again what the sensors are."""
    _layout: _Layout | None = None
    _due: float = 0.0

    def read(self, at: float, columns: Columns) -> Part:
        """Read value and status; and what they are of, if that is not known or old."""
        oids = self.known.oids
        value, status = oids["entPhySensorValue"], oids["entPhySensorOperStatus"]
        answers = yield value, status
        values = answers.get(value, NONE)
        layout = self._layout
        if not values.oids:
            return
        if (
            layout is None
            or layout.oids != values.oids
            or layout.version != self.ports.version
            or at >= self._due
        ):
            more = yield tuple(one for one in oids.values() if one not in {value, status})
            try:
                layout = self._layout = self._learn(values, more)
            except MalformedReply as wrong:
                what, labels = "entPhySensorValue", {"device": self.device}
                columns.refuse(Reason.MALFORMED, what, labels, str(wrong))
                return
            self._due = at + self.again
        states = answers.get(status, NONE)
        self._take(layout, values, self._states(layout, states), columns)

    def _states(self, layout: _Layout, states: Answer) -> Floats:
        """Return the status of each row of the values; NaN where there is none."""
        stem = self.known.oids["entPhySensorOperStatus"]
        given = numbers(states.values)
        if len(given) == len(layout.indices) and all(
            map(str.endswith, states.oids, layout.indices)
        ):
            return given
        by_index = {
            oid.removeprefix(f"{stem}."): number
            for oid, number in zip(states.oids, given.tolist(), strict=True)
        }
        return np.array([by_index.get(index, np.nan) for index in layout.indices])

    def _take(self, layout: _Layout, answer: Answer, states: Floats, columns: Columns) -> None:
        raw = numbers(answer.values)[layout.rows]
        state = states[layout.rows]
        good = np.isfinite(raw) & (np.abs(raw) < OVERFLOW) & ~(state > OK)
        values = raw * layout.times / layout.over
        watts, levels = layout.forms == Form.WATTS, layout.forms == Form.DBM
        values[watts] = dbm(values[watts])
        values[levels] = np.maximum(values[levels], DARK_DBM)
        for place in np.flatnonzero(~good | np.isnan(values)).tolist():
            self._refuse(layout, place, raw[place], state[place], columns)
        good &= np.isfinite(values)
        columns.put_all(layout.series[good], values[good])
        lit = good[layout.lit]
        levels_lit = values[layout.lit][lit]
        columns.put_all(layout.dark[lit], (levels_lit < DARK_DBM + TINY).astype(np.float64))
        for reason, index, why in layout.wrong:
            columns.refuse(reason, "entPhySensorValue", {"device": self.device, "row": index}, why)

    def _refuse(
        self, layout: _Layout, place: int, raw: float, state: float, columns: Columns
    ) -> None:
        series = int(layout.series[place])
        metric = self.table.metric(series)
        labels = dict(zip(metric.labels, self.table.labels(series), strict=True))
        if state == UNAVAILABLE:
            columns.refuse(Reason.UNSUPPORTED, str(metric), labels, "unavailable")
        elif state > UNAVAILABLE:
            columns.refuse(Reason.SENSOR_FAULT, str(metric), labels, "nonoperational")
        elif abs(raw) >= OVERFLOW:
            columns.refuse(Reason.SENSOR_FAULT, str(metric), labels, raw)
        else:
            columns.refuse(Reason.MALFORMED, str(metric), labels, raw)

    def _learn(self, values: Answer, more: Answers) -> _Layout:
        """Lay sensors out.

        Raises:
            MalformedReply: the rows of the values are none.
        """
        indices = checked(values, self.known.oids["entPhySensorValue"])
        wrong: list[tuple[Reason, str, object]] = []
        sensors = self._sensors(indices, more)
        whole = snmp_sensors.bases(self.known, {one.name for one in sensors})
        places: list[tuple[int, Place]] = []
        for row, (index, sensor) in enumerate(zip(indices, sensors, strict=True)):
            try:
                one = snmp_sensors.place(self.known, sensor, self.ports.called, whole)
            except ValueError as why:
                wrong.append((Reason.MALFORMED, index, str(why)))
                continue
            if one is not None:
                places.append((row, one))
        often = Counter((one.metric, one.labels) for _, one in places)
        series, kept = [], []
        for row, one in places:
            labels = one.labels
            if often[one.metric, labels] > 1:
                if one.metric not in self.known.devices.values():
                    wrong.append((Reason.DUPLICATE, indices[row], sensors[row].name))
                    continue
                labels = (f"{labels[0]} ({indices[row]})",)
            series.append(self.table.intern(one.metric, (self.device, *labels)))
            kept.append((row, one))
        lit = [n for n, (_, one) in enumerate(kept) if one.metric is RX_POWER]
        return _Layout(
            self.ports.version,
            values.oids,
            indices,
            np.array([row for row, _ in kept], np.intp),
            np.array(series, np.int32),
            10.0 ** np.maximum([one.exponent for _, one in kept], 0.0),
            10.0 ** np.maximum([-one.exponent for _, one in kept], 0.0),
            np.array([one.form for _, one in kept], np.int8),
            np.array(lit, np.intp),
            self.table.intern_all((LOS, (self.device, *kept[n][1].labels, "media")) for n in lit),
            tuple(wrong),
        )

    def _sensors(self, indices: tuple[str, ...], more: Answers) -> list[Sensor]:
        oids = self.known.oids
        said = {name: self._by_index(oids[name], more) for name in oids}
        descriptions, names = said["entPhysicalDescr"], said["entPhysicalName"]
        return [
            Sensor(
                text(descriptions.get(index)) or text(names.get(index)),
                *(
                    one if isinstance(one := said[column].get(index), int) else 0
                    for column in ("entPhySensorType", "entPhySensorScale", "entPhySensorPrecision")
                ),
            )
            for index in indices
        ]

    def _by_index(self, column: str, answers: Answers) -> dict[str, Value]:
        answer = answers.get(column, NONE)
        stem = f"{column}."
        return {
            oid.removeprefix(stem): value
            for oid, value in zip(answer.oids, answer.values, strict=True)
        }
