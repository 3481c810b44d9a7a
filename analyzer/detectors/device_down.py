"""A device that is dark: every cabled port of it is down, as its peers say.

Needs a witness other than the device itself. A device of which only one cable is watched is
never accused on that cable alone: unless its own agent fell silent too, the link is the news.
Peers that say nothing are no witnesses, neither way; a device whose own agent goes on saying
that a cabled port is up is not dark, unless it says so of all while all peers say down: then its
clock stands apart, or it is stuck, and the device is the one news all the same. Nor do a few peers
acquit it that have not told of it while nearly all others fell together. A host whose own agent
goes on answering while all its cables are down is cut off, and does not restart: nothing excuses
it. A cable that somebody disabled at either end bears no witness; where that holds for all of them
it is work, told and never paged.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.clocks import BOUND
from analyzer.evidence.ends import (
    MOST_PEERS,
    PortStates,
    cables,
    fell_silent,
    port_states,
    told_off,
)
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.kinds import DEVICE_DOWN
from fabrichealth.model import Finding, Floats, Place, Port, View
from fabrichealth.settings import Duration, seconds

TOGETHER = 120.0
"""Seconds within which the ports of a device fall with it; three polls, if those are longer."""

TOGETHER_SHARE, LEAST_TOGETHER = 0.8, 4
"""So many of a device's peers, and no fewer than this, outvote those that still say up."""


class DeviceDownSettings(DetectorSettings):
    """Device-down section of the configuration."""

    memory: Duration = seconds(86_400)
    """A device that was up at some time in so long a past is missed when it is dark."""

    clocks_apart: Duration = BOUND
    """For so long a few peers that still say up do not acquit a device of which nearly all fell
    together: minutes may lie between their clocks."""

    witnesses: int = Field(default=2, ge=1)
    """So many peers must say that their port is down, where there are so many."""


