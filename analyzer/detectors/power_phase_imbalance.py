"""A feed whose phases carry unequal current: the fullest one trips while the others have room.

Imbalance is the largest distance of a phase from the mean of those that the feed uses, over that
mean. A phase that never carried anything is wired and not used, by design, and no part of it; one
that carried load and carries nothing while the others do is told as that. A feed that carries
little is not judged: one server is an imbalance then.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import fresh, unbroken
from analyzer.evidence.power.feeds import Feeds, Places, feeds, lately
from analyzer.evidence.power.heat import borne_out
from analyzer.evidence.power.phases import Use, use
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT, FEED_VOLTAGE
from fabrichealth.kinds import POWER_PHASE_IMBALANCE
from fabrichealth.model import Evidence, Finding, Floats, Place, View
from fabrichealth.settings import Duration, seconds

LIVE = 50.0
"""Volts from which a phase has voltage; what a dead one picks up from the others is less."""


class PowerPhaseImbalanceSettings(DetectorSettings):
    """Power-phase-imbalance section of the configuration."""

    window: Duration = seconds(3600)
    """How much of the recent past is looked at, poll by poll."""

    baseline: Duration = seconds(14 * 86_400.0)
    """A phase is used that carried anything in so long a past."""

    span: Duration = seconds(900)
    """Over so long currents are averaged: jobs and supplies switch."""

    imbalance: float = Field(default=0.20, gt=0, le=2)
    """Largest distance of a phase from the mean, over the mean."""

    release: float = Field(default=0.8, gt=0, le=1)
    """Who was unbalanced is so until it falls below this share of that."""

    least_load: float = Field(default=0.20, ge=0, le=1)
    """Feeds whose mean current is below this share of the breaker are not judged."""

    unused: float = Field(default=0.01, ge=0, lt=1)
    """A current up to this share of the breaker is none: meters say as much of an idle phase."""


class PowerPhaseImbalance(Detector[PowerPhaseImbalanceSettings]):
    """Distance of the worst phase from the mean; score 1.0 is the imbalance allowed."""

    kinds = (POWER_PHASE_IMBALANCE,)
    metrics = (FEED_CURRENT, FEED_BREAKER, FEED_VOLTAGE)
    recalls = (FEED_CURRENT,)
    settings_type = PowerPhaseImbalanceSettings

    @property
    def looks_back(self) -> float:
        """How long the past must be kept."""
        return self.settings.baseline

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each feed whose phases differ too much."""
        own, found = self.settings, feeds(view)
        current = found.current
        if not len(current):
            return
        uses = use(found, view.past(FEED_CURRENT), own.unused)
        usual = np.where(found.heard, lately(current, borne_out(current.values), own.span), np.nan)
        phases = found.by_phase(np.where(uses.used, usual, np.nan))
        needed = found.by_phase(uses.used.astype(np.float64)) > 0
        whole = (np.isfinite(phases) == needed).all(axis=1) & (needed.sum(axis=1) > 1)
        lost = found.by_phase(uses.lost.astype(np.float64)) > 0
        for feed in np.flatnonzero(whole).tolist():
            mine = phases[feed, needed[feed]]
            carry = phases[feed, needed[feed] & ~lost[feed]]
            if not len(carry) or not carry.mean() >= own.least_load * found.breaker[feed]:
                continue
            about = Place("feed", found.names[feed])
            known = next((one for one in view.before if str(one.about) == str(about)), None)
            apart = float(np.max(np.abs(mine - mine.mean())) / mine.mean())
            if apart >= own.imbalance * (1.0 if known is None else own.release):
                yield _finding(view, found, uses, feed, usual, own.imbalance, known)

    def coverage(self, view: View) -> float:
        """Return the share of feeds all of whose phases are heard and whose breaker is known."""
        found = feeds(view)
        if not len(found):
            return 0.0
        heard = found.by_phase(np.where(found.heard, 1.0, np.nan))
        return float((np.isfinite(heard).all(axis=1) & np.isfinite(found.breaker)).mean())


