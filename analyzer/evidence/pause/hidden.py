"""Hidden egresses: ports of a switch that is read of which nobody tells whether they are stopped.

What waits for such a switch may wait for a slow host behind one of them. So it is no proof of a
circle that nothing else is seen to stop it, and who is to blame may lie behind the switch, unseen.
"""

import numpy as np

from analyzer.evidence.pause.crossings import PRIORITIES, Crossings
from analyzer.evidence.pause.shares import Shares
from analyzer.evidence.pause.waiting import Bools, Places
from fabrichealth.model import Floats

MANAGEMENT = 1e9
"""bit/s: what is no faster carries nothing lossless."""


def speaking(stopped: Shares, stops: Shares) -> Bools:
    """Return which ports say anything of pauses themselves ([p]), of whatever priority.

    Asked before either end's word fills in the other's.
    """
    told = np.isfinite(stopped.share).any(axis=1) | np.isfinite(stops.share).any(axis=1)
    return np.asarray(told.reshape(-1, PRIORITIES).any(axis=1), np.bool_)


def before_anew(ports: Crossings, chosen: Places, stopped: Shares) -> Bools:
    """Return which queues may wait for another of their far end whose counter began anew ([n]).

    It was read once since. That the others of its device are not stopped says no more than that
    these are not the reason. `stopped` is of all queues ([q]), with both ends' word.
    """
    anew = stopped.anew & ~np.isfinite(stopped.share).any(axis=1)
    some = np.flatnonzero(anew)
    if not len(some):
        return np.zeros(len(chosen), np.bool_)
    port, priority = np.divmod(some, PRIORITIES)
    devices = int(ports.device.max(initial=-1)) + 1
    many = np.zeros((devices + 1, PRIORITIES), np.intp)  # the last is no device's
    np.add.at(many, (ports.device[port], priority), 1)
    port, priority = np.divmod(chosen, PRIORITIES)
    far = ports.far_queues(chosen)
    own = (far >= 0) & anew[far]  # nothing leaves by the port that it came in by
    return np.asarray(many[ports.far_device[port], priority] > own, np.bool_)


def before_hidden(
    ports: Crossings, chosen: Places, stopped: Shares, speaks: Bools, silent: Bools, speed: Floats
) -> Bools:
    """Return which queues may wait for an egress of their far end that nobody tells of ([n]).

    `stopped` is of all queues ([q]), with both ends' word; `speaks` and `speed` (bit/s) are of
    ports ([p]), `silent` of devices ([d]): of those that say nothing at all no more is claimed
    anyway. A cable to a host is one of this fabric unless it is known for one of management, one
    to a switch if it is known for none.
    """
    host = ports.ends & ~(speed <= MANAGEMENT)
    other = (ports.far >= 0) & ~ports.ends & (speed > MANAGEMENT)
    some = np.flatnonzero(~speaks & ~silent[ports.device] & (host | other))
    if not len(some):
        return np.zeros(len(chosen), np.bool_)
    unknown = np.asarray(~np.isfinite(stopped.share).any(axis=1), np.bool_)
    each = unknown.reshape(-1, PRIORITIES)[some]
    hidden = np.zeros((len(silent) + 1, PRIORITIES), np.intp)  # the last is no device's
    beneath = hidden.copy()
    down = ports.ends[some] | ports.upward[ports.far[some]]
    np.add.at(hidden, ports.device[some], each)
    np.add.at(beneath, ports.device[some], each & down[:, None])
    port, priority = np.divmod(chosen, PRIORITIES)
    there, back = ports.far_device[port], ports.far[port]
    own = np.isin(back, some) & unknown[np.maximum(ports.far_queues(chosen), 0)]
    rising = hidden[there, priority] - own  # nothing leaves by the port that it came in by
    return np.asarray(np.where(ports.upward[port], rising, beneath[there, priority]) > 0, np.bool_)
