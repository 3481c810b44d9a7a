"""A feed that carries more than its breaker may for long, and when that breaker will trip.

Three limits, each with its own span: continuous load over 15 minutes (the 80 % rule for
continuous loads of the NEC), load over a minute, and the heat that the breaker itself remembers
(`evidence.power.heat`). A step of a job that is over within a minute is none. Where the feed's
partner carries nothing, it says so: that is why.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import unbroken
from analyzer.evidence.power.feeds import Feeds, feeds, lately
from analyzer.evidence.power.heat import borne_out, heat, seconds_to_trip
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT
from fabrichealth.kinds import POWER_OVERLOAD
from fabrichealth.model import Evidence, Finding, Floats, Forecast, Place, View
from fabrichealth.settings import Duration, seconds


class PowerOverloadSettings(DetectorSettings):
    """Power-overload section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll; breakers remember as long."""

    continuous: float = Field(default=0.80, gt=0, le=1.5)
    """Share of the breaker's rating that may flow for long; 1.0 for breakers rated so."""

    continuous_span: Duration = seconds(900)
    """Over so long the load is averaged for that."""

    short: float = Field(default=0.95, gt=0, le=2)
    """Share of the rating that may flow for a minute."""

    short_span: Duration = seconds(60)
    """Over so long the load is averaged for that."""

    heat: float = Field(default=0.90, gt=0, le=1)
    """Share of its trip point that the breaker's heat may reach."""

    thermal_time: Duration = seconds(600)
    """Time constant of a breaker's heat; it differs by type and size: see its curve."""

    release: float = Field(default=0.97, gt=0, le=1)
    """Who was overloaded is so until the load falls below this share of the limit."""


@dataclass(frozen=True)
class Limit:
    """One of the limits, and what each row says beside it ([s])."""

    name: str
    value: Floats
    allowed: float
    level: float
    """Load of a single poll that counts towards it."""
    says: str

    @property
    def score(self) -> Floats:
        """1.0 at the limit; 0 where nothing is known."""
        return np.nan_to_num(self.value / self.allowed)


class PowerOverload(Detector[PowerOverloadSettings]):
    """Load over the breaker's rating, by three spans; score 1.0 is the nearest of the limits."""

    kinds = (POWER_OVERLOAD,)
    metrics = (FEED_CURRENT, FEED_BREAKER)
    settings_type = PowerOverloadSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each overloaded feed: its worst phase."""
        found = feeds(view)
        if not len(found.current):
            return
        load = borne_out(found.load)
        theta = heat(load, found.current, self.settings.thermal_time)
        lately_carried = lately(found.current, load, self.settings.short_span)
        limits = self._limits(found, load, theta, lately_carried)
        score = np.where(found.heard, np.max([one.score for one in limits], axis=0), 0.0)
        before = {str(one.about.id): one for one in view.before if isinstance(one.about, Place)}
        kept = np.array([name in before for name in found.names], np.bool_)[found.feed_of]
        over = score >= np.where(kept, self.settings.release, 1.0)
        trip = seconds_to_trip(theta, lately_carried, self.settings.thermal_time)
        for feed in np.unique(found.feed_of[over]).tolist():
            rows = np.flatnonzero(over & (found.feed_of == feed))
            row = int(rows[np.argmax(score[rows])])
            limit = max(limits, key=lambda one: float(one.score[row]))
            met = [bool((one.score[rows] >= 1.0).any()) for one in limits]
            # in the order of how soon a breaker trips: who is beyond a later one is beyond all
            grounds = tuple(one.name for n, one in enumerate(limits) if any(met[n:]) or not n)
            yield _finding(view, found, row, limit, float(trip[row]), before, grounds)

    def coverage(self, view: View) -> float:
        """Return the share of phases that are heard and whose breaker is known."""
        found = feeds(view)
        if not len(found.current):
            return 0.0
        return float((found.heard & np.isfinite(found.breaker[found.feed_of])).mean())

    def _limits(self, found: Feeds, load: Floats, theta: Floats, short: Floats) -> list[Limit]:
        own = self.settings
        return [
            Limit(
                "continuous", lately(found.current, load, own.continuous_span),
                own.continuous, own.continuous,
                f"over {own.continuous_span / 60:.0f} min; {own.continuous:.0%} may flow for long",
            ),
            Limit(
                "short", short, own.short, own.short,
                f"over {own.short_span:.0f} s; {own.short:.0%} may flow so long",
            ),
            Limit(
                "heat", theta, own.heat, float(np.sqrt(own.heat)),
                "of the heat at which the breaker trips",
            ),
        ]  # fmt: skip


def _finding(
    view: View, found: Feeds, row: int, limit: Limit, trip: float, before: dict[str, Finding],
    grounds: tuple[str, ...],
) -> Finding:  # fmt: skip
    feed = int(found.feed_of[row])
    name, rating = found.names[feed], float(found.breaker[feed])
    one = found.current.select(np.array([row], np.intp))
    load = found.load[row : row + 1]
    with np.errstate(invalid="ignore"):
        since, _ = unbroken(load >= limit.level * 0.98, one)
    at = float(one.last_at[0])
    began = float(since[0]) if np.isfinite(since[0]) else at
    if name in before:
        began = min(began, before[name].since)
    amperes, share = float(one.last[0]), float(limit.value[row])
    soon = np.isfinite(trip)
    when = ""
    if soon:
        when = "; at this load it trips now" if trip <= 0 else (
            f"; at this load it trips in about {max(trip / 60, 1):.0f} min"
        )  # fmt: skip
    lost = _partner(found, feed)
    return Finding(
        kind=POWER_OVERLOAD,
        about=Place("feed", name),
        score=max(share / limit.allowed, 1.0),
        since=began,
        at=at,
        evidence=[
            evidence(
                FEED_CURRENT, one.labels(0), amperes, at,
                f"{found.phase_name(row)}: {share:.0%} {limit.says}", limit.allowed * rating,
            ),
            *lost,
        ],
        because=(
            f"{found.phase_name(row)} of {name} carries {amperes:.0f} A of {rating:.0f} A, "
            f"{share:.0%} {limit.says}{when}"
            + ("; its partner carries nothing" if lost else "")
        ),
        forecast=(
            Forecast("trip", view.now + trip / 2, view.now + trip, view.now + 2 * trip)
            if soon else None
        ),
        grounds=grounds,
    )  # fmt: skip


NOTHING = 0.02
"""Share of its rating below which a feed carries nothing."""


def _partner(found: Feeds, feed: int) -> list[Evidence]:
    """Return what a partner says that carries nothing."""
    every = found.others(feed)
    for other in np.unique(found.feed_of[every]).tolist():
        rows = every[found.feed_of[every] == other]
        last = found.current.last[rows]
        rating = found.breaker[other] if np.isfinite(found.breaker[other]) else found.breaker[feed]
        if not (last > NOTHING * rating).any():
            return [
                evidence(
                    FEED_CURRENT,
                    found.current.labels(int(rows[0])),
                    float(last[0]),
                    float(found.current.last_at[rows[0]]),
                    f"{found.names[other]}, which shares its load, carries nothing",
                )
            ]
    return []  # fmt: skip
