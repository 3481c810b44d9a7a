"""Hours: how busy each accelerator was over the last hours, apart from the present window."""

import numpy as np

from analyzer.evidence.domain.distribution import IDLE
from analyzer.evidence.domain.inventory import Inventory
from fabrichealth.catalogue.accelerators import UTILIZATION
from fabrichealth.model import Floats, View


def over_hours(view: View, stock: Inventory, seconds: float) -> Floats:
    """Return each accelerator's mean over closed bins of the last so many seconds ([n]).

    NaN where less than half of them is known, or where it was busy until a moment ago: the gap
    between two jobs is not yet an idle accelerator.
    """
    found = np.full(len(stock), np.nan)
    past = view.past(UTILIZATION)
    recent = past.starts >= view.now - seconds if len(past.starts) else np.empty(0, np.bool_)
    if not len(past) or not recent.any():
        return found
    values, length = past.values[:, recent], (past.ends - past.starts)[recent]
    known = np.isfinite(values)
    spoken = (known * length).sum(axis=1)
    mean = (np.where(known, values, 0.0) * length).sum(axis=1) / np.maximum(spoken, 1.0)
    with np.errstate(invalid="ignore"):
        rested = values[:, -1] < IDLE
    sound = (spoken >= seconds / 2) & (rested | ~known[:, -1])
    place = stock.places(past)
    mine = sound & (place >= 0)
    found[place[mine]] = mean[mine]
    return found
