"""A driver's statistics as columns: names are matched once, values are added up by array."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from collectors.maps import driver_statistics
from fabrichealth.model import Floats, Ids, SeriesTable


class StatisticsLayout:
    """Which of an interface's statistics [n] make which series [m], until the names change."""

    def __init__(
        self, table: SeriesTable, device: str, port: str, names: Sequence[str], driver: str
    ) -> None:
        shares = driver_statistics.chosen(names, driver)
        keys = {(share.metric, share.labels): None for share in shares}
        rows = {key: row for row, key in enumerate(keys)}
        self.size = len(names)
        self.series: Ids = table.intern_all(
            (metric, (device, port, *labels)) for metric, labels in keys
        )
        self._places = np.array([share.place for share in shares], np.intp)
        self._worth = np.array([share.worth for share in shares], np.float64)
        self._rows = np.array([rows[share.metric, share.labels] for share in shares], np.intp)

    def values(self, statistics: NDArray[np.uint64]) -> Floats:
        """Return values [m] in the units of their metrics from statistics [n].

        Several names of one series are added up; 64 bit counters are exact to 2^53.
        """
        known = statistics[self._places].astype(np.float64) * self._worth
        return np.bincount(self._rows, known, minlength=len(self.series)).astype(np.float64)
