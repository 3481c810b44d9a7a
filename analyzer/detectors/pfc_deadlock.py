"""Queues that are paused, stand still and wait for each other in a circle.

No part of it is broken and nothing in it will ever let go. It takes a turn that sends packets up
again after they came down (a reroute, a flood), so the finding names the queue to clear and the
circle whose routes to look at.
"""

from collections.abc import Iterator

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.circles import Circle
from analyzer.evidence.pause.deadlocks import deadlocks, stands
from analyzer.evidence.pause.gathering import METRICS, POLLS
from analyzer.evidence.pause.reasons import Reasons, reasons
from analyzer.evidence.pause.telling import begun_of
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import PFC_DEADLOCK
from fabrichealth.model import Finding, Place, Port, View
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
        since = np.full(len(found.chosen), np.inf)
        for place in np.flatnonzero(stands(found).still).tolist():
            since[place] = begun_of(view, found, place, 0.5)
        before = {
            finding.about: finding for finding in view.before if isinstance(finding.about, Port)
        }
        told: set[Port] = set()
        for circle in deadlocks(found, since):
            told.update(found.port(one) for one in circle.members.tolist())
            yield _finding(view, found, circle, since, before)
        for about, finding in before.items():
            if about not in told and view.now - finding.at < POLLS * found.pauses.period:
                yield finding  # one poll that does not show it is no end


BY_TIME = "by_time"
"""Key of whether it is known by time which queue was first."""


def _finding(
    view: View,
    found: Reasons,
    circle: Circle,
    since: np.ndarray[tuple[int], np.dtype[np.float64]],
    before: dict[Port, Finding],
) -> Finding:
    priority = int(found.queues.priority[circle.trigger])
    members = [found.port(one) for one in circle.members.tolist()]
    # who was first is known while the window still holds it: what was said of this circle holds
    about = next((one for one in members if one in before), found.port(circle.trigger))
    known = before.get(about)
    by_time = circle.by_time if known is None else bool(known.detail.get(BY_TIME))
    start = members.index(about)
    ring = [*members[start:], *members[:start]]
    began = float(since[circle.trigger])
    began = began if known is None else min(began, known.since)
    how = (
        "it was paused first"
        if by_time
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
        detail={BY_TIME: float(by_time)},
    )  # fmt: skip
