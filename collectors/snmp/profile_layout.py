"""How a device of a profile is laid out: its rows, what they are, and the columns of a poll."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from collectors.maps.places import Places
from collectors.maps.power_balance import PowerBalance
from collectors.maps.quantities import MEASURES, step
from collectors.maps.snmp_places import Row, applies, series_of
from collectors.maps.snmp_profiles import Gate, Profile, Reading, Rows
from collectors.protocols.snmp_columns import NONE, checked, text
from collectors.protocols.snmprec import Value
from collectors.snmp.asking import Answers, Exact
from fabrichealth.catalogue.cooling import LEAK
from fabrichealth.catalogue.power import FEED_ENERGY, FEED_POWER, RACK_ENERGY, RACK_POWER
from fabrichealth.errors import MalformedReply
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Labels, Reason, SeriesTable

TOTALS = {FEED_POWER: RACK_POWER, FEED_ENERGY: RACK_ENERGY}
"""What the feeds of a rack add up to, where no other device feeds it."""

Wrong = tuple[Reason, str, object]
"""Why something has no place, what it is, and what stood there."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of the device."""

    oid: str
    metric: Metric
    labels: Labels
    reading: Reading
    times: float
    over: float
    offset: float
    gates: tuple[tuple[str, Gate], ...]
    """OIDs that say whether it is a value."""


@dataclass(frozen=True, slots=True)
class Layout:
    """All values of the device [n], as columns."""

    cells: tuple[Cell, ...]
    wanted: Exact
    series: Ids
    times: Floats
    over: Floats
    offset: Floats
    none: Floats
    """Sentinels; NaN where there are fewer [n, s]."""
    gates: tuple[tuple[Gate, NDArray[np.intp], tuple[str, ...]], ...]
    """Gates, the values that each is of, and the OID that says it for each."""
    meanings: tuple[tuple[int, Mapping[int, float]], ...]
    totals: tuple[tuple[int, NDArray[np.intp]], ...]
    """Series of what values add up to, and which."""
    ropes: tuple[NDArray[np.intp], ...]
    """Values of several ropes of one zone: it is wet if any is."""
    balance: PowerBalance
    wrong: tuple[Wrong, ...]


