"""A feed whose phases carry unequal current: the fullest one trips while the others have room.

Imbalance is the largest distance of a phase from the mean of the three, over that mean. A feed
that carries little is not judged: one server is an imbalance then.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import unbroken
from analyzer.evidence.power.feeds import PHASES, Feeds, feeds, lately
from analyzer.evidence.power.heat import borne_out
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT
from fabrichealth.kinds import POWER_PHASE_IMBALANCE
from fabrichealth.model import Finding, Floats, Place, View, Window
from fabrichealth.settings import Duration, seconds


class PowerPhaseImbalanceSettings(DetectorSettings):
    """Power-phase-imbalance section of the configuration."""

    window: Duration = seconds(3600)
    """How much of the recent past is looked at, poll by poll."""

    span: Duration = seconds(900)
    """Over so long currents are averaged: jobs and supplies switch."""

    imbalance: float = Field(default=0.20, gt=0, le=2)
    """Largest distance of a phase from the mean, over the mean."""

    release: float = Field(default=0.8, gt=0, le=1)
    """Who was unbalanced is so until it falls below this share of that."""

    least_load: float = Field(default=0.20, ge=0, le=1)
    """Feeds whose mean current is below this share of the breaker are not judged."""


class PowerPhaseImbalance(Detector[PowerPhaseImbalanceSettings]):
    """Distance of the worst phase from the mean; score 1.0 is the imbalance allowed."""

    kinds = (POWER_PHASE_IMBALANCE,)
    metrics = (FEED_CURRENT, FEED_BREAKER)
    settings_type = PowerPhaseImbalanceSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each feed whose phases differ too much."""
        own, found = self.settings, feeds(view)
        current = found.current
        if not len(current):
            return
        usual = np.where(found.heard, lately(current, borne_out(current.values), own.span), np.nan)
        phases = found.by_phase(usual)
        middle = np.where(np.isfinite(phases).all(axis=1), phases.sum(axis=1) / len(PHASES), np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.abs(phases - middle[:, None]) / middle[:, None]
            loaded = middle >= own.least_load * found.breaker
        before = {str(one.about): one for one in view.before}
        for feed in np.flatnonzero(loaded & np.isfinite(apart).all(axis=1)).tolist():
            worst = int(np.argmax(apart[feed]))
            about = Place("feed", found.names[feed])
            known = before.get(str(about))
            if apart[feed, worst] < own.imbalance * (1.0 if known is None else own.release):
                continue
            yield _finding(found, about, feed, phases[feed], float(apart[feed, worst]),
                           own.imbalance, known)  # fmt: skip

    def coverage(self, view: View) -> float:
        """Return the share of feeds all of whose phases are heard and whose breaker is known."""
        found = feeds(view)
        if not len(found):
            return 0.0
        heard = found.by_phase(np.where(found.heard, 1.0, np.nan))
        return float((np.isfinite(heard).all(axis=1) & np.isfinite(found.breaker)).mean())


def _finding(
    found: Feeds,
    about: Place,
    feed: int,
    phases: Floats,
    apart: float,
    allowed: float,
    known: Finding | None,
) -> Finding:
    worst = int(np.argmax(np.abs(phases - phases.mean())))
    rows = [int(np.flatnonzero((found.feed_of == feed) & (found.phase_of == n))[0])
            for n in range(len(PHASES))]  # fmt: skip
    since = _since(found.current, rows, worst, allowed)
    words = ", ".join(f"{one:.0f}" for one in phases.tolist())
    most = float(phases.max() / found.breaker[feed])
    return Finding(
        kind=POWER_PHASE_IMBALANCE,
        about=about,
        score=max(apart / allowed, 1.0),
        since=since if known is None else min(since, known.since),
        at=float(found.current.last_at[rows[worst]]),
        evidence=[
            evidence(
                FEED_CURRENT, found.current.labels(row), float(phases[number]),
                float(found.current.last_at[row]),
                f"{phases[number] / phases.mean() - 1:+.0%} from the mean of the three phases",
                float(phases.mean()),
            )
            for number, row in enumerate(rows)
        ],
        because=(
            f"phases of {about.id} carry {words} A: phase {PHASES[worst]} is {apart:.0%} off the "
            f"mean, {allowed:.0%} is allowed; the fullest is at {most:.0%} of the breaker"
        ),
    )  # fmt: skip


def _since(window: Window, rows: list[int], worst: int, allowed: float) -> float:
    """Return since when the worst phase has been off the mean of three without a break."""
    three = [window.select(np.array([row], np.intp)) for row in rows]
    one = three[worst]
    middle = np.mean([part.values for part in three], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(one.values - middle) / middle >= allowed * 0.8
    since, _ = unbroken(off | ~np.isfinite(middle), one)
    return float(since[0]) if np.isfinite(since[0]) else float(one.last_at[0])
