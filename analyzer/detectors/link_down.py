"""A cabled link that was up and now is down for two polls.

Stays quiet for ports that were never up since the history began, for those disabled by
configuration at either end, and for a retraining shorter than two polls. While other ports of
the same device go down too, it waits a little: then the device is the news, not its ports.
"""

from collections.abc import Iterator

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.ends import PortStates, enabled_links, port_states
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.kinds import LINK_DOWN, Cause
from fabrichealth.model import Finding, Port, View
from fabrichealth.settings import Duration, seconds


class LinkDownSettings(DetectorSettings):
    """Link-down section of the configuration."""

    memory: Duration = seconds(86_400)
    """A port that was up at some time in so long a past is missed when it is down."""

    settle: Duration = seconds(30)
    """Wait at most this long to see whether the whole device is down."""


class LinkDown(Detector[LinkDownSettings]):
    """Two polls down at one end, and nobody disabled it."""

    kinds = (LINK_DOWN,)
    metrics = (UP, ADMIN_UP)
    settings_type = LinkDownSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per link that is down."""
        states = port_states(view)
        fallen = self._fallen(view)
        before = {end: said for said in view.before if isinstance(end := said.about, Port)}
        for _, port, other in enabled_links(view, states):
            ends = [end for end in (port, other) if end is not None and states.says_down(end)]
            if not ends:
                yield from _carried(before, states, port, other)
                continue
            known = next((before[end] for end in (port, other) if end in before), None)
            since = min((fallen[end] for end in ends if end in fallen), default=None)
            if known is not None:
                since = known.since
            if since is None:
                continue  # never seen up
            if known is None and self._brewing(view, states, ends[0], since):
                continue
            about = next((end for end in (port, other) if end in before), None)
            yield _finding(view, states, about or ends[0], ends, other, since)

    def _fallen(self, view: View) -> dict[Port, float]:
        """Return when each port last went from up to down, as far as is remembered."""
        changes = view.changes(UP)
        fell = np.flatnonzero((changes.before == 1) & (changes.after == 0))
        return {
            Port(*changes.labels(int(changes.row_of[entry]))): float(changes.at[entry])
            for entry in fell
        }

    def _brewing(self, view: View, states: PortStates, end: Port, since: float) -> bool:
        """Return whether the devices at either end may be going down as a whole."""
        if view.now - since >= self.settings.settle:
            return False
        ends = [end, view.topology.peer(end) or end]
        for device in {side.device for side in ends}:
            links = view.topology.links_of.get(device, [])
            if len(links) < 2:
                continue
            for link in links:
                if link.id == view.topology.link_of[end].id:
                    continue
                rows = [states.row[side] for side in link.ends if side in states.row]
                read_after = [row for row in rows if states.up.last_at[row] >= since]
                if not read_after or any(states.doubtful[row] for row in read_after):
                    return True
        return False


def _carried(
    before: dict[Port, Finding],
    states: PortStates,
    port: Port,
    other: Port | None,
) -> Iterator[Finding]:
    """Yield what was said last time while neither end says anything: absent is not healthy."""
    for end in (port, other):
        known = before.get(end) if end is not None else None
        if known is None:
            continue
        answers = [states.says_down(side) for side in (port, other) if side is not None]
        if all(answer is None for answer in answers):
            yield known
        return


def _finding(
    view: View,
    states: PortStates,
    about: Port,
    ends: list[Port],
    other: Port | None,
    since: float,
) -> Finding:
    lines = [
        evidence(UP, end, 0.0, float(states.up.last_at[states.row[end]]), f"{end} says down", 1.0)
        for end in ends
    ]
    minutes = max(view.now - since, 0.0) / 60
    one_sided = len(ends) == 1 and other is not None
    tail = ""
    if one_sided:
        far = view.topology.peer(ends[0])
        said = states.says_down(far) if far else None
        tail = " (the far end says up)" if said is False else " (the far end says nothing)"
    return Finding(
        kind=LINK_DOWN,
        about=about,
        score=2.0,
        since=since,
        at=view.now,
        evidence=lines,
        because=f"{' and '.join(map(str, ends))} down for {minutes:.1f} min{tail}",
        causes={Cause.LOOSE_OR_BAD_MODULE: 0.4, Cause.UNKNOWN: 0.6},
    )
