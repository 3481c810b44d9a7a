"""A PDU or cooler by its vendor's profile: walked once, then asked for its variables alone.

What the rows are hardly ever changes: it is read at first contact, and now and then. In between a
poll is one question or a few for all values at once, since cards of PDUs bear little.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from collectors.maps.columns import Columns
from collectors.maps.places import Places
from collectors.maps.register_schema import METRICS
from collectors.maps.snmp_profiles import Profile
from collectors.protocols.snmp_columns import NONE, Answer, numbers
from collectors.protocols.snmprec import Value
from collectors.snmp.asking import Answers, Part
from collectors.snmp.profile_layout import Layout, Learner
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Reason, SeriesTable

SOON = 60.0
"""Seconds after which a device is walked again of which a column could not be used."""


def metrics() -> tuple[Metric, ...]:
    """Return every metric that a profile can give."""
    return METRICS


@dataclass(slots=True)
class Profiled:
    """Reads one device by a profile."""

    table: SeriesTable
    places: Places
    profile: Profile
    again: float
    """About so many seconds after which it is read again what the rows are."""
    _layout: Layout | None = None
    _due: float = 0.0
    _gathered: dict[str, Answer] = field(default_factory=dict)
    """Columns of a walk that is not yet at its end: slow cards need several visits."""

    def read(self, at: float, columns: Columns) -> Part:
        """Read all values; and what they are of, if that is not known or old."""
        layout = self._layout
        if layout is not None:
            answers = yield layout.wanted
            found = _values(answers)
            if any(oid not in found for oid in layout.wanted):
                self._due = at  # rows came or went
            self._take(layout, found, columns)
        if at < self._due:
            return
        begun = bool(self._gathered)
        learner = Learner(self.table, self.places, self.profile)
        whole = True
        for oids in learner.oids():
            lacking = tuple(oid for oid in oids if oid not in self._gathered)
            answers = (yield lacking) if lacking else {}
            whole &= answers.keys() >= set(lacking)
            self._gathered |= {oid: answers.get(oid, NONE) for oid in lacking}
        walked, self._gathered = self._gathered, {}
        self._due = at + (self.again * self._share() if whole else min(self.again, SOON))
        learnt = self._layout = learner.learn(walked)
        if layout is not None:
            return  # its values were read by what was known before
        answers = (yield learnt.wanted) if begun else walked
        self._take(learnt, _values(answers), columns)

    def _share(self) -> float:
        """Return 0.5 to 1.5 by the device's name: a fleet is not walked again all at once."""
        return 0.5 + zlib.crc32(self.places.device.encode()) / 2**32

    def _take(self, layout: Layout, found: Mapping[str, Value], columns: Columns) -> None:
        given = tuple(found.get(cell.oid) for cell in layout.cells)
        raw = numbers(given)
        there = np.array([one is not None for one in given], np.bool_)
        with np.errstate(invalid="ignore"):
            values: Floats = raw * layout.times / layout.over + layout.offset
        absent = (raw[:, None] == layout.none).any(axis=1)
        lost = np.zeros(len(raw), np.bool_)
        for gate, rows, oids in layout.gates:
            said = numbers(found.get(oid) for oid in oids)
            faulty = np.isin(said, gate.lost)
            bad = np.isfinite(said) & ~np.isin(said, gate.ok) if gate.ok else faulty
            lost[rows] |= faulty
            absent[rows] |= (bad | np.isin(said, gate.absent)) & ~faulty
        for row, meanings in layout.meanings:
            values[row] = meanings.get(int(raw[row]), np.nan) if np.isfinite(raw[row]) else np.nan
        bad = absent | lost | ~np.isfinite(values)
        for row in np.flatnonzero(bad & there).tolist():
            why = Reason.MALFORMED
            if absent[row] or lost[row]:
                why = Reason.SENSOR_FAULT if lost[row] else Reason.UNSUPPORTED
            self._refuse(layout, row, why, given[row], columns)
        values[bad] = np.nan
        for doubt in layout.balance.doubts(values):
            for row in doubt.rows[np.isfinite(values[doubt.rows])].tolist():
                self._refuse(layout, row, Reason.IMPLAUSIBLE, doubt.says, columns)
            values[doubt.rows] = np.nan
        for ropes in layout.ropes:
            wet = np.fmax.reduce(values[ropes])
            values[ropes] = np.nan
            values[ropes[0]] = wet
        good = np.isfinite(values)
        columns.put_all(layout.series[good], values[good])
        for series, rows in layout.totals:
            if good[rows].all():
                columns.put(series, float(values[rows].sum()))
        for reason, what, why_not in layout.wrong:
            columns.refuse(reason, what, {"device": self.places.device}, why_not)

    def _refuse(self, layout: Layout, row: int, why: Reason, raw: object, columns: Columns) -> None:
        cell = layout.cells[row]
        labels = dict(zip(cell.metric.labels, cell.labels, strict=True))
        columns.refuse(why, str(cell.metric), labels, raw)


def _values(answers: Answers) -> dict[str, Value]:
    """Return values by OID."""
    return {
        oid: value
        for one in answers.values()
        for oid, value in zip(one.oids, one.values, strict=True)
    }
