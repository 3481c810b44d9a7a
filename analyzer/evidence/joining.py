"""The same thing under two metrics: rows of one joined with rows of the other, by their labels."""

from weakref import WeakKeyDictionary

import numpy as np

from fabrichealth.metric import Metric
from fabrichealth.model import Changes, Floats, Ids, SeriesTable


class _Partners:
    """For each series of one metric the number of the other's with the same labels, or -1."""

    def __init__(self) -> None:
        self.numbers: Ids = np.empty(0, np.int32)
        self._others = 0

    def learn(self, table: SeriesTable, metric: Metric, other: Metric) -> None:
        """Look up the series that are new, and again all of them if the other's are."""
        others = len(table.of(other))
        if others != self._others:
            self.numbers, self._others = np.empty(0, np.int32), others
        fresh = table.of(metric)[len(self.numbers) :]
        if len(fresh):
            found = (table.find(other, table.labels(int(series))) for series in fresh)
            numbers = np.array([-1 if one is None else one for one in found], np.int32)
            self.numbers = np.concatenate([self.numbers, numbers])


# Derived from the table alone: made again it is the same.
_known: WeakKeyDictionary[SeriesTable, dict[tuple[Metric, Metric], _Partners]]
_known = WeakKeyDictionary()


def values_beside(metric: Metric, series: Ids, other: Changes) -> Floats:
    """Return what another metric says last of the same things as some series, or NaN ([s]).

    Both metrics have the same labels.
    """
    table = other.table
    partners = _known.setdefault(table, {}).setdefault((metric, other.metric), _Partners())
    partners.learn(table, metric, other.metric)
    wanted = partners.numbers[np.searchsorted(table.of(metric), series)]
    found = np.full(len(series), np.nan)
    if len(other.rows):
        place = np.minimum(np.searchsorted(other.rows, wanted), len(other.rows) - 1)
        same = other.rows[place] == wanted
        found[same] = other.value[place[same]]
    return found
