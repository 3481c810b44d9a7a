"""Waited for: whether the others of a job wait for the one that stands out, or do something else.

Who deviates from its peers is no straggler by that alone. They must have something to be held back
from, must not be the ones that have less to do, and what differs must not be its part in the job.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain.distribution import IDLE, Bools
from analyzer.evidence.domain.inventory import Rows
from analyzer.evidence.domain.peers import Peers
from fabrichealth.catalogue.accelerators import CLOCK, TENSOR_ACTIVE, UTILIZATION
from fabrichealth.metric import Metric
from fabrichealth.model import Floats

SPINS = 0.8
"""Peers that are busy for so much of the time may spin; where less, they have less to do."""

SLACK = 0.05
"""Whoever waits is no less busy than the one that it waits for, so much aside."""


@dataclass(frozen=True)
class Signal:
    """One way in which whoever is waited for differs from its peers."""

    metric: Metric
    worse: int
    """1 where it has more than its peers, -1 where it has less."""
    floor: float
    """The least deviation that counts, in the metric's unit or as a share of the peers' median."""
    relative: bool
    says: str
    reads: str = ""
    """What the number is, before it."""


SLOW_CLOCK = Signal(CLOCK, -1, 0.01, True, "its clock is lower")
LEAST_BUSY = Signal(UTILIZATION, -1, 0.01, False, "it is held up while they spin", "busy ")
WAITS_LEAST = Signal(
    TENSOR_ACTIVE, 1, 0.01, False, "it computes while they wait for it", "matrix units active "
)
SIGNALS = (SLOW_CLOCK, LEAST_BUSY, WAITS_LEAST)


@dataclass(frozen=True)
class Bounds:
    """When standing out counts."""

    deviations: float
    lasting: float
    first: float
    busy: float
    """Peers that work less than this have nothing to be held back from."""
    pause: float
    """Seconds that a job may stand still, or is not seen to move, while one of it is at work."""


def waited_for(
    signal: Signal,
    own: Mapping[Metric, Floats],
    away: Mapping[Signal, Floats],
    places: Rows,
    recent: Bools,
    bounds: Bounds,
) -> bool:
    """Return whether others wait for it, as far as can be told, and not it for them.

    Peers that do nothing are not held back, and one whose matrix units rest more than theirs has
    less to do than they, or waits itself. One that does nothing at all is a spare, unless they are
    seen to get nowhere without it. Whoever waits spins: peers that are less busy than it have less
    to do, as replicas that serve have, and wait for nobody.
    """
    load = own[UTILIZATION][:, recent]
    theirs, its = median_of(others_of(load, places)), mean_of(load[places])
    if theirs < bounds.busy or (signal is not LEAST_BUSY and theirs < its - SLACK):
        return False
    if signal is SLOW_CLOCK and its < bounds.busy:
        return False  # idle clocks are low
    work = median_of(others_of(own[TENSOR_ACTIVE][:, recent], places))
    if signal is LEAST_BUSY and its < IDLE:
        return work < IDLE
    if signal is LEAST_BUSY and np.isnan(work) and theirs < SPINS:
        return False  # the others may as well have more to do
    rested = mean_of(away[WAITS_LEAST][places][:, recent])
    return not rested <= -bounds.deviations


def stands_still(signal: Signal, own: Mapping[Metric, Floats], places: Rows, recent: Bools) -> bool:
    """Return whether the peers do no work meanwhile, or it is not read whether who is idle is."""
    work = median_of(others_of(own[TENSOR_ACTIVE][:, recent], places))
    return work < IDLE or (signal is LEAST_BUSY and np.isnan(work))


def may_be_role(group: Peers, signal: Signal, host: str) -> bool:
    """Return whether it may differ because its work does: roles are of hosts, or of one host's."""
    told = bool(group.role) or signal is SLOW_CLOCK
    return not told and (bool(host) or len(group.hosts) == 1)


def mean_of(values: Floats) -> float:
    """Return the mean of what is known; NaN where nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def median_of(values: Floats) -> float:
    """Return the median of what is known; NaN where nothing is."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else float("nan")


def others_of(values: Floats, places: Rows) -> Floats:
    """Return the rows of all but these."""
    return np.delete(values, places, axis=0)
