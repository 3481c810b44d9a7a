"""A port whose queue stays full though nothing stops it, and that sends far below its rate.

Others wait for it as for a crowded port, but no crowd is the reason: the link gives less than it
says, by repeats, lost lanes or a shaper, and its counters of errors may say nothing of it. The
finding joins whatever else is known of the link, and those that wait become its victims
(pauses whose origin is a degraded link, detection by Hawkeye's signature, SIGCOMM 2025).
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import unbroken
from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.gathering import DEEP_SECONDS, METRICS
from analyzer.evidence.pause.reasons import Origin, reasons
from analyzer.evidence.pause.telling import branches, carried_since, waiting_places
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import PAUSE_WAIT, QUEUE_OCCUPANCY
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.kinds import LINK_DEGRADED_SPEED
from fabrichealth.model import Finding, View
from fabrichealth.settings import Duration, seconds


class LinkDrainsSlowlySettings(DetectorSettings):
    """Link-drains-slowly section of the configuration."""

    window: Duration = seconds(90)
    """How much of the recent past is looked at, poll by poll; eight polls of it."""

    memory: Duration = seconds(3600)
    """How far back the speed of ports is remembered."""

    load: float = Field(default=0.8, gt=0, le=1)
    """A port with a full queue that carries less than this share of its rate drains slowly."""

    stopped: float = Field(default=0.01, gt=0, lt=1)
    """One that is stopped for more of the time than this has its reason elsewhere."""

    hold: Duration = seconds(60)
    """What is shorter than this is a burst."""


class LinkDrainsSlowly(Detector[LinkDrainsSlowlySettings]):
    """Full queues that nothing stops, at ports below their rate; score 1.0 is the least load."""

    kinds = (LINK_DEGRADED_SPEED,)
    metrics = (QUEUE_OCCUPANCY, *(one for one in METRICS if one is not QUEUE_OCCUPANCY), SPEED,
               PAUSE_WAIT)  # fmt: skip
    remembers = (SPEED,)
    settings_type = LinkDrainsSlowlySettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each port whose full queue drains slowly, once it lasts."""
        found = reasons(view)
        if found is None:
            return
        for origin in found.origins:
            pauses = found.pauses
            if (
                not origin.full
                or not origin.waiting
                or not np.isfinite(pauses.occupancy[origin.queue])
            ):
                continue
            load = found.load(origin)
            if load is None or load >= self.settings.load:
                continue
            port = found.port_of(origin)
            mine = pauses.stopped.share[port * PRIORITIES : (port + 1) * PRIORITIES]
            if np.nan_to_num(mine).mean(axis=1).sum() > self.settings.stopped:
                continue
            since = carried_since(view, found, origin, lambda share: share < self.settings.load)
            since = max(since, _full_since(view, origin, float(pauses.speed[origin.queue])))
            if view.now - since >= self.settings.hold:
                full = float(pauses.occupancy[origin.queue])
                yield _finding(view, origin, load, full, since, self.settings.load)


def _full_since(view: View, origin: Origin, speed: float) -> float:
    """Return since when without a break the queue is deep (unix seconds)."""
    window = view[QUEUE_OCCUPANCY]
    row = window.row(*origin.port, str(origin.priority))
    if row is None:
        return view.now
    one = window.select(np.array([row]))
    with np.errstate(invalid="ignore"):
        since, held = unbroken(one.values * 8.0 / speed >= DEEP_SECONDS / 2, one)
    return float(since[0]) if held[0] > 0 else view.now


def _finding(
    view: View, origin: Origin, load: float, full: float, since: float, least: float
) -> Finding:
    labels = (*origin.port, str(origin.priority))
    says = (
        f"keeps {full / 1e3:.0f} kB waiting and sends at {load:.0%} of its rate though nothing "
        f"stops it, {len(origin.waiting)} ports wait for it"
    )
    return Finding(
        kind=LINK_DEGRADED_SPEED,
        about=origin.port,
        score=least / max(load, 0.01),
        since=since,
        at=view.now,
        evidence=[
            evidence(QUEUE_OCCUPANCY, labels, full, view.now, f"{origin.port} {says}", 0.0),
            *branches(origin, view.now),
        ],
        because=f"{origin.port} {says}: the link gives less than it says, or a shaper does",
        victims=waiting_places(origin),
    )
