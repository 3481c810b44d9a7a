"""Restarts that nobody announced, read off the devices' boot times.

A new boot time means that the device restarted, and that it began when the old one was seen
last: treated as a `boot` event from going down.
"""

import numpy as np

from fabrichealth.events import Event
from fabrichealth.model import Changes

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
