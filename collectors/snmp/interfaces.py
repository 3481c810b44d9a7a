"""States and counters of ports by SNMP: columns of the map, laid out once by the ports' names.

All columns of one poll stand in the order of the ports, so that what a row of the map says is done
to whole columns. A counter that only has 32 bits is repaired; one that comes with fewer bits than
before is another counter, and is refused (`Repair.continues`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectors.maps.columns import Columns
from collectors.maps.snmp_rules import PortMap, Rule
from collectors.protocols import snmp_columns
from collectors.protocols.snmp_columns import NONE, Answer
from collectors.snmp.asking import Answers, Part
from collectors.snmp.ports import Ports
from collectors.snmp.wraps import Cells, Wraps, most_per_second
from fabrichealth.catalogue.ports import PORT_INFO, SPEED, UP
from fabrichealth.counters import Repair
from fabrichealth.errors import MalformedReply
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Reason, SeriesTable


def metrics(known: PortMap) -> tuple[Metric, ...]:
    """Return every metric that a map of ports can give."""
    return (*dict.fromkeys(rule.to for rule in known.rules), PORT_INFO)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the values of one column stand."""

    oids: tuple[str, ...]
    rows: NDArray[np.intp]
    """Places in the answer [m] of rows that are ports."""
    places: NDArray[np.intp]
    """Places of their ports [m]."""