class DeviceDown(Detector[DeviceDownSettings]):
    """All peers of a device say down, none says up."""

    kinds = (DEVICE_DOWN,)
    metrics = (UP, ADMIN_UP)
    settings_type = DeviceDownSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per dark device."""
        states = port_states(view)
        fallen = states.fresh & states.down & np.isfinite(states.fallen_at)
        before = {str(finding.about): finding for finding in view.before}
        peers = (view.topology.peer(port) for port in states.ports(fallen))
        suspects = dict.fromkeys(peer.device for peer in peers if peer is not None)
        for device in {**dict.fromkeys(before), **suspects}:
            yield from self._of_device(view, states, device, before.get(device))

    def _of_device(
        self, view: View, states: PortStates, device: str, known: Finding | None
    ) -> Iterator[Finding]:
        every = cables(view.topology, device)
        pairs = [pair for pair in every if not states.off(pair)]
        off = [pair for pair in every if pair not in pairs]
        said = {peer: states.says_down(peer) for _, peer in every}
        down = [peer for _, peer in pairs if said[peer]]
        up = [peer for peer, says in said.items() if says is False]
        if up and not self._outvoted(view, states, known, down, up):
            return
        if not pairs and len(off) > 1:
            yield from _by_hand(view, states, device, off)
            return
        if not down:
            if known is not None and pairs:
                yield known  # nobody says anything now
            return
        if known is not None:
            answered = bool(known.detail.get("answers"))
            yield _finding(view, states, device, (down, off), known.since, answered)
            return
        rows = [row for peer in down if (row := states.row(peer)) is not None]
        falls = states.fallen_at[rows]
        if not np.isfinite(falls).any():
            return  # never seen up
        since = _went_dark(falls, float(np.nanmax(states.up.period[rows], initial=0.0)))
        lives = any(states.up_since(mine, since) for mine, _ in every)
        lives = lives and not states.repeated(pairs)
        if not lives and self._proven(states, pairs, down):
            yield _finding(view, states, device, (down, off), since)

    def _outvoted(
        self,
        view: View,
        states: PortStates,
        known: Finding | None,
        down: list[Port],
        up: list[Port],
    ) -> bool:
        """Return whether a few peers that still say up may only have clocks that stand apart.

        Nearly all others fell together, and no more than `clocks_apart` ago.
        """
        if len(down) < max(TOGETHER_SHARE * (len(down) + len(up)), LEAST_TOGETHER):
            return False
        rows = [row for peer in down if (row := states.row(peer)) is not None]
        falls = states.fallen_at[rows]
        if not np.isfinite(falls).all():
            return False
        period = float(np.nanmax(states.up.period[rows], initial=0.0))
        since = known.since if known is not None else float(falls.min())
        together = known is not None or falls.max() - since <= max(TOGETHER, 3 * period)
        young = view.now - since < self.settings.clocks_apart
        return together and young and all(states.dissents(peer, since) for peer in up)

    def _proven(self, states: PortStates, pairs: list[tuple[Port, Port]], down: list[Port]) -> bool:
        """Return whether enough independent witnesses speak, and the device does not."""
        if len(down) >= self.settings.witnesses:
            return True
        own = [mine for mine, _ in pairs if states.row(mine) is not None]
        silent = all(states.says_down(mine) is None for mine in own)
        return len(pairs) == 1 and bool(own) and silent


def _went_dark(falls: Floats, period: float) -> float:
    """Return when most ports fell together, else the last port or the first of those with it.

    The clocks of peers that tell of it later may stand apart.
    """
    times = np.sort(falls[np.isfinite(falls)])
    apart = np.flatnonzero(np.diff(times) > max(TOGETHER, 3 * period)) + 1
    groups = np.split(times, apart)
    most = max(groups, key=len)
    return float((most if len(most) >= MOST_PEERS * len(times) else groups[-1])[0])


def _finding(
    view: View,
    states: PortStates,
    device: str,
    cables_of: tuple[list[Port], list[tuple[Port, Port]]],
    since: float,
    said_before: bool = False,
) -> Finding:
    """Say of a device what its cables say: those that are down, and those somebody disabled."""
    down, off = cables_of
    rows = {peer: states.row(peer) for peer in sorted(down)}
    lines = [
        evidence(
            UP, peer, 0.0, float(states.up.seen_at[row]),
            f"{peer}, which faces {device}, says down", 1.0,
        )
        for peer, row in rows.items() if row is not None
    ]  # fmt: skip
    period = np.nanmax(states.up.period[[r for r in rows.values() if r is not None]], initial=0.0)
    minutes = max(view.now - since, 0.0) / 60
    doubting = sum(states.says_down(peer) is False for _, peer in cables(view.topology, device))
    told = f"{len(down)} of {len(down) + doubting} peers" if doubting else f"all {len(down)} peers"
    answers = said_before or _answers(view, states, device, since)
    state = "cut off" if answers else "dark"
    return Finding(
        kind=DEVICE_DOWN,
        about=Place("device", device),
        score=2.0,
        since=since,
        at=view.now,
        evidence=lines[:8],
        because=(
            f"{device} is {state} for {minutes:.1f} min: "
            f"{told} that report say their port to it is down{told_off(off)}"
        ),
        detail={"period": float(period), "answers": float(answers)},
    )


def _by_hand(
    view: View, states: PortStates, device: str, off: list[tuple[Port, Port]]
) -> Iterator[Finding]:
    """Yield that somebody took all cables of a device out of service; nothing if none was up."""
    lines, times = [], []
    for mine, peer in off:
        row = states.row(peer)
        if row is None or not np.isfinite(states.fallen_at[row]):
            continue
        times.append(float(states.fallen_at[row]))
        by = mine if states.by_hand(mine) else peer
        at = float(states.up.seen_at[row])
        lines.append(evidence(UP, peer, 0.0, at, f"{peer} is down, {by} is disabled", 1.0))
    if not lines:
        return
    yield Finding(
        kind=DEVICE_DOWN,
        about=Place("device", device),
        score=1.0,
        since=max(times),
        at=view.now,
        evidence=lines[:8],
        because=f"{device} is off by hand{told_off(off)}",
        detail={"by_hand": 1.0},
    )


def _answers(view: View, states: PortStates, device: str, since: float) -> bool:
    """Return whether a host's own agent says, poll after poll, that its ports are down.

    Of accelerators and NICs another agent speaks, that of their host: that is no sign of life. One
    that was silent meanwhile came back with the host, whose links are still training.
    """
    written = view.topology.devices.get(device)
    if written is None or written.role != "host":
        return False
    own = [mine for mine, _ in cables(view.topology, device)]
    rows = [row for mine in own if (row := states.row(mine)) is not None]
    if fell_silent(states.up, rows, since):
        return False
    return any(states.says_down(mine) for mine in own)
