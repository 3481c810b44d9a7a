"""Sheet: the resources of one target as columns of a poll.

Layouts are kept by place; what all of them tell is joined once, so that a poll of a known tree
makes one array of the picked values and builds no label and no object. What several resources tell
of one series (a connector's excerpt and its sensor, two detectors of a zone) is taken once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite, isinf, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectors.maps.columns import Columns
from collectors.maps.power_balance import PowerBalance
from collectors.protocols import json_tree
from collectors.protocols.redfish import reports
from collectors.protocols.redfish.documents import Body
from collectors.redfish import kinds
from collectors.redfish.cells import Cell
from collectors.redfish.layout import Layout, laid_out
from collectors.redfish.names import Names
from fabrichealth.model import Floats, Ids, Reason, SeriesTable

NUMBERS = {int, float}
MOST_TEXT = 60
ABSENT_WORDS = frozenset({None, "Absent", "Disabled"})
"""States of what is not there."""

RANKS = {"PowerDistributionMetrics": 1, "Sensor": 2}
"""Kinds that are believed only where no other resource tells the same; the others have rank 0."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A body that was read: its layout and the values in it."""

    layout: Layout
    values: list[Any]
    stamp: float | None = None
    """When it was measured by the device's own clock (unix seconds), where it says so."""


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """All cells of a poll behind each other [n]."""

    layouts: tuple[Layout, ...]
    cells: tuple[Cell, ...]
    series: Ids
    """Each once [m]."""
    of: NDArray[np.intp]
    """Which series each cell is of."""
    balance: PowerBalance
    times: Floats
    over: Floats
    offset: Floats
    numeric: NDArray[np.intp]
    others: tuple[int, ...]
    """Cells that are words."""
    signs: NDArray[np.intp]
    """Cells of which only counts whether they are above 0."""
    levels: NDArray[np.bool_]
    """False where a value below 0 is a distance."""
    careful: tuple[int, ...]
    """Cells with numbers that mean nothing is there, or with limits of which 0 is none."""
    most: NDArray[np.bool_]


