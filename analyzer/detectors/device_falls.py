"""A device whose links all fall together, again and again, and are back before two polls saw it.

One such moment is a restart, and short: `device_down` waits for two polls, and `link_flapping`
counts none of them against the links. What happens three times within a quarter of an hour, or
four times a day, is a switch that crashes or loses power, and is told as one device that is
down, not as so many links that flap. So is a host whose own agent answers all the while: it does
not restart, it is cut off. Stays quiet for hosts that fell silent, whose restarts are their owners'
business, for falls that the far ends' own restart explains, and while ports are disabled.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import heard
from analyzer.evidence.ends import cables, fell_silent
from analyzer.evidence.flaps import score
from analyzer.evidence.restarts import Moments, falls, outright
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import ADMIN_UP, LINK_DOWNS, UP
from fabrichealth.kinds import DEVICE_DOWN
from fabrichealth.model import Finding, Place, Port, View
from fabrichealth.narrative import span
from fabrichealth.settings import Duration, seconds

MOST_LINES = 8


class DeviceFallsSettings(DetectorSettings):
    """Device-falls section of the configuration."""

    memory: Duration = seconds(86_400)
    """Falls older than this are forgotten."""

    fast_half_life: Duration = seconds(900)
    """Half-life of the fast score, as for links."""

    fast_limit: float = Field(default=2000.0, gt=0)
    """The fast score at which a switch is called down: three falls in a quarter of an hour."""

    reuse: float = Field(default=750.0, gt=0)
    """Below this fast score, and its slow limit, it is taken as up again."""

    slow_half_life: Duration = seconds(86_400)
    """Half-life of the slow score."""

    slow_limit: float = Field(default=3000.0, gt=0)
    """The slow score at which a switch is called down: about four falls in a day."""


class DeviceFalls(Detector[DeviceFallsSettings]):
    """Decayed number of falls of all its links at once; score 1.0 is the nearer limit."""

    kinds = (DEVICE_DOWN,)
    metrics = (LINK_DOWNS, UP, ADMIN_UP)
    settings_type = DeviceFallsSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per device that falls again and again."""
        seen = falls(view, self.settings.memory)
        if not len(seen.at):
            return
        before = {str(finding.about): finding for finding in view.before}
        for device, moments in outright(view, seen).items():
            written = view.topology.devices.get(device)
            role = written.role if written is not None else ""
            answers = role == "host" and _answered(view, device, float(moments.at[0]))
            if role != "switch" and not answers:
                continue
            about = Place("device", device)
            fast, slow = (
                float(score(moments.at, moments.weight, np.zeros(len(moments.at), np.intp), 1,
                            view.now, half_life)[0])
                for half_life in (self.settings.fast_half_life, self.settings.slow_half_life)
            )  # fmt: skip
            limit = max(fast / self.settings.fast_limit, slow / self.settings.slow_limit)
            known = before.get(str(about))
            if limit >= 1.0 or (known is not None and fast >= self.settings.reuse):
                since = known.since if known is not None else float(moments.at[0])
                yield _finding(view, about, moments, limit, since, answers=answers)


def _answered(view: View, device: str, since: float) -> bool:
    """Return whether a host told of its ports at every poll since a time: it did not restart."""
    up = view.changes(UP)
    ends = [mine for mine, _ in cables(view.topology, device)]
    rows = [row for end in ends if (row := up.row(*end)) is not None]
    return bool(rows) and not fell_silent(up, rows, since) and bool(heard(up)[rows].all())


def _finding(
    view: View, about: Place, moments: Moments, limit: float, since: float, *, answers: bool
) -> Finding:
    times, last = float(moments.weight.sum()), float(moments.at[-1])
    links = view.topology.links_of[about.id]
    lines = []
    for link in links[:MOST_LINES]:
        port: Port = next(end for end in link.ends if end.device == about.id)
        says = f"{port} fell with all others, last {span(view.now - last)} ago"
        lines.append(evidence(LINK_DOWNS, port, times, last, says, 0.0))
    return Finding(
        kind=DEVICE_DOWN,
        about=about,
        score=limit,
        detail={"back": 1.0, "answers": float(answers)},  # it carries between its falls
        since=since,
        at=last,
        evidence=lines,
        because=(
            f"all {len(links)} links of {about.id} fell together {times:.0f} times in "
            f"{span(view.now - float(moments.at[0]))}, the last time {span(view.now - last)} ago"
        ),
    )
