"""Restarts that nobody announced: treated as a `boot` event from going down.

A new boot time means that the device restarted, and that it began when the old one was seen
last. A host, or a rack of them, that was dark restarts as long as its grace lasts; what stumbles
in it meanwhile is excused with it.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from analyzer.evidence.clocks import BOUND
from analyzer.incidents.suppression import UNANNOUNCED, may_restart
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN
from fabrichealth.model import Changes, Incident
from fabrichealth.topology import Topology

CLOCK_STEP = 60.0
"""A boot time that moves by less is a clock being set, not a boot."""

CLOCKS_APART = BOUND
"""A boot time that lies by more before the last sign of life is one too: a host that restarts tells
a time after that, by its own clock."""


def restarts(changes: Changes, ahead: Mapping[str, float]) -> list[Event]:
    """Return one boot event per restart seen in changes of the boot time.

    `ahead` is by how many seconds a device's own clock is, which tells the boot time.
    """
    alive = changes.at - changes.step
    later = changes.after - changes.before > CLOCK_STEP
    found = []
    for entry in np.flatnonzero(later & (changes.after > alive - CLOCKS_APART)).tolist():
        (device,) = changes.labels(int(changes.row_of[entry]))
        went_down = float(alive[entry])
        at = min(went_down, float(changes.after[entry]) - ahead.get(device, 0.0))
        found.append(Event(at, "boot", {"device": device}, id=device, more={UNANNOUNCED: True}))
    return found


def darkness(incidents: Iterable[Incident], topology: Topology) -> list[Event]:
    """Return one boot event per open incident of hosts that went dark."""
    return [
        Event(one.opened_at, "boot", {one.culprit.type: one.culprit.id}, id=one.culprit.id)
        for one in incidents
        if one.kind is DEVICE_DOWN
        and not (one.answers or one.by_hand)
        and may_restart(one.culprit, topology)
    ]
