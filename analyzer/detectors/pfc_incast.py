"""Many senders meet at one port: it sends at line rate, its queue is full, and others wait.

Nothing is broken. Bursts of a collective's phase are over before anyone looks; only what lasts
is told, and nobody is called for it. A full queue at a port that sends far below its rate is
link_drains_slowly's.
"""

from collections.abc import Iterator

from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.gathering import METRICS
from analyzer.evidence.pause.reasons import Origin, reasons
from analyzer.evidence.pause.telling import (
    branches,
    carried_since,
    explains,
    waiting_places,
)
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import PAUSE_WAIT
from fabrichealth.catalogue.ports import SPEED, TX_BYTES
from fabrichealth.kinds import PFC_INCAST
from fabrichealth.model import Finding, View
from fabrichealth.settings import Duration, seconds


class PfcIncastSettings(DetectorSettings):
    """PFC-incast section of the configuration."""

    window: Duration = seconds(90)
    """How much of the recent past is looked at, poll by poll; eight polls of it."""

    memory: Duration = seconds(3600)
    """How far back the speed of ports is remembered."""

    load: float = Field(default=0.9, gt=0, le=1)
    """A port that carries less than this share of its rate is not full."""

    senders: int = Field(default=2, ge=2)
    """So many queues at least wait for it."""

    hold: Duration = seconds(60)
    """What is shorter than this is a burst."""


class PfcIncast(Detector[PfcIncastSettings]):
    """Full queues at ports at line rate for which others wait; score 1.0 is the least load."""

    kinds = (PFC_INCAST,)
    metrics = (*METRICS, SPEED, PAUSE_WAIT)
    remembers = (SPEED,)
    settings_type = PfcIncastSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each port at which too much meets, once it lasts."""
        found = reasons(view)
        if found is None:
            return
        for origin in found.origins:
            if not origin.full or len(origin.waiting) < self.settings.senders:
                continue
            load = found.load(origin)
            if load is None or load < self.settings.load:
                continue
            since = carried_since(view, found, origin, lambda share: share >= self.settings.load)
            if view.now - since >= self.settings.hold:
                yield _finding(view, origin, load, since, self.settings.load)


def _finding(view: View, origin: Origin, load: float, since: float, least: float) -> Finding:
    says = f"sends at {load:.0%} of its rate with a full queue, {len(origin.waiting)} ports wait"
    return Finding(
        kind=PFC_INCAST,
        about=origin.port,
        score=load / least,
        since=since,
        at=view.now,
        evidence=[
            evidence(TX_BYTES, origin.port, load, view.now, says, least, "ratio"),
            *branches(origin, view.now),
        ],
        because=(f"{origin.port} {says} for it; {explains(view, origin)}"),
        victims=waiting_places(origin),
    )