@dataclass(slots=True)
class Interfaces:
    """Reads the ports of one device."""

    table: SeriesTable
    device: str
    known: PortMap
    ports: Ports
    retry: float
    """Seconds after which columns that the agent never had are asked for again."""
    wraps: Wraps = field(default_factory=Wraps)
    _widths: Repair = field(default_factory=Repair)
    _settled: dict[Metric, int] = field(default_factory=dict)
    _layouts: dict[str, _Layout] = field(default_factory=dict)
    _cells: dict[str, Cells] = field(default_factory=dict)
    _series: dict[Metric, Ids] = field(default_factory=dict)
    _version: int = -1
    _remembered: dict[str, int] = field(default_factory=dict)
    _had: set[str] = field(default_factory=set)
    _rests: dict[str, float] = field(default_factory=dict)

    def read(self, at: float, seconds: float, restarted: bool, columns: Columns) -> Part:
        """Read every column; `seconds` is the device's own clock."""
        if self.ports.version != self._version:
            self._lay_out()
        if not self.ports.names:
            return
        first = {name for rule in self.known.rules for name in rule.names[0]}
        answers = yield self._wanted({*first, self.known.ports.discontinuity}, at)
        found = dict(answers)
        others = {
            name
            for rule in self.known.rules
            if not self._has(rule.names[0], found)
            for group in rule.names[1:]
            for name in group
        }
        if others and (wanted := self._wanted(others, at)):
            found.update((yield wanted))
        self._note(found, at)
        self._take(found, seconds, restarted, columns)

    def memory(self) -> dict[str, Any]:
        """Return what the repair of wraps must remember, and how wide counters are."""
        widths = {str(metric): bits for metric, bits in self._settled.items()}
        return {"wraps": self.wraps.kept(), "widths": widths}

    def remember(self, wraps: object, widths: object) -> None:
        """Take up what `memory` returned; what cannot be used is ignored."""
        self.wraps.restore(wraps)
        if isinstance(widths, Mapping):
            self._remembered = {
                str(name): bits for name, bits in widths.items() if bits in {32, 64}
            }

    def _wanted(self, names: set[str], at: float) -> tuple[str, ...]:
        """Return the OIDs of columns, in order, but for those that the agent never had."""
        return tuple(
            oid
            for name, oid in self.known.oids.items()
            if name in names and at >= self._rests.get(oid, at)
        )

    def _note(self, answers: Answers, at: float) -> None:
        """Note which columns there are, and let the others rest."""
        for oid, answer in answers.items():
            if answer.oids:
                self._had.add(oid)
                self._rests.pop(oid, None)
            elif oid not in self._had:
                self._rests[oid] = at + self.retry

    def _has(self, names: tuple[str, ...], answers: Answers) -> bool:
        return all(answers.get(self.known.oids[name], NONE).oids for name in names)

    def _take(self, found: Answers, clock: float, restarted: bool, columns: Columns) -> None:
        nothing = np.full(len(self.ports.names), np.nan)
        moved = self._moved(found, columns) | restarted
        up = speed = nothing
        for rule in self.known.rules:
            names = next((group for group in rule.names if self._has(group, found)), None)
            if names is None:
                continue
            values = np.zeros(len(nothing))
            for name in names:
                one = self._vector(name, found, columns)
                if self.known.bits[name] == 32:
                    most = most_per_second(rule.most, speed)
                    one = self.wraps.monotone(self._cells_of(name), one, clock, most, moved)
                values = values + one
            values = self._meant(rule, values, up, columns)
            if rule.to is UP:
                up = values
            elif rule.to is SPEED:
                speed = values
            bits = min(self.known.bits[name] for name in names)
            if bits and len(rule.names) > 1:
                values = self._continued(rule.to, bits, values, columns)
            self._put(self._series[rule.to], values, columns)
        columns.put_all(self._series[PORT_INFO], np.ones(len(nothing)))

    def _moved(self, found: Answers, columns: Columns) -> NDArray[np.bool_]:
        """Return whose counters were discontinued since the last poll [p]."""
        name = self.known.ports.discontinuity
        values = self._vector(name, found, columns)
        return self.wraps.changed(self._cells_of(name), values)

    def _vector(self, name: str, found: Answers, columns: Columns) -> Floats:
        """Return a column in the order of the ports [p]; NaN where there is no number."""
        values = np.full(len(self.ports.names), np.nan)
        answer = found.get(self.known.oids[name], NONE)
        layout = self._layouts.get(name)
        if layout is None or layout.oids != answer.oids:
            try:
                layout = self._layouts[name] = self._laid_out(name, answer)
            except MalformedReply as wrong:
                columns.refuse(Reason.MALFORMED, name, {"device": self.device}, str(wrong))
                return values
        numbers = snmp_columns.numbers(answer.values)[layout.rows]
        values[layout.places] = numbers
        for row in np.flatnonzero(np.isnan(numbers)).tolist():
            self._refuse(
                name, int(layout.places[row]), answer.values[int(layout.rows[row])], columns
            )
        return values

    def _laid_out(self, name: str, answer: Answer) -> _Layout:
        indices = snmp_columns.checked(answer, self.known.oids[name])
        pairs = [
            (row, self.ports.place[index])
            for row, index in enumerate(indices)
            if index in self.ports.place
        ]
        rows, places = (
            np.array(one, np.intp) for one in (zip(*pairs, strict=True) if pairs else ((), ()))
        )
        return _Layout(answer.oids, rows, places)

    def _meant(self, rule: Rule, values: Floats, up: Floats, columns: Columns) -> Floats:
        """Return what values say by a rule [p]."""
        meant = values * rule.worth
        if rule.values:
            meant = np.full(len(values), np.nan)
            for said, means in rule.values.items():
                meant[values == said] = means
            strange = np.isfinite(values) & np.isnan(meant) & ~np.isin(values, rule.none)
            for place in np.flatnonzero(strange).tolist():
                self._refuse(str(rule.to), place, values[place], columns)
        meant[np.isin(values, rule.none)] = np.nan
        if rule.while_up:
            meant[up != 1] = np.nan
        return meant

    def _continued(self, metric: Metric, bits: int, values: Floats, columns: Columns) -> Floats:
        """Return values without those that are of another counter than the last ones."""
        if self._settled.get(metric) == bits:
            return values
        ids, whole = self._series[metric], True
        for place in np.flatnonzero(np.isfinite(values)).tolist():
            if not self._widths.continues(int(ids[place]), bits):
                self._refuse(
                    str(metric), place, f"{bits} bits, fewer than before", columns, Reason.FAILED
                )
                values[place], whole = np.nan, False
        if whole:
            self._settled[metric] = bits
        else:
            self._settled.pop(metric, None)
        return values

    def _put(self, series: Ids, values: Floats, columns: Columns) -> None:
        known = np.isfinite(values)
        if known.all():
            columns.put_all(series, values)
        else:
            columns.put_all(series[known], values[known])

    def _refuse(
        self,
        what: str,
        place: int,
        raw: object,
        columns: Columns,
        reason: Reason = Reason.MALFORMED,
    ) -> None:
        labels = {"device": self.device, "port": self.ports.names[place]}
        columns.refuse(reason, what, labels, raw)

    def _lay_out(self) -> None:
        """Intern the series of the ports, anew when the names moved."""
        self._version = self.ports.version
        self._layouts.clear()
        self._cells.clear()
        for rule in self.known.rules:
            self._series[rule.to] = self.table.intern_all(
                (rule.to, (self.device, port)) for port in self.ports.names
            )
        self._series[PORT_INFO] = self.table.intern_all(
            (PORT_INFO, labels) for labels in self._infos()
        )
        self._settled.clear()
        for metric, series in self._series.items():
            for one in series.tolist() if str(metric) in self._remembered else ():
                self._widths.continues(one, self._remembered[str(metric)])

    def _infos(self) -> Iterator[tuple[str, ...]]:
        for port, technology in zip(self.ports.names, self.ports.technology, strict=True):
            facts = {"device": self.device, "port": port, "technology": technology,
                     "packets": "packets"}  # fmt: skip
            yield tuple(facts.get(label, "") for label in PORT_INFO.labels)

    def _cells_of(self, name: str) -> Cells:
        if name not in self._cells:
            self._cells[name] = self.wraps.cells(name, self.ports.names)
        return self._cells[name]
