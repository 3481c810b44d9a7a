"""Steps: whether a change came at once or little by little."""

import numpy as np

from fabrichealth.model import Floats

SHARE = 0.7
"""A change of which so much came between neighbouring columns came at once."""


def stepped(change: Floats) -> bool:
    """Return whether the change of one trail ([bin + 1]) came within two columns of it.

    A valve moves, a connector is plugged, within minutes; what clogs takes hours.
    """
    known = change[np.isfinite(change)]
    if len(known) < 4:
        return False
    known = known * np.sign(known[-1])
    return bool((known[2:] - known[:-2]).max() >= SHARE * known[-1])
