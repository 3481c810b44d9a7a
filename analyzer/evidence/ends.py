"""What every port says of itself, and so of the cable that it shares with its peer.

Read off the changes of `UP`, so that a port polled once an hour is judged like one polled each
second: down for two polls means that the poll in which it fell was followed by another.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools, heard
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.model import Changes, Floats, Port, View
from fabrichealth.topology import Topology

SLACK = 5.0
"""Clocks of two targets differ by less than this many seconds; a poll takes no longer. What a
device tells may besides be older than the poll: agents refresh what they tell about as often as
they are asked."""

NEARLY = 0.9
"""Of a period: polls come a little early or late."""

LEAST_CONTRADICTED = 2
"""One cable may have an end that is stuck."""

MOST_PEERS = 0.6
"""So many of a device's peers tell of it at once; the clocks of the others may stand apart."""

BUNDLE = re.compile(
    r"(ae|bond|bundle-?ether|lag|po|port-?channel|team|trk)[-_ ]?\d+(\.\d+)?$", re.IGNORECASE
)
"""What systems call link aggregations (Linux, SONiC, EOS, Junos, NX-OS, SR OS, IOS XR)."""


@dataclass(frozen=True)
class PortStates:
    """Rows are those of the changes of `UP`; arrays are [r]."""

    up: Changes
    admin: Changes

    @cached_property
    def fresh(self) -> Bools:
        """Which ports speak now."""
        return heard(self.up)

    @cached_property
    def fallen_at(self) -> Floats:
        """When each port that is down was seen to have fallen; NaN: up, or never seen up."""
        return np.where(self.up.value == 0, self.up.changed_at, np.nan)

    @cached_property
    def down(self) -> Bools:
        """Which ports were down at their last two polls, or since the history began."""
        with np.errstate(invalid="ignore"):
            once = self.up.seen_at <= self.fallen_at
        return np.asarray((self.up.value == 0) & ~once, np.bool_)

    def row(self, port: Port) -> int | None:
        """Return the row of a port, None if it is not read."""
        return self.up.row(*port)

    def says_down(self, port: Port) -> bool | None:
        """Return what a port says; None if it says nothing now."""
        row = self.up.row(*port)
        if row is None or not self.fresh[row]:
            return None
        return bool(self.down[row])

    def repeated(self, pairs: Sequence[tuple[Port, Port]]) -> bool:
        """Return whether a device says up of all its cables, `pairs` of `cables`, two at least.

        Where all its peers say down, no cable does that, let alone all: its clock stands apart
        from theirs, or its agent repeats what it once knew.
        """
        own = [self.says_down(mine) for mine, _ in pairs]
        return own.count(False) >= LEAST_CONTRADICTED and set(own) <= {False}

    def contradicted(
        self,
        pairs: Sequence[tuple[Port, Port]],
        since: float,
        settled: float,
        *,
        silent: bool,
    ) -> bool:
        """Return whether minutes between clocks may explain what a device and its peers say.

        It says down of all its cables, and not all peers do or only since `settled`; or it says up
        of all while most peers say down, or did so at some time from `since` until they came back
        after `settled`. That is one event however many cables there are. With `silent` a device
        that says nothing any more is taken to say up: it may be restarting while peers whose
        clocks stand apart have not told yet.
        """
        own = {self.says_down(mine) for mine, _ in pairs if self.row(mine) is not None}
        if len(own) != 1 or (own == {None} and not silent):
            return False
        rows = np.array([r for _, peer in pairs if (r := self.row(peer)) is not None], np.intp)
        rows = rows[self.fresh[rows]]
        up = self.up.value[rows] == 1
        with np.errstate(invalid="ignore"):
            moved = self.up.changed_at[rows] > max(since, settled)
        if own == {True}:
            return len(rows) >= LEAST_CONTRADICTED and bool((up | moved).any())
        fell = int(np.count_nonzero(~up | moved))
        return fell >= max(LEAST_CONTRADICTED, MOST_PEERS * len(rows))

    def dissents(self, port: Port, since: float) -> bool:
        """Return whether a port says up and has not fallen since: it may not have told yet."""
        row = self.up.row(*port)
        if row is None or self.up.value[row] != 1:
            return False
        changed = self.up.changed_at[row]
        return not (np.isfinite(changed) and changed > since)

    def up_since(self, port: Port, at: float) -> bool:
        """Return whether a port was up after `at`, by a reading that cannot be older."""
        row = self.up.row(*port)
        if row is None or self.up.value[row] != 1:
            return False
        oldest = max(SLACK, NEARLY * float(np.nan_to_num(self.up.period[row])))
        return bool(self.up.seen_at[row] > at + oldest)

    def disabled(self, port: Port) -> bool:
        """Return whether a port is disabled by configuration, as it says itself."""
        row = self.admin.row(*port)
        return row is not None and bool(self.admin.value[row] == 0)

    def by_hand(self, port: Port) -> bool:
        """Return whether a port is down because somebody disabled it, or its link aggregation.

        Which aggregation a port belongs to is not read: it is one of its device that was disabled
        when the port fell, and is so still.
        """
        if self.disabled(port):
            return True
        off = self._bundles_off.get(port.device)
        row = self.up.row(*port) if off else None
        if not off or row is None or self.up.value[row] != 0:
            return False
        fell, poll = self.up.changed_at[row], np.nan_to_num(self.up.period[row])
        return any(abs(fell - at) <= SLACK + 2 * max(step, poll) for at, step in off)

    def off(self, ends: Iterable[Port]) -> bool:
        """Return whether an end of a cable that speaks now says that the cable is off by hand.

        What an agent said last before it fell silent may be its host shutting down.
        """
        return any(self.by_hand(end) and self.says_down(end) is not None for end in ends)

    @cached_property
    def _bundles_off(self) -> dict[str, list[tuple[float, float]]]:
        """When link aggregations that are disabled were so first, and the poll step, by device."""
        admin = self.admin
        found: dict[str, list[tuple[float, float]]] = defaultdict(list)
        fresh = (admin.value == 0) & np.isfinite(admin.changed_at)
        for row in np.flatnonzero(fresh).tolist():
            device, port = admin.labels(row)
            if BUNDLE.match(port):
                period = float(np.nan_to_num(admin.period[row]))
                found[device].append((float(admin.changed_at[row]), period))
        return found

    def enabled_since(self, port: Port) -> float:
        """Return when a port was last enabled by configuration, as far as that was seen."""
        row = self.admin.row(*port)
        changed = float("nan") if row is None else float(self.admin.changed_at[row])
        return changed if np.isfinite(changed) else float("-inf")

    def ports(self, rows: NDArray[np.intp] | Bools) -> list[Port]:
        """Return the names of some rows."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return [Port(*self.up.labels(int(row))) for row in chosen]


def port_states(view: View) -> PortStates:
    """Return the present state of every port that is read; needs `UP` and `ADMIN_UP` changes."""
    return PortStates(view.changes(UP), view.changes(ADMIN_UP))


def is_bundle(topology: Topology, port: Port) -> bool:
    """Return whether a port stands for several cables: what befalls it is their news.

    Such a port (link aggregation, IEEE 802.1AX) has no cable of its own; where none of its device
    is written it is all that is known of them, and counts.
    """
    cabled = port in topology.link_of or not topology.links_of.get(port.device)
    return not cabled and BUNDLE.match(port.port) is not None


def told_off(pairs: Sequence[tuple[Port, Port]]) -> str:
    """Return in words which (own port, peer's port) are disabled by configuration; empty if none.

    To be put behind what is said of the device.
    """
    if not pairs:
        return ""
    names = ", ".join(str(mine) for mine, _ in pairs[:4])
    more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
    return f"; {names}{more} disabled by configuration"


def fell_silent(up: Changes, rows: Sequence[int], since: float) -> bool:
    """Return whether any port, by its row, was not read for a while that ended after `since`."""
    return bool((np.isin(up.gap_row, rows) & (up.gap_end > since)).any())


def cables(topology: Topology, device: str) -> list[tuple[Port, Port]]:
    """Return (own port, peer's port) of every cable of a device to another."""
    found = []
    for link in topology.links_of.get(device, ()):
        one, other = link.ends
        if one.device != other.device:
            found.append((one, other) if one.device == device else (other, one))
    return found
