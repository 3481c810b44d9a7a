"""Reporting: states and health of links as verdict series, by receiving end and for the worst.

Nearly all of a hundred thousand series say what they said before, so each pass builds only those
that changed.
"""

from dataclasses import dataclass, field
from math import isnan

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.link.gathering import Gathered
from analyzer.evidence.link.receivers import Places, Receivers
from analyzer.evidence.link.states import STATES, Standings
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.verdicts import LINK_HEALTH, LINK_STATE, SECONDS_TO_VERDICT
from fabrichealth.metric import Metric
from fabrichealth.model import Floats

Names = list[tuple[str, str]]


@dataclass
class _Told:
    """One metric's series as they were told last, by place in the names."""

    metric: Metric
    values: Floats = field(default_factory=lambda: np.empty(0))
    series: list[Verdict | None] = field(default_factory=list)

    def tell(self, names: Names, values: Floats) -> list[Verdict]:
        """Return the series of all values but NaN."""
        if len(self.values) != len(values):
            self.values, self.series = np.full(len(values), np.nan), [None] * len(values)
        same = (values == self.values) | (np.isnan(values) & np.isnan(self.values))
        places = np.flatnonzero(~same)
        names_of_changed = [names[place] for place in places.tolist()]
        changed = self._series(names_of_changed, values[places].tolist())
        for place, one in zip(places.tolist(), changed, strict=True):
            self.series[place] = one
        self.values = values
        return [one for one in self.series if one is not None]

    def _series(self, names: Names, values: list[float]) -> list[Verdict | None]:
        """Return the series of some values, None for NaN."""
        metric, pairs = self.metric, zip(names, values, strict=True)
        if metric is LINK_STATE:
            return [
                Verdict(metric, (*name, STATES[int(value)]), 1.0) if not isnan(value) else None
                for name, value in pairs
            ]
        return [Verdict(metric, name, value) if not isnan(value) else None for name, value in pairs]


@dataclass
class _Reported:
    """The names of what is told of some ports, and what was told last."""

    names: Names
    cabled: Places
    """Ports that have a link; their series come first, those of the links follow."""
    link: Places
    """Place of each of these ports' link among the links."""
    told: tuple[_Told, _Told, _Told]


def link_verdicts(known: Gathered, found: Standings) -> list[Verdict]:
    """Return the series of every link; its own (side empty) are those of its worse end.

    A ratio that is not known is absent, and so are all states but the present one.
    """
    kept = known.ends.reported
    if not isinstance(kept, _Reported):
        kept = known.ends.reported = _names(known.ends)
    wait = np.where(found.wait > 0, found.wait, np.nan)
    every = (found.state.astype(np.float64), found.health, wait)
    worse = (np.fmax, np.fmin, np.fmax)
    series: list[Verdict] = []
    for told, values, ufunc in zip(kept.told, every, worse, strict=True):
        sides = values[kept.cabled]
        links: NDArray[np.float64] = np.full(len(kept.names) - len(sides), np.nan)
        ufunc.at(links, kept.link, sides)
        series += told.tell(kept.names, np.concatenate([sides, links]))
    return series


def _names(ends: Receivers) -> _Reported:
    cabled = [place for place, (link, _) in enumerate(ends.sides) if link]
    number: dict[str, int] = {}
    link = [number.setdefault(ends.sides[place][0], len(number)) for place in cabled]
    names = [ends.sides[place] for place in cabled] + [(name, "") for name in number]
    told = (_Told(LINK_STATE), _Told(LINK_HEALTH), _Told(SECONDS_TO_VERDICT))
    return _Reported(names, np.array(cabled, np.intp), np.array(link, np.intp), told)
