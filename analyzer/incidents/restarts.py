"""Restarts that nobody announced: treated as a `boot` event from going down.

A new boot time means that the device restarted, and that it began when the old one was seen
last. A host, or a rack of them, that was dark restarts as long as its grace lasts; what stumbles
in it meanwhile is excused with it.
"""

from collections.abc import Iterable

import numpy as np

from analyzer.incidents.suppression import may_restart
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN
from fabrichealth.model import Changes, Incident
from fabrichealth.topology import Topology

CLOCK_STEP = 60.0
"""A boot time that moves by less is a clock being set, not a boot."""


def restarts(changes: Changes) -> list[Event]:
    """Return one boot event per restart seen in changes of the boot time."""
    later = np.flatnonzero(changes.after - changes.before > CLOCK_STEP)
    found = []
    for entry in later.tolist():
        (device,) = changes.labels(int(changes.row_of[entry]))
        went_down = float(changes.at[entry] - changes.step[entry])
        at = min(went_down, float(changes.after[entry]))
        found.append(Event(at, "boot", {"device": device}, id=device))
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