def _finding(
    view: View,
    found: Feeds,
    uses: Use,
    feed: int,
    usual: Floats,
    allowed: float,
    known: Finding | None,
) -> Finding:
    """Return what is said of a feed; `usual` is the mean of each current of late ([s])."""
    rows = np.flatnonzero((found.feed_of == feed) & uses.used)
    rows = rows[np.argsort(found.phase_of[rows])]
    phases = usual[rows]
    off = phases / phases.mean() - 1.0
    worst = int(np.argmax(np.abs(off)))
    name, row = found.names[feed], int(rows[worst])
    gone = [int(one) for one in rows if uses.lost[one]]
    since = float(np.nanmin(uses.since[gone])) if gone else _since(found, rows, worst, allowed)
    words = ", ".join(f"{one:.0f}" for one in phases.tolist())
    because = (
        f"phases of {name} carry {words} A: {found.phase_name(row)} is {abs(off[worst]):.0%} off "
        f"the mean, {allowed:.0%} is allowed; the fullest is at "
        f"{float(phases.max() / found.breaker[feed]):.0%} of the breaker"
    )
    return Finding(
        kind=POWER_PHASE_IMBALANCE,
        about=Place("feed", name),
        score=max(float(np.max(np.abs(off))) / allowed, 1.0),
        since=since if known is None else min(since, known.since),
        at=float(found.current.last_at[row]),
        evidence=[
            _line(found, uses, one, float(usual[one]), float(phases.mean()), len(rows))
            for one in rows.tolist()
        ],
        because=_lost(view, found, uses, gone, rows.tolist(), usual) if gone else because,
        grounds=tuple(f"nothing on {found.phase_name(one)}" for one in gone),
    )


def _line(found: Feeds, uses: Use, row: int, value: float, mean: float, many: int) -> Evidence:
    current, says = found.current, f"{value / mean - 1:+.0%} from the mean of the {many} phases"
    if uses.lost[row]:
        value, mean = float(current.last[row]), float(uses.carried[row])
        says = f"carries nothing, up to {mean:.0f} A before"
    at = float(current.last_at[row])
    return evidence(FEED_CURRENT, current.labels(row), value, at, says, mean)


def _lost(
    view: View, found: Feeds, uses: Use, gone: list[int], rows: list[int], usual: Floats
) -> str:
    """Return what is said of phases that carry nothing any more, and whether they have voltage."""
    feed, its = found.names[int(found.feed_of[gone[0]])], view[FEED_VOLTAGE]
    live = [its.labels(row)[1:]
            for row in np.flatnonzero(fresh(its) & (its.last >= LIVE)).tolist()]  # fmt: skip
    told = []
    for row in gone:
        voltage = found.current.labels(row)[1:] in live
        why = "it has voltage: what hung on it is off or behind a fuse" if voltage else (
            "its fuse or contact is open, or what hung on it is off"
        )  # fmt: skip
        told.append(
            f"{found.phase_name(row)} of {feed} carries nothing and carried up to "
            f"{uses.carried[row]:.0f} A, {why}"
        )
    others = [f"{found.phase_name(row)} {usual[row]:.0f} A" for row in rows if row not in gone]
    return f"{'; '.join(told)}; {' and '.join(others)} meanwhile"


def _since(found: Feeds, rows: Places, worst: int, allowed: float) -> float:
    """Return since when the worst phase has been off the mean of all without a break."""
    parts = [found.current.select(np.array([row], np.intp)) for row in rows]
    one = parts[worst]
    middle = np.mean([part.values for part in parts], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(one.values - middle) / middle >= allowed * 0.8
    since, _ = unbroken(off | ~np.isfinite(middle), one)
    return float(since[0]) if np.isfinite(since[0]) else float(one.last_at[0])
