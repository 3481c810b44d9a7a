"""Whether power, current and voltage of a feed agree: a scale that is wrong by ten shows here.

Active power is apparent power times the power factor, and apparent power is what volts and amperes
of the phases give. Where one is ten, a hundred or a thousand times the other, a unit is wrong, and
nobody can say of which: both are in doubt. Factors that phases explain (1.7, 3) are none.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.power import (
    FEED_CURRENT,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, SeriesTable

NEAR = 0.2
"""Decades around a power of ten within which a quotient is taken for a wrong unit."""
LEAST = 20.0
"""Volt-amperes below which steps of instruments (0.1 A, 10 W) explain any quotient."""
IDLE = 1000.0
"""Volt-amperes below which power far less than that may be an idle supply's, not a wrong unit."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A feed whose readings contradict each other."""

    rows: NDArray[np.intp]
    """Places of its power and of its currents."""
    says: str


class PowerBalance:
    """The feeds among the series of one layout."""

    def __init__(self, table: SeriesTable, series: Ids) -> None:
        found: dict[tuple[str, ...], dict[Metric, dict[str, int]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        for row, one in enumerate(series.tolist()):
            metric = table.metric(one)
            if metric in {FEED_POWER, FEED_CURRENT, FEED_VOLTAGE, FEED_POWER_FACTOR}:
                rack, feed, *phase = table.labels(one)
                found[rack, feed][metric]["".join(phase)] = row
        kept = {
            place: said
            for place, said in found.items()
            if FEED_POWER in said and _paired(said[FEED_CURRENT], said[FEED_VOLTAGE])
        }
        self._names = ["/".join(dict.fromkeys(place)) for place in kept]
        pairs = [
            (number, current, voltage)
            for number, said in enumerate(kept.values())
            for current, voltage in _paired(said[FEED_CURRENT], said[FEED_VOLTAGE])
        ]
        self._of = np.array([one for one, _, _ in pairs], np.intp)
        self._current = np.array([one for _, one, _ in pairs], np.intp)
        self._voltage = np.array([one for _, _, one in pairs], np.intp)
        self._power = np.array([said[FEED_POWER][""] for said in kept.values()], np.intp)
        self._factor = np.array(
            [said[FEED_POWER_FACTOR].get("", -1) for said in kept.values()], np.intp
        )

    def doubts(self, values: Floats) -> Iterator[Doubt]:
        """Yield the feeds that contradict themselves; values in the order of the series."""
        if not len(self._power):
            return
        with np.errstate(over="ignore"):  # what is too much to be is refused by its range
            each = values[self._current] * values[self._voltage]
        apparent = np.bincount(self._of, each, len(self._power))
        power = values[self._power]
        factor = np.where(self._factor >= 0, np.abs(values[self._factor]), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = power / (apparent * np.where(factor > 0, factor, 1.0))
            decades = np.log10(quotient)
        decades[~np.isfinite(decades)] = 0.0  # nothing flows, or not all of it is known
        wrong = (np.abs(decades - np.round(decades)) < NEAR) & (np.round(decades) != 0)
        idle = (decades < 0) & ~(factor > 0)
        small = np.fmax(power, apparent) < np.where(idle, IDLE, LEAST)
        for one in np.flatnonzero(wrong & ~small).tolist():
            rows = np.append(self._current[self._of == one], self._power[one])
            yield Doubt(
                rows,
                f"feed {self._names[one]}: {power[one]:g} W for {apparent[one]:.4g} VA, off by "
                f"{10.0 ** abs(np.round(decades[one])):g}; check scale and unit of both",
            )


def _paired(currents: dict[str, int], voltages: dict[str, int]) -> list[tuple[int, int]]:
    """Return current and voltage by phase; all phases, or none."""
    if not currents or not all(phase in voltages or "" in voltages for phase in currents):
        return []
    return [(row, voltages.get(phase, voltages.get("", row))) for phase, row in currents.items()]
