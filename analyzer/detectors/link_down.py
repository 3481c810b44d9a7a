"""A cabled link that was up and now is down for two polls.

Stays quiet for ports that were never up since the history began, for those disabled by
configuration at either end, and for a retraining shorter than two polls. While it may be that a
whole device at either end is dark it waits: then the device is the news, not its ports. A
device with a cable that either end still calls up is not dark, unless all its ends say the opposite
of most of their peers: then it waits until clocks that stand apart have caught up. A link
aggregation is no cable: its members are the news.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.causes.signs import Symptom, sign
from analyzer.evidence.clocks import BOUND
from analyzer.evidence.ends import PortStates, cables, is_bundle, port_states, told_off
from analyzer.evidence.link.signs import diagnosed
from analyzer.evidence.optics.fleet import RECALLED
from analyzer.evidence.optics.recalled import LOOKS_BACK
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.kinds import LINK_DOWN
from fabrichealth.model import Finding, Place, Port, View
from fabrichealth.settings import Duration, seconds

POLLS_TO_SETTLE = 4.0
"""A device that may be dark has said so, or its peers have, after so many of their polls."""


class LinkDownSettings(DetectorSettings):
    """Link-down section of the configuration."""

    memory: Duration = seconds(86_400)
    """A port that was up at some time in so long a past is missed when it is down."""

    settle: Duration = seconds(30)
    """Wait so long, or four polls if that is longer, to see whether a whole device is dark."""

    clocks_apart: Duration = BOUND
    """Wait so long while most peers of a device say the opposite of what it says of all its cables,
    or of its silence if it is a host: minutes may lie between their clocks."""


class LinkDown(Detector[LinkDownSettings]):
    """Two polls down at one end, and nobody disabled it."""

    kinds = (LINK_DOWN,)
    metrics = (UP, ADMIN_UP)
    recalls = RECALLED
    settings_type = LinkDownSettings

    @property
    def looks_back(self) -> float:
        """How long the past of the modules must be kept: light speaks for causes."""
        return LOOKS_BACK

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per link that is down."""
        states = port_states(view)
        before = {said.about: said for said in view.before if isinstance(said.about, Port)}
        fallen = states.fresh & states.down & np.isfinite(states.fallen_at)
        seen: set[Port] = set()
        for port in (*before, *states.ports(fallen)):
            other = view.topology.peer(port)
            if port in seen or is_bundle(view.topology, port):
                continue
            seen.update((port, other) if other else (port,))
            known = before.get(port) or (before.get(other) if other else None)
            yield from self._of_link(view, states, known, port, other)

    def _of_link(
        self, view: View, states: PortStates, known: Finding | None, port: Port, other: Port | None
    ) -> Iterator[Finding]:
        sides = [side for side in (port, other) if side is not None]
        if any(map(states.by_hand, sides)):
            return
        said = {side: states.says_down(side) for side in sides}
        down = [side for side in sides if said[side]]
        if not down:
            if known is not None and all(answer is None for answer in said.values()):
                yield known  # nobody says anything now; absent is not healthy
            return
        if known is not None:
            yield _finding(view, states, port, down, said, known.since)
            return
        rows = [row for side in down if (row := states.row(side)) is not None]
        falls = states.fallen_at[rows][np.isfinite(states.fallen_at[rows])].tolist()
        if not falls:
            return  # never seen up
        enabled = max(map(states.enabled_since, sides))
        if not (states.up.seen_at[rows] > enabled + np.nan_to_num(states.up.period[rows])).any():
            return  # a port that was just enabled has a poll or two to come up
        since = max(min(falls), enabled)
        devices = {side.device for side in sides}
        if any(self._may_be_dark(view, states, name, since) for name in devices):
            return
        yield _finding(view, states, port, down, said, since)

    def _may_be_dark(self, view: View, states: PortStates, device: str, since: float) -> bool:
        """Return whether it is too early to say that a device is not dark."""
        every = cables(view.topology, device)
        pairs = [pair for pair in every if not states.off(pair)]
        own = [row for mine, _ in pairs if (row := states.row(mine)) is not None]
        others = [row for _, peer in pairs if (row := states.row(peer)) is not None]
        period = np.nanmax(states.up.period[[*own, *others]], initial=0.0)
        settle = max(self.settings.settle, POLLS_TO_SETTLE * float(period))
        if view.now - since < self.settings.clocks_apart:
            written = view.topology.devices.get(device)
            heard = max((float(states.up.seen_at[row]) for row in own), default=-np.inf)
            silent = written is not None and written.role == "host"  # a switch pages at once
            silent = silent and heard > since - self.settings.clocks_apart
            if states.contradicted(pairs, since, view.now - settle, silent=silent):
                return True
        if len(pairs) < 2:  # only its own silence can tell
            if not own or any(states.up.seen_at[row] > since for row in own):
                return False
        elif len(others) < 2 or any(states.up_since(end, since) for end in chain(*pairs)):
            return False
        return view.now - since < settle


class _CutOff(NamedTuple):
    """Devices that a link cuts off, for somebody disabled all other cables of theirs."""

    devices: tuple[Place, ...]
    says: str


def _cut_off(view: View, states: PortStates, ends: Iterable[Port]) -> _CutOff:
    devices, says = [], ""
    for end in ends:
        others = [pair for pair in cables(view.topology, end.device) if pair[0] != end]
        if others and all(map(states.off, others)):
            devices.append(Place("device", end.device))
            says += f"; {end.device} is cut off by it{told_off(others)}"
    return _CutOff(tuple(devices), says)


def _finding(
    view: View,
    states: PortStates,
    about: Port,
    down: list[Port],
    said: dict[Port, bool | None],
    since: float,
) -> Finding:
    lines = []
    for end in down:
        row = states.row(end)
        at = view.now if row is None else float(states.up.seen_at[row])
        lines.append(evidence(UP, end, 0.0, at, f"{end} says down", 1.0))
    minutes = max(view.now - since, 0.0) / 60
    tail, lonely = "", _cut_off(view, states, said)
    if far := [answer for end, answer in said.items() if end not in down]:
        tail = " (the far end says up)" if far[0] is False else " (the far end says nothing)"
    found, signs = diagnosed(view, about, {sign(Symptom.DOWN, None): True}, since)
    return Finding(
        kind=LINK_DOWN,
        about=about,
        score=2.0,
        since=since,
        at=view.now,
        evidence=lines,
        because=f"{' and '.join(map(str, down))} down for {minutes:.1f} min{tail}{lonely.says}",
        victims=lonely.devices,
        causes=found.causes,
        side=found.side,
        direction=found.direction,
        signs=signs,
    )
