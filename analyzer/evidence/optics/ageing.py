"""Ageing of all lasers at once, from the long past of their bias and of their modules' heat."""

from weakref import WeakKeyDictionary

import numpy as np

from analyzer.evidence.optics.roster import Roster
from analyzer.evidence.optics.trends import Ageing, ageing
from fabrichealth.model import Floats, Past

# Worked out once for each past and each set of modules, which stay until a bin closes.
_aged: WeakKeyDictionary[Past, tuple[bytes, Ageing]] = WeakKeyDictionary()


def lasers_age(bias: Past, heat: Past, lanes: Roster, came: Floats) -> Ageing:
    """Return how each lane's laser ages; worked out once for each past.

    `came` says since when each port's module sits there (unix seconds, [port]).
    """
    size = len(lanes)
    key = came.tobytes() + bytes(str((size, len(heat))), "ascii")
    kept = _aged.get(bias)
    if kept is not None and kept[0] == key:
        return kept[1]
    celsius = np.full((size, len(bias.ends)), np.nan)
    amperes = celsius.copy()
    if bias.values.size and len(bias.ends) == len(heat.ends):
        places = lanes.places(bias.table, bias.metric, bias.series)
        mine = bias.starts[None, :] >= came[lanes.port[places]][:, None]
        amperes[places] = np.where(mine, bias.values, np.nan)
        warm = np.full((len(lanes.ports), len(heat.ends)), np.nan)
        warm[lanes.port[lanes.places(heat.table, heat.metric, heat.series)]] = heat.values
        celsius[places] = warm[lanes.port[places]]
    found = ageing(bias.middles, amperes, celsius)
    _aged[bias] = (key, found)
    return found
