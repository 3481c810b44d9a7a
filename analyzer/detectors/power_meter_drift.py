"""A meter that contradicts what else is known of its feed's power, for half an hour.

The power read against V x I x power factor, against the rise of its energy counter, and against
what the rack's own meter leaves for it. Where no power factor is read, more power than V x I is
impossible all the same. Of several feeds of one rack that the rack's meter contradicts together,
none is accused: it may be the rack's.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.power.meters import (
    ENERGY,
    PRODUCT,
    RACK,
    READ,
    WORDS,
    Metered,
    contradicts_since,
    metered,
)
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.power import (
    FEED_CURRENT,
    FEED_ENERGY,
    FEED_POWER,
    FEED_POWER_FACTOR,
    FEED_VOLTAGE,
    RACK_POWER,
)
from fabrichealth.kinds import POWER_METER_DRIFT
from fabrichealth.model import Finding, Floats, Place, View
from fabrichealth.settings import Duration, seconds


class PowerMeterDriftSettings(DetectorSettings):
    """Power-meter-drift section of the configuration."""

    window: Duration = seconds(2100)
    """How much of the recent past is looked at, poll by poll."""

    span: Duration = seconds(1800)
    """It must be so on the mean of so long .."""

    recent: Duration = seconds(300)
    """.. and of this, the newest, where that is known: energy counters are coarse."""

    every: Duration = seconds(60)
    """How often it judges."""

    apart: float = Field(default=0.05, gt=0, lt=1)
    """Share by which two ways of knowing one power may differ."""

    least_watts: float = Field(default=500.0, ge=0)
    """Feeds that carry less are not judged: meters are coarse at small load."""


class PowerMeterDrift(Detector[PowerMeterDriftSettings]):
    """Distance of the power read from other ways to know it; score 1.0 is the share allowed."""

    kinds = (POWER_METER_DRIFT,)
    metrics = (
        FEED_POWER,
        FEED_VOLTAGE,
        FEED_CURRENT,
        FEED_POWER_FACTOR,
        FEED_ENERGY,
        RACK_POWER,
    )
    settings_type = PowerMeterDriftSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each feed whose meter contradicts itself or the rack's."""
        long = metered(view, self.settings.span)
        late = metered(view, self.settings.recent)
        if not long.names:
            return
        off = [_off(one, self.settings.least_watts) for one in (long, late)]
        same = np.isnan(off[1]) | (np.sign(off[0]) == np.sign(off[1]))
        allowed = [one.allowed(self.settings.apart) for one in (long, late)]
        both = np.fmin(np.abs(off[0]) / allowed[0], np.abs(off[1]) / allowed[1])
        both = np.where(same & np.isfinite(off[0]), both, 0.0)
        both[:, RACK] = np.where(_alone(long, both[:, RACK] >= 1.0), both[:, RACK], 0.0)
        score = np.nan_to_num(both)
        before = {str(one.about): one.since for one in view.before}
        for feed in np.flatnonzero(score.max(axis=1) >= 1.0).tolist():
            yield _finding(
                view, long, feed, score[feed], off[0][feed], allowed[0][feed], self.settings, before
            )


def _off(one: Metered, least: float) -> Floats:
    """Return by what share the power read differs from each other way ([f, way]); NaN: unknown."""
    read = one.watts[:, READ][:, None]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        off = (read - one.watts) / one.watts
        impossible = (one.watts[:, READ] - one.apparent) / one.apparent
    unknown = ~np.isfinite(one.watts[:, PRODUCT])
    off[:, PRODUCT] = np.where(
        unknown & (impossible > 0), impossible, np.where(unknown, np.nan, off[:, PRODUCT])
    )
    enough = np.fmax.reduce(np.where(np.isfinite(one.watts), one.watts, 0.0), axis=1) >= least
    return np.where(enough[:, None] & np.isfinite(off), off, np.nan)


def _alone(one: Metered, off: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return which feeds are the only one of their rack that its meter contradicts ([f])."""
    feeds_of: dict[str, int] = {}
    for rack, wrong in zip(one.racks, off.tolist(), strict=True):
        feeds_of[rack] = feeds_of.get(rack, 0) + int(wrong)
    return np.array([feeds_of[rack] == 1 for rack in one.racks], np.float64)


def _finding(
    view: View,
    one: Metered,
    feed: int,
    score: Floats,
    off: Floats,
    allowed: Floats,
    own: PowerMeterDriftSettings,
    before: dict[str, float],
) -> Finding:
    name, row = one.names[feed], one.row_of[one.names[feed]]
    worst = int(np.argmax(score))
    about = Place("feed", name)
    at = float(one.read.last_at[row])
    began = (
        contradicts_since(view, name, one.read, row, own.apart / 2) if worst == PRODUCT else None
    )
    since = max(float(np.nanmin(one.read.times[row])), view.now - own.span)
    since = since if began is None else began
    agree = [
        way for way in (PRODUCT, ENERGY, RACK)
        if way != worst and np.isfinite(one.watts[feed, way]) and score[way] < 1.0
    ]  # fmt: skip
    with_read = f", {WORDS[agree[0]]} agrees with it" if agree else ""
    other = one.watts[feed, worst]
    beside = one.apparent[feed] if not np.isfinite(other) else other
    words = WORDS[worst] if np.isfinite(other) else "V x I, the most that can flow"
    return Finding(
        kind=POWER_METER_DRIFT,
        about=about,
        score=float(score[worst]),
        since=min(since, before.get(str(about), since)),
        at=at,
        evidence=[
            evidence(
                FEED_POWER, one.read.labels(row), float(one.watts[feed, READ]), at,
                f"{off[worst]:+.1%} beside {words}", float(beside),
            )
        ],
        because=(
            f"{name} reads {one.watts[feed, READ]:.0f} W where {words} says {beside:.0f} W, "
            f"{off[worst]:+.1%} over {own.span / 60:.0f} min; {allowed[worst]:.0%} is "
            f"allowed{with_read}"
        ),
    )  # fmt: skip
