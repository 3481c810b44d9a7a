"""The rows of a page: which series each sample is, and which of them need a step of their own.

Worked out once per shape of page; a poll then is arithmetic on columns. What depends on the
rule alone is looked at once per rule, not once per row.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import nan
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
Placed = tuple[int, Place]
"""A sample of the page by its index, and a place of it."""


class Layout:
    """Row r reads sample `sample[r]` into series `series[r]`, as `places[r]` says.

    `series` is -1 for a row that is no series: codes, and samples that only others refer to.
    `unplaced` are the samples that a map knows but that lack what would name them.
    """

    def __init__(
        self, table: SeriesTable, page: Sequence[Series], found: Sequence[tuple[Place, ...]]
    ) -> None:
        every = [(at, place) for at, places in enumerate(found) for place in places]
        self.unplaced = [
            (at, place) for at, place in every if place.labels is None and place.metric
        ]
        rows = _wanted(every)
        self.places = [place for _, place in rows]
        self.sample: Rows = np.array([at for at, _ in rows], np.int64)
        self.series: Ids = np.array([number_of(table, place) for place in self.places], np.int32)

        kinds: dict[tuple[int, int], int] = {}
        self._kind: Rows = np.array(
            [
                kinds.setdefault((id(place.rule), id(place.metric)), len(kinds))
                for place in self.places
            ],
            np.int64,
        )
        first = np.unique(self._kind, return_index=True)[1]
        self._kinds = [self.places[row] for row in first]  # one place of each kind

        scale = np.array([place.rule.scale for place in self._kinds], np.float64)
        # Hundredths and thousandths are divided by, which is exact where multiplying is not.
        with np.errstate(divide="ignore"):
            per = np.where((np.abs(scale) < 1) & (scale != 0), np.round(1 / scale), 1.0)
        whole = np.abs(per * scale - 1) < 1e-12
        self.scale: Floats = np.where(whole, 1.0, scale)[self._kind]
        self.per: Floats = np.where(whole, per, 1.0)[self._kind]
        offset = np.array([place.rule.offset for place in self._kinds], np.float64)
        self.offset: Floats = offset[self._kind]
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

        self._at = self._referred(page, rows)
        self.divided, self.divisors = self._others(lambda rule: rule.over)
        self.gated, self.gates = self._others(_gate_of)
        shut = [self.places[row].rule.gate for row in self.gated]
        self.shut: Floats = np.array([gate.value if gate else nan for gate in shut], np.float64)
        self.repeated, self.starts = _repeats(self.series)

    def _where(self, wanted: Callable[[Place], bool]) -> Rows:
        """Return the rows whose rule and metric are wanted."""
        mask = np.array([wanted(place) for place in self._kinds], bool)
        return np.flatnonzero(mask[self._kind])

    def _by(self, key: Callable[[Place], Key]) -> list[tuple[Key, Rows]]:
        """Return the rows of each key that is not empty."""
        keys = [key(place) for place in self._kinds]
        groups = dict.fromkeys(found for found in keys if found)
        return [
            (found, np.flatnonzero(np.array([one == found for one in keys], bool)[self._kind]))
            for found in groups
        ]

    def _referred(
        self, page: Sequence[Series], rows: Iterable[Placed]
    ) -> dict[tuple[str, str, str], int]:
        """Return the samples that rules refer to, by name, device and port."""
        rules = [place.rule for place in self._kinds]
        names = {rule.over for rule in rules} | {_gate_of(rule) for rule in rules}
        return {
            (page[at].name, place.device, place.port): at
            for at, place in (rows if names - {""} else ())
            if page[at].name in names
        }

    def _others(self, name: Callable[[Rule], str]) -> tuple[Rows, Rows]:
        """Return rows that refer to another sample of their device and port, and its index.

        The index is -1 where the page does not have that sample.
        """
        rows = self._where(lambda place: bool(name(place.rule)))
        places = [self.places[row] for row in rows]
        others = [
            self._at.get((name(place.rule), place.device, place.port), -1) for place in places
        ]
        return rows, np.array(others, np.int64)


def _gate_of(rule: Rule) -> str:
    return rule.gate.metric if rule.gate else ""


def _wanted(every: Sequence[Placed]) -> list[Placed]:
    """Return the places that can be read, without those for which there is a better one."""
    better = {place.rule.unless for _, place in every} - {""}
    given = {
        (place.rule.to, place.device, place.port)
        for _, place in (every if better else ())
        if place.rule.to in better and not place.rule.unless
    }
    return [
        (at, place)
        for at, place in every
        if (place.labels is not None or place.metric is None)
        and not (place.rule.unless and (place.rule.unless, place.device, place.port) in given)
    ]


def number_of(table: SeriesTable, place: Place) -> int:
    """Return the number of the series that a place gives, -1 if it gives none."""
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
