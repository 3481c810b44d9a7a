"""A port that stops its peer most of the time, and with it all that waits behind.

Judged by the share of time and not by events, so that a choppy storm (pauses with short breaks,
which no switch's watchdog sees) counts like a steady one, and a watchdog that goes on and off
under one storm is one incident. Only where the pauses begin is spoken of: what merely waits is a
victim. A share that is only bounded from above, by counts of frames, is no proof of a storm.
"""

from collections.abc import Collection, Iterable, Iterator, MutableMapping
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.deadlocks import circling
from analyzer.evidence.pause.gathering import METRICS
from analyzer.evidence.pause.reasons import Origin, Reasons, reasons
from analyzer.evidence.pause.telling import begun, branches, explains, has_told, waiting_places
from analyzer.evidence.testimony import evidence
from analyzer.incidents.unseen import BEHIND, FRONT
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.congestion import PAUSE_WAIT, PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import PFC_STORM
from fabrichealth.model import Evidence, Finding, Floats, Port, View
from fabrichealth.settings import Duration, seconds

MOST_EDGES = 2000
"""Told as series; a storm over a whole fabric has more, of which the strongest say enough."""

UNSEEN = 0.2
"""Share that something unseen must explain at the least, however little others do."""

ENDS_DIFFER = 0.2
"""What one end stops is what the other is stopped for; beyond this share one of them errs (C1)."""


class PfcStormSettings(DetectorSettings):
    """PFC-storm section of the configuration."""

    window: Duration = seconds(90)
    """How much of the recent past is looked at, poll by poll; eight polls of it."""

    memory: Duration = seconds(3600)
    """How far back the speed of ports is remembered."""

    duty: float = Field(default=0.5, gt=0, le=1)
    """A port that stops its peer for this share of 5 s (or of two polls) storms."""

    explained: float = Field(default=0.6, gt=0, le=1)
    """A switch is the origin only if it explains this share of the pauses around it."""


@dataclass(frozen=True, slots=True)
class Storm:
    """One priority that a port stops."""

    origin: Origin
    duty: float
    """For which share of the last polls."""
    since: float
    """Unix seconds."""


class PfcStorm(Detector[PfcStormSettings]):
    """Duty of the port where pauses begin; score 1.0 is the duty of a storm."""

    kinds = (PFC_STORM,)
    metrics = (*METRICS, SPEED, PAUSE_WAIT)
    remembers = (SPEED,)
    settings_type = PfcStormSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each port that storms."""
        found = reasons(view)
        if found is None:
            return
        before = {str(finding.about): finding.since for finding in view.before}
        ring = circling(found)
        stuck = {port.device for port in ring}
        ends = {origin.priority for origin in found.origins if not origin.forwards}
        storms: dict[Port, list[Storm]] = {}
        for origin in found.origins:
            if origin.forwards and origin.share < self._least(origin, ends):
                continue  # what stops it in turn was only not seen
            if origin.port in ring or origin.stopped in ring:
                continue  # nobody in a circle stops the others: it is a deadlock
            if origin.forwards and origin.port.device in stuck:
                continue  # and what such a switch stops beside it, it stops for the same reason
            duty = found.duty(origin)
            if origin.full or not found.exact(origin) or duty < self.settings.duty:
                continue
            if not found.lasting(origin, self.settings.duty / 2):
                continue
            since = begun(view, origin, self.settings.duty / 2)
            if origin.forwards and not has_told(found, origin, since):
                continue  # it may be stopped itself, and was not asked since
            storms.setdefault(origin.port, []).append(Storm(origin, duty, since))
        for port, each in storms.items():
            began = min(one.since for one in each)
            yield self._finding(view, found, each, min(began, before.get(str(port), began)))

    def _finding(self, view: View, found: Reasons, each: list[Storm], since: float) -> Finding:
        """Return what is told of a port: of all priorities that it stops, the likeliest first."""
        first = each[0].origin
        return Finding(
            kind=PFC_STORM,
            about=first.port,
            score=max(one.duty for one in each) / self.settings.duty,
            since=since,
            at=view.now,
            evidence=[
                line
                for one in each
                for line in (
                    *_evidence(found, one.origin, one.duty, view.now),
                    *branches(one.origin, view.now),
                )
            ],
            because=_because(view, found, each),
            victims=tuple(
                dict.fromkeys(place for one in each for place in waiting_places(one.origin))
            ),
            grounds=(str(first.port) if first.seen else f"{BEHIND} {first.port.device}",),
            detail={"period": found.pace(first), FRONT: float(not first.seen)},
        )

    def _least(self, origin: Origin, ends: Collection[int]) -> float:
        """Return the share that what passes on must explain: of what no end explains, if unseen."""
        if origin.seen:
            return self.settings.explained
        if origin.priority not in ends:
            return UNSEEN
        return max(UNSEEN, self.settings.explained * (1.0 - origin.others))

    def verdicts(self, view: View, kept: MutableMapping[str, list[float]]) -> Iterable[Verdict]:
        """Return the edges of the pause graph, those with the most paused time."""
        found = reasons(view)
        if found is None:
            return []
        return [
            Verdict(PAUSE_WAIT, (str(waiting), str(blocking), str(priority)), share)
            for waiting, blocking, priority, share in found.edges(MOST_EDGES)
        ]


def _because(view: View, found: Reasons, each: list[Storm]) -> str:
    origin = each[0].origin
    stops = " and ".join(
        f"priority {one.origin.priority} for {one.duty:.0%} of "
        f"{found.steady_of(one.origin) * found.pace(one.origin):.0f} s"
        for one in sorted(each, key=lambda one: one.origin.priority)
    )
    who = str(origin.port) if origin.port != origin.stopped else f"what faces {origin.port}"
    behind = "" if origin.seen else " or something behind it, unseen,"
    return f"{who}{behind} stops {stops}; {explains(view, origin)}"


def _evidence(found: Reasons, origin: Origin, duty: float, now: float) -> Iterator[Evidence]:
    """Yield what each end of the cable says."""
    priority = str(origin.priority)
    each = _polls(found.shares(origin).share[origin.queue])
    if origin.stopped is not None:
        says = f"stopped for {duty:.0%} of the time; poll by poll: {each}"
        labels = (*origin.stopped, priority)
        yield evidence(PFC_RX_PAUSE, labels, duty, now, says, 0.0, "ratio")
    own = duty if origin.lone else _own(found, origin)
    if own is not None:
        says = f"says itself that it stops its peer for {own:.0%} of the time"
        if abs(own - duty) > ENDS_DIFFER * max(own, duty):
            says += "; the two ends differ: one counter is wrong, or pauses are lost on the way"
        yield evidence(PFC_TX_PAUSE, (*origin.port, priority), own, now, says, 0.0, "ratio")


def _polls(share: Floats) -> str:
    return " ".join("?" if np.isnan(one) else f"{one:.0%}" for one in share.tolist())


def _own(found: Reasons, origin: Origin) -> float | None:
    """Return for how much of the time the port itself says that it stops its peer."""
    place = found.pauses.crossings.find(Port(*origin.port))
    if place is None or origin.port == origin.stopped:
        return None
    last = found.pauses.stops.share[place * PRIORITIES + origin.priority]
    last = last[-found.steady_of(origin) :]
    known = np.isfinite(last)
    return float(last[known].mean()) if known.any() else None
