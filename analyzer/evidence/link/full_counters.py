"""Full counters: InfiniBand's classic ones stop at their end, and then tell nothing more.

A counter that stands at its end because the link errs is no sign that it has ceased to. What was
wrong stays so until the counter is cleared or the link has come up anew.
"""

from dataclasses import replace

import numpy as np

from analyzer.evidence.durations import Bools, heard
from analyzer.evidence.link.measures import SELDOM
from fabrichealth.catalogue.ports import LINK_RECOVERIES
from fabrichealth.model import Changes, Finding, View

SATURATED = (65_535.0, 4_294_967_295.0)
"""Where InfiniBand's classic counters stop (IBTA PMA): at it they say "at least"."""

SATURATED_BYTE = 255.0
"""The same of its counters of retrains and falls."""

TOLD = "; its counter is full since and must be cleared to tell whether it goes on"

COUNTERS = frozenset(one.metric for one in SELDOM)


def full(changes: Changes) -> Bools:
    """Return which counters stand at their end ([r])."""
    found = np.isin(changes.value, SATURATED)
    if changes.metric is LINK_RECOVERIES:
        found |= changes.value == SATURATED_BYTE
    return np.asarray(found, np.bool_)


def blinded(view: View, known: Finding, settled: float) -> Finding | None:
    """Return what was said of a port whose counter filled up since, None if none of its did.

    `settled` (unix seconds) is when its link trained last: what was counted before is past.
    """
    if settled > known.since:
        return None
    for line in known.evidence:
        changes = view.changes(line.metric) if line.metric in COUNTERS else None
        row = None if changes is None else changes.row(*line.labels.values())
        if changes is not None and row is not None and (full(changes) & heard(changes))[row]:
            told = known.because.removesuffix(TOLD) + TOLD
            return replace(known, at=view.now, because=told)
    return None