@dataclass(slots=True)
class Sheet:
    """Takes the bodies of one target; outlives polls."""

    table: SeriesTable
    names: Names
    maker: str = ""
    """Who made the service, where a resource does not say."""
    _layouts: dict[str, Layout] = field(default_factory=dict)
    _whole: _Whole | None = None

    def forget(self, names: Names, maker: str) -> None:
        """Lay out everything anew: what hangs together has changed."""
        self.names, self.maker = names, maker
        self._layouts.clear()

    def layout(self, path: str) -> Layout | None:
        """Return how the resource at a place was last laid out."""
        return self._layouts.get(path)

    def read(self, path: str, body: Body) -> Taken:
        """Return a body as its layout and values."""
        shape, values = json_tree.flattened(body)
        known = self._layouts.get(path)
        if known is None or not known.fits(shape, values):
            known = self._layouts[path] = laid_out(path, body, self.names, self.maker)
        return Taken(known, values, reports.moment(body.get("ReadingTime")))

    def take(self, bodies: Mapping[str, Taken], columns: Columns) -> None:
        """Take what bodies tell, by place; sensors that stand in another's excerpt are left out."""
        told = {source for one in bodies.values() for source in one.layout.sources}
        used = [one for path, one in bodies.items() if path not in told or not path]
        layouts = tuple(one.layout for one in used)
        whole = self._whole
        if whole is None or whole.layouts != layouts:
            whole = self._whole = self._joined(layouts)
        picked: list[Any] = []
        for one in used:
            picked.extend(one.layout.pick(one.values))
            columns.refused.extend(one.layout.refused)
        self._decode(whole, picked, columns)

    def value(self, cell: Cell, said: Any, columns: Columns) -> float:
        """Return one value of a cell in its unit, NaN where there is none."""
        found = _number(cell, said)
        if found is None:
            self._refuse(columns, Reason.MALFORMED, cell, said)
            return nan
        if cell.words is None and (found in cell.absent or (cell.rule.zero and found == 0)):
            return nan
        value = found * cell.times / cell.over + cell.offset
        if isinf(value):
            self._refuse(columns, Reason.IMPLAUSIBLE, cell, said)
            return nan
        if cell.rule.form == "running" and isfinite(value):
            return float(value > 0)
        return value

    def _joined(self, layouts: tuple[Layout, ...]) -> _Whole:
        cells = tuple(cell for one in layouts for cell in one.cells)
        told = self.table.intern_all((cell.metric, cell.labels) for cell in cells)
        series, of = np.unique(told, return_inverse=True)
        words = tuple(n for n, cell in enumerate(cells) if cell.words is not None)
        return _Whole(
            layouts,
            cells,
            series,
            of,
            PowerBalance(self.table, series),
            np.array([cell.times for cell in cells], np.float64),
            np.array([cell.over for cell in cells], np.float64),
            np.array([cell.offset for cell in cells], np.float64),
            np.array([n for n, cell in enumerate(cells) if cell.words is None], np.intp),
            words,
            np.array([n for n, one in enumerate(cells) if one.rule.form == "running"], np.intp),
            np.array([cell.level for cell in cells], bool),
            tuple(n for n, cell in enumerate(cells) if cell.absent or cell.rule.zero),
            np.array([cell.rule.join == "most" for cell in cells], bool),
        )

    def _decode(self, whole: _Whole, picked: list[Any], columns: Columns) -> None:
        if not whole.cells:
            return
        read = np.full(len(picked), nan)
        plain = [picked[place] for place in whole.numeric]
        slow: Iterable[int] = whole.numeric.tolist()
        if set(map(type, plain)) <= NUMBERS:
            try:
                read[whole.numeric] = plain
                slow = ()
            except OverflowError:  # an integer beyond every float
                read[:] = nan
        for place in (*slow, *whole.others):
            cell, said = whole.cells[place], picked[place]
            found = _number(cell, said)
            if found is None:
                self._refuse(columns, Reason.MALFORMED, cell, said)
            elif said is None and cell.due:
                self._refuse(columns, Reason.FAILED, cell, said)
            elif cell.words is not None and isnan(found) and said not in ABSENT_WORDS:
                self._refuse(columns, Reason.SENSOR_FAULT, cell, said)
            else:
                read[place] = found
        for place in whole.careful:
            cell = whole.cells[place]
            if read[place] in cell.absent or (cell.rule.zero and read[place] == 0):
                read[place] = nan
        for place in np.flatnonzero((read < 0) & ~whole.levels).tolist():
            self._refuse(columns, Reason.UNSUPPORTED, whole.cells[place], picked[place])
            read[place] = nan
        with np.errstate(over="ignore", invalid="ignore"):
            values = read * whole.times / whole.over + whole.offset
        for place in np.flatnonzero(np.isinf(values)).tolist():  # no sensor says so much
            self._refuse(columns, Reason.IMPLAUSIBLE, whole.cells[place], picked[place])
            values[place] = nan
        signs = values[whole.signs]
        values[whole.signs] = np.where(np.isnan(signs), nan, signs > 0)
        self._put(whole, values, columns)

    def _put(self, whole: _Whole, values: Floats, columns: Columns) -> None:
        """Take one value of each series: the first, or the greatest; none that contradicts."""
        rows = np.flatnonzero(np.isfinite(values))[::-1]  # the first is written last
        told = np.full(len(whole.series), nan)
        told[whole.of[rows]] = values[rows]
        many = rows[whole.most[rows]]
        np.maximum.at(told, whole.of[many], values[many])
        for doubt in whole.balance.doubts(told):
            for row in doubt.rows[np.isfinite(told[doubt.rows])].tolist():
                metric = self.table.metric(int(whole.series[row]))
                labels = self.table.labels(int(whole.series[row]))
                shown = dict(zip(metric.labels, labels, strict=True))
                columns.refuse(Reason.IMPLAUSIBLE, str(metric), shown, doubt.says)
            told[doubt.rows] = nan
        good = np.isfinite(told)
        columns.put_all(whole.series[good], told[good])

    def _refuse(self, columns: Columns, reason: Reason, cell: Cell, said: Any) -> None:
        labels = dict(zip(cell.metric.labels, cell.labels, strict=True))
        columns.refuse(reason, str(cell.metric), labels, str(said)[:MOST_TEXT])


def ordered(bodies: Mapping[str, Body]) -> list[str]:
    """Return places so that what is believed first comes first: sensors after their excerpts."""
    return sorted(bodies, key=lambda path: RANKS.get(kinds.kind(path, bodies[path]), 0))


def _number(cell: Cell, said: Any) -> float | None:
    """Return a value as a number, NaN where it is absent, None where it is nonsense."""
    if said is None:
        return nan
    if cell.words is not None:
        if not isinstance(said, str):
            return None
        return nan if said in ABSENT_WORDS else cell.words.get(said)
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    try:
        found = float(said)
    except (ValueError, OverflowError):
        return nan if isinstance(said, str) and said.strip().casefold() in EMPTY else None
    return found if isfinite(found) else None


EMPTY = frozenset({"", "n/a", "na", "null", "none", "-"})
"""Texts in place of a number that say there is none."""
