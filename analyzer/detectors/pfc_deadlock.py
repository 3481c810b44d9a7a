"""Queues that are paused, stand still and wait for each other in a circle.

No part of it is broken and nothing in it will ever let go. It takes a turn that sends packets up
again after they came down (a reroute, a flood), so the finding names the queue to clear and the
circle whose routes to look at.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.circles import Circle
from analyzer.evidence.pause.deadlocks import Word, deadlocks, stands, word
from analyzer.evidence.pause.gathering import METRICS, POLLS
from analyzer.evidence.pause.reasons import Reasons, reasons
from analyzer.evidence.pause.telling import begun_of
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import PFC_DEADLOCK
from fabrichealth.model import Finding, Floats, Place, Port, View
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
        """Yield one finding for each circle of ports, about the one where it began."""
        found = reasons(view)
        if found is None:
            return
        since = np.full(len(found.chosen), np.inf)
        for place in np.flatnonzero(stands(found).still).tolist() if len(since) else ():
            since[place] = begun_of(view, found, place, 0.5)
        before = {
            finding.about: finding for finding in view.before if isinstance(finding.about, Port)
        }
        told: set[Port] = set()
        circles = deadlocks(found, since) if len(since) else []
        for rings in _together(found, circles):
            told.update(found.port(one) for ring in rings for one in ring.members.tolist())
            yield _finding(view, found, rings, since, before)
        for about, finding in before.items():
            if about in told:
                continue
            age, says = view.now - finding.at, word(found, _members(finding))
            if says is Word.STANDS:
                yield replace(finding, at=view.now)
            elif age < (self.settings.window if says is Word.NONE else POLLS * found.pauses.period):
                yield finding  # one poll that does not show it is no end


BY_TIME = "by_time"
"""Key of whether it is known by time which queue was first."""


def _members(finding: Finding) -> list[tuple[Port, int]]:
    """Return the queues of circles that were told, as ports and priorities."""
    labels = [line.labels for line in finding.evidence if line.metric is PFC_RX_PAUSE]
    return [(Port(one["device"], one["port"]), int(one["priority"])) for one in labels]


def _together(found: Reasons, circles: list[Circle]) -> list[list[Circle]]:
    """Return circles that share ports together: priorities that one wrong turn stopped alike."""
    groups: list[tuple[set[Port], list[Circle]]] = []
    for circle in circles:
        ports, rings = {found.port(one) for one in circle.members.tolist()}, [circle]
        for group in [one for one in groups if one[0] & ports]:
            groups.remove(group)
            ports, rings = ports | group[0], [*group[1], *rings]
        groups.append((ports, rings))
    return [rings for _, rings in groups]


def _finding(
    view: View,
    found: Reasons,
    circles: list[Circle],
    since: Floats,
    before: dict[Port, Finding],
) -> Finding:
    every = {found.port(one) for circle in circles for one in circle.members.tolist()}
    # who was first is known while the window still holds it: what was said of this circle holds
    was = next((port for port in before if port in every), None)
    known = None if was is None else before[was]
    first = min(circles, key=lambda circle: float(since[circle.trigger]))
    about = found.port(first.trigger) if was is None else was
    by_time = first.by_time if known is None else bool(known.detail.get(BY_TIME))
    began = float(since[first.trigger])
    how = (
        "it was paused first"
        if by_time
        else "most queues outside the circle feed it (polls are too coarse to tell which was first)"
    )
    rings: dict[tuple[Port, ...], list[int]] = {}
    lines = []
    for circle in sorted(circles, key=lambda one: int(found.queues.priority[one.trigger])):
        priority = int(found.queues.priority[circle.trigger])
        ring, places = _from(about, found, circle)
        rings.setdefault(ring, []).append(priority)
        lines += [
            evidence(
                PFC_RX_PAUSE, (*port, str(priority)),
                float(np.nan_to_num(found.queues.paused[place, -2:]).mean()), view.now,
                f"paused in every poll and sending nothing; waits for {following}", 0.0, "ratio",
            )
            for place, port, following in zip(places, ring, [*ring[1:], ring[0]], strict=True)
        ]  # fmt: skip
    return Finding(
        kind=PFC_DEADLOCK,
        about=about,
        score=1.0,
        since=began if known is None else min(began, known.since),
        at=view.now,
        evidence=lines,
        because="; ".join(
            _told(ring, priorities, how if ring[0] == about else f"{about} is not in this circle")
            for ring, priorities in sorted(rings.items(), key=lambda one: one[0][0] != about)
        ),
        victims=tuple(
            Place("port", str(port))
            for port in dict.fromkeys(port for ring in rings for port in ring)
            if port != about
        ),
        detail={BY_TIME: float(by_time), "period": found.pauses.period},
    )


def _from(about: Port, found: Reasons, circle: Circle) -> tuple[tuple[Port, ...], list[int]]:
    """Return the ports of a circle and their vertices, from a port on if it is one of them."""
    members = circle.members.tolist()
    ports = [found.port(one) for one in members]
    start = ports.index(about if about in ports else found.port(circle.trigger))
    return (*ports[start:], *ports[:start]), [*members[start:], *members[:start]]


def _told(ring: tuple[Port, ...], priorities: list[int], how: str) -> str:
    """Return in words which queues wait for each other, and which to clear."""
    way = " -> ".join(str(port) for port in (*ring, ring[0]))
    if len(priorities) == 1:
        which, clear = f"of priority {priorities[0]}", "that of"
    else:
        *some, last = priorities
        named = f"priorities {', '.join(map(str, some))} and {last}"
        which, clear = f"of each of {named}", f"those of {named} at"
    return (
        f"{len(ring)} queues {which} wait for each other in a circle, {way}; "
        f"clear {clear} {ring[0]}: {how}"
    )
