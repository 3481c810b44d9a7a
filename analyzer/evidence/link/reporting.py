"""Reporting: states and health of links as verdict series, by receiving end and for the worst."""

from collections.abc import Iterator
from math import isnan

import numpy as np

from analyzer.evidence.link.gathering import Gathered
from analyzer.evidence.link.states import STATES, Standings
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.verdicts import LINK_HEALTH, LINK_STATE, SECONDS_TO_VERDICT


def link_verdicts(known: Gathered, found: Standings) -> Iterator[Verdict]:
    """Yield the series of every link; its own (side empty) are those of its worse end.

    A ratio that is not known is absent, and so are all states but the present one.
    """
    worst: dict[str, tuple[int, float, float]] = {}
    nothing = float("nan")
    rows = zip(found.state.tolist(), found.health.tolist(), found.wait.tolist(), strict=True)
    for (link, side), (state, health, wait) in zip(known.ends.sides, rows, strict=True):
        if not link:
            continue
        yield from _series(link, side, state, health, wait)
        before = worst.get(link, (0, nothing, nothing))
        worst[link] = (
            max(before[0], state),
            float(np.fmin(before[1], health)),
            float(np.fmax(before[2], wait)),
        )
    for link, (state, health, wait) in worst.items():
        yield from _series(link, "", state, health, wait)


def _series(link: str, side: str, state: int, health: float, wait: float) -> Iterator[Verdict]:
    yield Verdict(LINK_STATE, (link, side, STATES[state]), 1.0)
    if not isnan(health):
        yield Verdict(LINK_HEALTH, (link, side), health)
    if wait > 0:
        yield Verdict(SECONDS_TO_VERDICT, (link, side), wait)
