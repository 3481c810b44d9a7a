"""A rack that runs into its power cap: flat at the limit, and its accelerators slower for it.

High power alone is what a rack is for. Where accelerators speak, some of them must say that power
throttles them, or be slower than before while they are busy; where none speaks, only power that is
flat at the limit for long counts, and the finding says so.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.power.caps import Capped, Slowed, capped, slowed
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import CLOCK, THROTTLED, UTILIZATION
from fabrichealth.catalogue.power import RACK_POWER, RACK_POWER_LIMIT
from fabrichealth.kinds import POWER_CAPPED
from fabrichealth.model import Evidence, Finding, Place, View
from fabrichealth.settings import Duration, seconds


class PowerCappedSettings(DetectorSettings):
    """Power-capped section of the configuration."""

    window: Duration = seconds(1800)
    """How much of the recent past is looked at, poll by poll."""

    span: Duration = seconds(300)
    """A rack is at its limit for so long."""

    alone: Duration = seconds(1200)
    """And for so long where no accelerator says how fast it is."""

    close: float = Field(default=0.02, gt=0, lt=0.5)
    """Power within this share of the limit, or beyond, is at the limit."""

    polls: float = Field(default=0.8, gt=0, le=1)
    """Such a share of the polls must be."""

    slower: float = Field(default=0.05, gt=0, lt=1)
    """Clocks that fell by this share, or this share of time throttled, are the cap's doing."""

    busy: float = Field(default=0.3, ge=0, le=1)
    """Accelerators used less than this are slow because they have nothing to do."""


class PowerCapped(Detector[PowerCappedSettings]):
    """Polls at the limit over polls of the span; score 1.0 is the share allowed."""

    kinds = (POWER_CAPPED,)
    metrics = (RACK_POWER, RACK_POWER_LIMIT, THROTTLED, CLOCK, UTILIZATION)
    settings_type = PowerCappedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each rack that is capped."""
        own = self.settings
        found = capped(view, own.span, own.close)
        clipped, long = found.clipped(own.span), found.clipped(own.alone)
        before = {str(one.about): one.since for one in view.before}
        at_limit = (clipped >= own.polls) & np.isfinite(found.share)
        for row in np.flatnonzero(at_limit).tolist():
            (rack,) = found.power.labels(row)
            since = float(found.since[row])
            if not np.isfinite(since):
                continue
            said = slowed(view, rack, since, own.slower, own.busy)
            held = found.power.last_at[row] - since >= own.alone * own.polls
            flat = long[row] >= own.polls and held
            if said.many == 0 and (said.heard > 0 or not flat):
                continue
            yield _finding(found, row, said, float(clipped[row]) / own.polls, before)


def _finding(
    found: Capped, row: int, said: Slowed, score: float, before: dict[str, float]
) -> Finding:
    (rack,) = found.power.labels(row)
    about = Place("rack", rack)
    limit, share = float(found.limit[row]), float(found.share[row])
    since = float(found.since[row])
    at = float(found.power.last_at[row])
    words = _slow_words(said)
    return Finding(
        kind=POWER_CAPPED,
        about=about,
        score=max(score, 1.0),
        since=min(since, before.get(str(about), since)),
        at=at,
        evidence=[
            evidence(
                RACK_POWER, (rack,), float(found.power.last[row]), at,
                f"{share:.1%} of the limit, flat", limit,
            ),
            *_slow(said),
        ],
        because=f"{rack} draws {share * limit / 1e3:.1f} kW of {limit / 1e3:.1f} kW; {words}",
        victims=tuple(
            Place("device", name)
            for name in sorted({window.labels(int(one))[0]
                                for window, rows in (said.throttled, said.clocks) for one in rows})
        ),
    )  # fmt: skip


def _slow_words(said: Slowed) -> str:
    if len(said.throttled[1]):
        return f"power throttles {len(said.throttles)} of its {said.heard} accelerators"
    if len(said.clocks[1]):
        return (
            f"clocks of {len(said.clocks[1])} of its {said.heard} accelerators "
            f"fell by {said.fell:.0%}"
        )
    return "flat at its limit; how fast its accelerators run is not read"


MOST_LINES = 4


def _slow(said: Slowed) -> list[Evidence]:
    lines = [
        evidence(
            window.metric, window.labels(row), float(window.last[row]),
            float(window.last_at[row]), words,
        )
        for (window, rows), words in (
            (said.throttled, "of the time throttled for power"),
            (said.clocks, "its clock; faster before the rack was at its limit"),
        )
        for row in rows[:MOST_LINES].tolist()
    ]  # fmt: skip
    return lines[:MOST_LINES]
