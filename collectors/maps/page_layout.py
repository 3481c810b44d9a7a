"""The rows of a page: which series each sample is, and which of them need a step of their own.

Worked out once per shape of page; a poll then is arithmetic on columns.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from collectors.maps.page_places import Place
from collectors.maps.page_rules import Rule
from collectors.protocols.exposition_line import Series
from fabrichealth.model import Floats, Ids, SeriesTable
from fabrichealth.units import Unit

Rows = NDArray[np.int64]
Key = TypeVar("Key", bound=Hashable)


class Layout:
    """Row r reads sample `sample[r]` into series `series[r]`, as `places[r]` says.

    `series` is -1 for a row that is no series: codes, and samples that only others refer to.
    `unplaced` are the samples that a map knows but that lack what would name them.
    """

    def __init__(
        self, table: SeriesTable, page: Sequence[Series], found: Sequence[tuple[Place, ...]]
    ) -> None:
        rows = [(at, place) for at, places in enumerate(found) for place in places]
        given = {
            (place.rule.to, place.device, place.port) for _, place in rows if not place.rule.unless
        }
        self.unplaced = [(at, place) for at, place in rows if place.metric and place.labels is None]
        rows = [
            (at, place)
            for at, place in rows
            if (place.labels is not None or place.metric is None)
            and not (place.rule.unless and (place.rule.unless, place.device, place.port) in given)
        ]
        self.places = [place for _, place in rows]
        self.sample: Rows = np.array([at for at, _ in rows], np.int64)
        self.series: Ids = np.array([_number(table, place) for place in self.places], np.int32)
        scale = np.array([place.rule.scale for place in self.places], np.float64)
        # Hundredths and thousandths are divided by, which is exact where multiplying is not.
        with np.errstate(divide="ignore"):
            per = np.where((np.abs(scale) < 1) & (scale != 0), np.round(1 / scale), 1.0)
        whole = np.abs(per * scale - 1) < 1e-12
        self.scale: Floats = np.where(whole, 1.0, scale)
        self.per: Floats = np.where(whole, per, 1.0)
        self.offset: Floats = np.array([place.rule.offset for place in self.places], np.float64)
        self.sentinels = self._by(lambda place: place.sentinels)
        self.choices = self._by(lambda place: tuple(place.rule.values.items()))
        self.converts = self._by(lambda place: place.rule.convert)
        self.codes = self._where(lambda place: place.rule.codes is not None)
        self.light = self._where(
            lambda place: place.metric is not None and place.metric.unit is Unit.DBM
        )
        self.fixed = self._where(lambda place: place.fixed is not None)
        self.fixed_values: Floats = np.array(
            [self.places[row].fixed for row in self.fixed], np.float64
        )
        self._found = {(page[at].name, place.device, place.port): at for at, place in rows}
        self.divided, self.divisors = self._others(lambda rule: rule.over)
        self.gated, self.gates = self._others(lambda rule: rule.gate.metric if rule.gate else "")
        shut = [self.places[row].rule.gate for row in self.gated]
        self.shut: Floats = np.array([gate.value for gate in shut if gate], np.float64)
        self.repeated, self.starts = _repeats(self.series)

    def _where(self, wanted: Callable[[Place], bool]) -> Rows:
        return np.array([row for row, place in enumerate(self.places) if wanted(place)], np.int64)

    def _by(self, key: Callable[[Place], Key]) -> list[tuple[Key, Rows]]:
        """Return the rows of each key that is not empty."""
        groups: dict[Key, list[int]] = {}
        for row, place in enumerate(self.places):
            if found := key(place):
                groups.setdefault(found, []).append(row)
        return [(found, np.array(members, np.int64)) for found, members in groups.items()]

    def _others(self, name: Callable[[Rule], str]) -> tuple[Rows, Rows]:
        """Return rows that refer to another sample of their device and port, and its index.

        The index is -1 where the page does not have that sample.
        """
        rows = self._where(lambda place: bool(name(place.rule)))
        places = [self.places[row] for row in rows]
        others = [
            self._found.get((name(place.rule), place.device, place.port), -1) for place in places
        ]
        return rows, np.array(others, np.int64)


def _number(table: SeriesTable, place: Place) -> int:
    if place.metric is None or place.labels is None or place.rule.codes is not None:
        return -1
    return table.intern(place.metric, place.labels)


def _repeats(series: Ids) -> tuple[Rows, Rows]:
    """Return the rows of series that several rows give, by series, and where each begins."""
    order = np.argsort(series, kind="stable")
    ordered = series[order]
    same = np.zeros(len(series) + 1, bool)
    same[1:-1] = (ordered[1:] == ordered[:-1]) & (ordered[1:] >= 0)
    among = same[1:] | same[:-1]
    repeated = order[among]
    begins = np.flatnonzero(np.diff(series[repeated], prepend=-1))
    return repeated.astype(np.int64), begins.astype(np.int64)