@dataclass(frozen=True, slots=True)
class Learner:
    """Lays out what a device shows."""

    table: SeriesTable
    places: Places
    profile: Profile

    def oids(self) -> Iterator[tuple[str, ...]]:
        """Yield the columns of every value, gate and fact, table by table."""
        for rows in self.profile.tables:
            yield tuple(
                dict.fromkeys(
                    (
                        *(f"{rows.entry}.{one.column}" for one in rows.read),
                        *(f"{rows.entry}.{one.column}" for one in rows.gates),
                        *(rows.fact_oid(name) for name in rows.facts),
                    )
                )
            )

    def learn(self, answers: Answers) -> Layout:
        """Lay out what the device shows."""
        wrong: list[Wrong] = []
        by_oid = {oid: _by_index(oid, answers, wrong) for oids in self.oids() for oid in oids}
        cells: list[Cell] = []
        for rows in self.profile.tables:
            known = self._rows(rows, by_oid, wrong)
            for reading in rows.read:
                column = by_oid[f"{rows.entry}.{reading.column}"]
                for index in column:
                    row = known.get(index)
                    if row is not None and applies(reading, row):
                        cell = self._cell(rows, reading, row)
                        if cell is None:
                            wrong.append(
                                (Reason.MALFORMED, str(reading.to), f"row {index}: no scale told")
                            )
                        else:
                            cells.append(cell)
        there = {oid for one in answers.values() for oid in one.oids}
        return self._laid_out(self._distinct(cells, wrong), there, wrong)

    def _rows(
        self,
        rows: Rows,
        by_oid: Mapping[str, Mapping[str, Value]],
        wrong: list[Wrong],
    ) -> dict[str, Row]:
        """Return the rows of a table by index, with what is known of each."""
        indices = dict.fromkeys(
            index for one in rows.read for index in by_oid[f"{rows.entry}.{one.column}"]
        )
        found = {}
        for index in indices:
            parts = index.split(".")
            if rows.index and len(parts) != len(rows.index):
                wrong.append((Reason.MALFORMED, rows.entry, f"row {index} has another index"))
                continue
            facts = dict(zip(rows.index, parts, strict=False))
            facts.pop("-", None)
            for name, fact in rows.facts.items():
                place = index
                if fact.index is not None:
                    place = ".".join(facts[part] for part in fact.index) or "0"
                if place in (said := by_oid[rows.fact_oid(name)]):
                    facts[name] = text(said[place])
            found[index] = Row(index, facts)
        return found

    def _cell(self, rows: Rows, reading: Reading, row: Row) -> Cell | None:
        """Return a value with what its steps are worth; None where the device does not say."""
        measure = MEASURES.get(reading.measure(row.facts))
        digits, divisor = (
            _whole(row.facts.get(fact, "")) if fact else default
            for fact, default in ((reading.digits, 0), (reading.divisor, 1))
        )
        if measure is None or digits is None or not divisor or abs(digits) > 9:
            return None
        worth = step(measure, reading.scale / Fraction(10) ** digits / divisor)
        metric, labels = series_of(self.profile, reading, row, self.places)
        gates = tuple((f"{rows.entry}.{one.column}.{row.index}", one) for one in rows.gates)
        return Cell(
            f"{rows.entry}.{reading.column}.{row.index}", metric, labels, reading,
            worth.times, worth.over, worth.offset, gates,
        )  # fmt: skip

    def _distinct(self, cells: list[Cell], wrong: list[Wrong]) -> list[Cell]:
        """Return cells without those that others tell better, or that claim one series."""
        kept = [cell for cell in cells if not cell.reading.fallback]
        told: dict[object, Reading | None] = dict.fromkeys(map(_feed, kept))
        kept += [
            cell
            for cell in cells
            if cell.reading.fallback and told.setdefault(_feed(cell), cell.reading) is cell.reading
        ]
        often = Counter((cell.metric, cell.labels) for cell in kept)
        for (metric, labels), times in often.items():
            if times > 1 and metric is not LEAK:
                wrong.append((Reason.DUPLICATE, str(metric), " ".join(labels)))
        return [
            cell for cell in kept if cell.metric is LEAK or often[cell.metric, cell.labels] == 1
        ]

    def _laid_out(self, cells: list[Cell], there: Container[str], wrong: list[Wrong]) -> Layout:
        series = self.table.intern_all((cell.metric, cell.labels) for cell in cells)
        gated: dict[Gate, list[tuple[int, str]]] = defaultdict(list)
        for row, cell in enumerate(cells):
            for oid, gate in cell.gates:
                gated[gate].append((row, oid))
        most = max((len(cell.reading.none) for cell in cells), default=0)
        none = np.full((len(cells), most), np.nan)
        for row, cell in enumerate(cells):
            none[row, : len(cell.reading.none)] = cell.reading.none
        oids = dict.fromkeys(
            oid
            for cell in cells
            for oid in (cell.oid, *(gate for gate, _ in cell.gates))
            if oid in there
        )
        return Layout(
            tuple(cells),
            Exact(oids),
            series,
            np.array([cell.times for cell in cells], np.float64),
            np.array([cell.over for cell in cells], np.float64),
            np.array([cell.offset for cell in cells], np.float64),
            none,
            tuple(
                (gate, np.array([row for row, _ in of], np.intp), tuple(oid for _, oid in of))
                for gate, of in gated.items()
            ),
            tuple(
                (row, cell.reading.meanings)
                for row, cell in enumerate(cells)
                if cell.reading.meanings
            ),
            tuple(self._totals(cells)),
            tuple(_ropes(cells)),
            PowerBalance(self.table, series),
            tuple(wrong),
        )

    def _totals(self, cells: list[Cell]) -> Iterator[tuple[int, NDArray[np.intp]]]:
        if not self.places.has_rack_alone:
            return
        for metric, total in TOTALS.items():
            rows = [row for row, cell in enumerate(cells) if cell.metric is metric]
            if rows:
                yield self.table.intern(total, (self.places.rack,)), np.array(rows, np.intp)


def _ropes(cells: list[Cell]) -> Iterator[NDArray[np.intp]]:
    zones: dict[Labels, list[int]] = defaultdict(list)
    for row, cell in enumerate(cells):
        if cell.metric is LEAK:
            zones[cell.labels].append(row)
    return (np.array(rows, np.intp) for rows in zones.values() if len(rows) > 1)


def _feed(cell: Cell) -> tuple[object, ...]:
    """Return what a fallback stands in for: a metric of a feed, whatever the phase."""
    return cell.metric, *cell.labels[:2]


def _by_index(oid: str, answers: Answers, wrong: list[Wrong]) -> dict[str, Value]:
    answer = answers.get(oid, NONE)
    try:
        return dict(zip(checked(answer, oid), answer.values, strict=True))
    except MalformedReply as why:
        wrong.append((Reason.MALFORMED, oid, str(why)))
        return {}


def _whole(words: str) -> int | None:
    digits = words.removeprefix("-")
    return int(words) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None
