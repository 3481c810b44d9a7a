"""Queues that are paused, stand still and wait for each other in a circle.

No part of it is broken and nothing in it will ever let go. It takes a turn that sends packets up
again after they came down (a reroute, a flood), so the finding names the queue to clear and the
circle whose routes to look at.
"""

from collections.abc import Iterator

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.circles import Circle, circles
from analyzer.evidence.pause.gathering import METRICS
from analyzer.evidence.pause.reasons import Reasons, reasons
from analyzer.evidence.pause.telling import begun_of
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import PFC_DEADLOCK
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds


class PfcDeadlockSettings(DetectorSettings):
    """PFC-deadlock section of the configuration."""

    window: Duration = seconds(90)
    """How much of the recent past is looked at, poll by poll; eight polls of it."""

    memory: Duration = seconds(3600)
    """How far back the speed of ports is remembered."""


class PfcDeadlock(Detector[PfcDeadlockSettings]):
    """Circles among queues that stand still."""

    kinds = (PFC_DEADLOCK,)
    metrics = (*METRICS, SPEED)
    remembers = (SPEED,)
    settings_type = PfcDeadlockSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each circle, about the port where it began."""
        found = reasons(view)
        if found is None or not len(found.chosen):
            return
        still = found.standing_still()
        since = np.full(len(found.chosen), np.inf)
        for place in np.flatnonzero(still).tolist():
            since[place] = begun_of(view, found, place, 0.5)
        period = found.pauses.period if found.pauses.period > 0 else 1.0
        before = {str(finding.about): finding.since for finding in view.before}
        for circle in circles(found.queues, found.graph, still, since, period):
            yield _finding(view, found, circle, since, before)


def _finding(
    view: View,
    found: Reasons,
    circle: Circle,
    since: np.ndarray[tuple[int], np.dtype[np.float64]],
    before: dict[str, float],
) -> Finding:
    about = found.port(circle.trigger)
    priority = int(found.queues.priority[circle.trigger])
    members = [found.port(one) for one in circle.members.tolist()]
    start = members.index(about)
    ring = [*members[start:], *members[:start]]
    began = float(since[circle.trigger])
    began = min(began, before.get(str(about), began))
    how = (
        "it was paused first"
        if circle.by_time
        else "most queues outside the circle feed it (polls are too coarse to tell which was first)"
    )
    return Finding(
        kind=PFC_DEADLOCK,
        about=about,
        score=1.0,
        since=began,
        at=view.now,
        evidence=[
            evidence(
                PFC_RX_PAUSE, (*port, str(priority)),
                float(np.nan_to_num(found.queues.paused[place, -2:]).mean()), view.now,
                f"paused in every poll and sending nothing; waits for {following}", 0.0, "ratio",
            )
            for place, port, following in zip(
                np.roll(circle.members, -start).tolist(), ring, [*ring[1:], ring[0]], strict=True
            )
        ],
        because=(
            f"{len(ring)} queues of priority {priority} wait for each other in a circle, "
            f"{' -> '.join(str(port) for port in (*ring, ring[0]))}; clear that of {about}: {how}"
        ),
        victims=tuple(Place("port", str(port)) for port in ring[1:]),
    )  # fmt: skip
