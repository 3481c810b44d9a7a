"""Reasons: what an accelerator that lags says itself of why: throttling, heat."""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain.inventory import Inventory, Rows
from analyzer.evidence.durations import fresh
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import TEMPERATURE, THROTTLED
from fabrichealth.model import Evidence, View

THROTTLES = 0.05
"""Throttled for this share of the time more than its peers are is a reason,"""

WARMER = 8.0
"""and so are so many kelvin more than they have."""


@dataclass(frozen=True)
class Reason:
    """One reason, in words and as a line of evidence."""

    says: str
    line: Evidence


def reasons(view: View, stock: Inventory, ill: Rows, group: Rows) -> list[Reason]:
    """Return why accelerators lag, as far as they say so themselves, beside their peers."""
    return [*_throttled(view, stock, ill, group), *_hot(view, stock, ill, group)]


def _throttled(view: View, stock: Inventory, ill: Rows, group: Rows) -> list[Reason]:
    window = view[THROTTLED]
    if not len(window):
        return []
    place, heard = stock.places(window), fresh(window)
    found = []
    for row in np.flatnonzero(heard & np.isin(place, ill)).tolist():
        name, reason = window.labels(row)
        alike = window.codes("reason") == window.codes("reason")[row]
        others = heard & alike & np.isin(place, group) & ~np.isin(place, ill)
        usual = float(np.median(window.last[others])) if others.any() else 0.0
        share = float(window.last[row])
        if share >= usual + THROTTLES:
            why = reason or "something"
            says = f"{why} throttles {name} {share:.0%} of the time"
            at = float(window.last_at[row])
            line = evidence(THROTTLED, (name, reason), share, at, f"throttled by {why}", usual)
            found.append((share, Reason(says, line)))
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])[:2]]


def _hot(view: View, stock: Inventory, ill: Rows, group: Rows) -> list[Reason]:
    window = view[TEMPERATURE]
    if not len(window):
        return []
    place, heard = stock.places(window), fresh(window)
    mine = np.flatnonzero(heard & np.isin(place, ill))
    others = heard & np.isin(place, group) & ~np.isin(place, ill)
    if not len(mine) or not others.any():
        return []
    hottest = int(mine[np.argmax(window.last[mine])])
    value, usual = float(window.last[hottest]), float(np.median(window.last[others]))
    if value < usual + WARMER:
        return []
    (name,) = window.labels(hottest)
    says = f"{name} is {value - usual:.0f} K warmer than its peers"
    at = float(window.last_at[hottest])
    return [Reason(says, evidence(TEMPERATURE, (name,), value, at, "its temperature", usual))]
