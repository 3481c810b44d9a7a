"""A device that is dark: every cabled port of it is down, as its peers say.

Needs a witness other than the device itself. A device of which only one cable is watched is
never accused on that cable alone: unless its own agent fell silent too, the link is the news.
Peers that say nothing are no witnesses, neither way.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.ends import PortStates, port_states
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.kinds import DEVICE_DOWN
from fabrichealth.model import Finding, Place, Port, View
from fabrichealth.settings import Duration, seconds


class DeviceDownSettings(DetectorSettings):
    """Device-down section of the configuration."""

    memory: Duration = seconds(86_400)
    """A device that was up at some time in so long a past is missed when it is dark."""

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
        fallen = _fallen(view)
        before = {str(finding.about): finding for finding in view.before}
        for device in view.topology.links_of:
            peers = _peers(view, device)
            said = {peer: states.says_down(peer) for _, peer in peers if peer in states.row}
            down = [peer for peer, says in said.items() if says]
            if any(says is False for says in said.values()):
                continue
            known = before.get(device)
            if not down:
                if known is not None:
                    yield known  # nobody says anything now
                continue
            if known is None and not self._proven(states, device, peers, down):
                continue
            times = [fallen[peer] for peer in down if peer in fallen]
            if known is None and not times:
                continue  # never seen up
            since = known.since if known is not None else min(times)
            yield _finding(view, states, device, down, since)

    def _proven(
        self,
        states: PortStates,
        device: str,
        peers: list[tuple[Port, Port]],
        down: list[Port],
    ) -> bool:
        """Return whether enough independent witnesses speak, and the device does not."""
        if len(down) >= self.settings.witnesses:
            return True
        own = [states.says_down(port) for port, _ in peers]
        return (
            len(peers) == 1
            and all(says is None for says in own)
            and any(port in states.row for port, _ in peers)
        )


def _peers(view: View, device: str) -> list[tuple[Port, Port]]:
    """Return (own port, peer's port) of every cable of a device."""
    found = []
    for link in view.topology.links_of[device]:
        one, other = link.ends
        if one.device != other.device:
            found.append((one, other) if one.device == device else (other, one))
    return found


def _fallen(view: View) -> dict[Port, float]:
    changes = view.changes(UP)
    fell = np.flatnonzero((changes.before == 1) & (changes.after == 0))
    return {
        Port(*changes.labels(int(changes.row_of[entry]))): float(changes.at[entry])
        for entry in fell
    }


def _finding(
    view: View, states: PortStates, device: str, down: list[Port], since: float
) -> Finding:
    lines = [
        evidence(
            UP, peer, 0.0, float(states.up.last_at[states.row[peer]]),
            f"{peer}, which faces {device}, says down", 1.0,
        )
        for peer in sorted(down)[:8]
    ]  # fmt: skip
    minutes = max(view.now - since, 0.0) / 60
    return Finding(
        kind=DEVICE_DOWN,
        about=Place("device", device),
        score=2.0,
        since=since,
        at=view.now,
        evidence=lines,
        because=(
            f"{device} is dark for {minutes:.1f} min: "
            f"all {len(down)} peers that report say their port to it is down"
        ),
    )
