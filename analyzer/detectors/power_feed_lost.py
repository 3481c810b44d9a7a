"""A feed that is dead, while its partner carries everything.

The voltage of a phase is gone, or its load went over to the partner, or the meter that the feed
itself supplies fell silent while the partner took over. A rack that was switched off, an idle
spare, and a meter that merely does not answer are none.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.power.feeds import Feeds, feeds, lately
from analyzer.evidence.power.losses import Loss, losses
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import CLOCK, POWER, THROTTLED, UTILIZATION
from fabrichealth.catalogue.power import FEED_BREAKER, FEED_CURRENT, FEED_VOLTAGE
from fabrichealth.kinds import POWER_FEED_LOST
from fabrichealth.model import Evidence, Finding, Place, View
from fabrichealth.settings import Duration, seconds


class PowerFeedLostSettings(DetectorSettings):
    """Power-feed-lost section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll."""

    taken_over: float = Field(default=0.5, gt=0, le=1)
    """Where no voltage is read, the partner must have taken over this share of the load (half of
    it where the meter itself says that nothing flows), or of what braked machines still draw."""


class PowerFeedLost(Detector[PowerFeedLostSettings]):
    """Voltage gone, or load gone over to the partner; score 1.0 is a feed that is lost."""

    kinds = (POWER_FEED_LOST,)
    metrics = (FEED_CURRENT, FEED_VOLTAGE, FEED_BREAKER, THROTTLED, CLOCK, UTILIZATION, POWER)
    settings_type = PowerFeedLostSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each feed that is lost."""
        found = feeds(view)
        before = {str(one.about): one.since for one in view.before}
        for loss in losses(view, found, self.settings.taken_over):
            about, worst = Place("feed", loss.name), _worst(found, loss.name)
            yield Finding(
                kind=POWER_FEED_LOST,
                about=about,
                score=1.0,
                since=before.get(str(about), loss.since),
                at=loss.at,
                evidence=[
                    evidence(loss.metric, loss.labels, loss.value, loss.at, loss.says, loss.usual),
                    *_partner(found, worst),
                ],
                because=_because(found, loss, worst),
                grounds=("lost",),
                witnesses=(loss.known_by,),
                detail=loss.detail,
            )


def _because(found: Feeds, loss: Loss, worst: tuple[int, float] | None) -> str:
    said = f"{loss.name}: {loss.says}"
    if loss.taken:
        said = f"{said}; {loss.taken}"
    if worst is not None:
        row, share = worst
        other = found.names[int(found.feed_of[row])]
        group = found.group == found.group[found.names.index(other)]
        alone = " alone" if group.sum() <= 2 else ""
        said = f"{said}; {other} carries up to {share:.0%} of its breaker{alone}"
    return said


def _worst(found: Feeds, name: str) -> tuple[int, float] | None:
    """Return the phase of its partners that is loaded most, and its load."""
    feed = found.names.index(name) if name in found.names else -1
    if feed < 0 or found.partner[feed] < 0:
        return None
    rows = found.others(feed)
    load = lately(found.current, found.load, 0.0)[rows]
    if not np.isfinite(load).any():
        return None
    return int(rows[np.nanargmax(load)]), float(np.nanmax(load))


def _partner(found: Feeds, worst: tuple[int, float] | None) -> Iterator[Evidence]:
    if worst is None:
        return
    row, share = worst
    rating = float(found.breaker[found.feed_of[row]])
    yield evidence(
        FEED_CURRENT, found.current.labels(row), float(found.current.last[row]),
        float(found.current.last_at[row]),
        f"{found.phase_name(row)} of the partner: {share:.0%} of its breaker", rating,
    )  # fmt: skip
