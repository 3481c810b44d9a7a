"""Frozen baselines: what ill lanes were when they fell ill, carried from pass to pass.

A baseline that goes on learning would learn the illness. Findings keep it in their `detail`, which
comes back at the next pass.
"""

import numpy as np

from analyzer.evidence.optics.quantities import QUANTITIES, Quantity
from analyzer.evidence.optics.roster import Roster
from fabrichealth.model import Port, View


def key_of(quantity: Quantity, port: Port, lane: str) -> str:
    """Return the name under which a finding keeps a baseline in its `detail`."""
    return f"baseline {quantity.name} {port} {lane}"


_BY_NAME = {one.name: one for one in QUANTITIES}


def frozen_baselines(view: View, lanes: Roster) -> dict[tuple[str, int], float]:
    """Return the baselines of what is ill since before, as they were when it fell ill."""
    found: dict[tuple[str, int], float] = {}
    for finding in view.before:
        for key, value in finding.detail.items():
            word, _, rest = key.partition(" ")
            name, _, rest = rest.partition(" ")
            where, _, lane = rest.rpartition(" ")
            if word != "baseline" or name not in _BY_NAME or "/" not in where:
                continue
            place = lanes.find(Port.parse(where), lane)
            if place is not None and np.isfinite(value):
                found[name, place] = value
    return found
