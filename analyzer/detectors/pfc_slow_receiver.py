"""A host that takes data slower than it arrives, and stops its switch for some of the time.

Below a storm's duty and for longer than any burst: its pauses follow the rate that it receives.
Counts of frames are enough to speak of it, since nobody is called at night for it; the share is
then an upper bound and said to be one. A port that is stopped itself is a victim, not a receiver.
"""

from collections.abc import Iterator

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.gathering import METRICS
from analyzer.evidence.pause.reasons import Origin, Reasons, reasons
from analyzer.evidence.pause.telling import begun, branches, explains, waiting_places
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import PAUSE_WAIT, PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import PFC_SLOW_RECEIVER
from fabrichealth.model import Finding, View
from fabrichealth.settings import Duration, seconds

NEGLIGIBLE = 0.1
"""Of the least share: so little in a poll is a break."""


class PfcSlowReceiverSettings(DetectorSettings):
    """PFC-slow-receiver section of the configuration."""

    window: Duration = seconds(90)
    """How much of the recent past is looked at, poll by poll; the share is of eight polls of it."""

    memory: Duration = seconds(3600)
    """How far back the speed of ports is remembered."""

    share: float = Field(default=0.01, gt=0, le=1)
    """A receiver that stops its switch for this share of the time is slow."""

    storm: float = Field(default=0.5, gt=0, le=1)
    """From this share on it is a storm (`pfc_storm.duty`), where time is counted."""

    hold: Duration = seconds(60)
    """What is shorter than this is a burst."""

    polls: int = Field(default=3, ge=1)
    """So many of the last eight polls at least must show it: of polls half a minute apart a burst
    of seconds fills one or two."""


class PfcSlowReceiver(Detector[PfcSlowReceiverSettings]):
    """Share of time for which a host stops its switch; score 1.0 is the least that counts."""

    kinds = (PFC_SLOW_RECEIVER,)
    metrics = (*METRICS, SPEED, PAUSE_WAIT)
    remembers = (SPEED,)
    settings_type = PfcSlowReceiverSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each receiver that is slow."""
        found = reasons(view)
        if found is None:
            return
        before = {str(finding.about): finding.since for finding in view.before}
        for origin in found.origins:
            duty, exact = found.duty(origin), found.exact(origin)
            unknown = not origin.lone and origin.port == origin.stopped
            if origin.full or unknown or not origin.seen or origin.forwards:
                continue  # a switch passes on what a queue of its own held for a moment
            if duty < self.settings.share or (exact and duty >= self.settings.storm):
                continue
            if found.moving(origin, self.settings.share) < self.settings.polls:
                continue
            level = NEGLIGIBLE * self.settings.share if exact else 1.0
            since = begun(view, origin, level)
            since = min(since, before.get(str(origin.port), since))
            if view.now - since < self.settings.hold:
                continue
            yield _finding(view, found, origin, duty, exact, since, self.settings.share)


def _finding(
    view: View,
    found: Reasons,
    origin: Origin,
    duty: float,
    exact: bool,
    since: float,
    least: float,
) -> Finding:
    about = f"{duty:.1%}" if exact else f"at most {duty:.0%} (only frames are counted)"
    priority = str(origin.priority)
    says = f"stops its peer for {about} of the time"
    if origin.stopped is None:
        metric, port = PFC_TX_PAUSE, origin.port
    else:
        metric, port = PFC_RX_PAUSE, origin.stopped
    return Finding(
        kind=PFC_SLOW_RECEIVER,
        about=origin.port,
        score=duty / least,
        since=since,
        at=view.now,
        evidence=[
            evidence(metric, (*port, str(origin.priority)), duty, view.now, says, 0.0, "ratio"),
            *branches(origin, view.now),
        ],
        because=(
            f"{origin.port} {says} on priority {priority}, for "
            f"{(view.now - since) / 60:.0f} min; {explains(view, origin)}"
        ),
        victims=waiting_places(origin),
    )
