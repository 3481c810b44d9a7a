"""Losses: where the time of a domain's accelerators goes that nobody works in.

Each accelerator's time is parted: it says nothing, it rests for somebody's reason, or it works; of
the time in which it works some is throttled away and some waits for a straggler. The parts of one
domain add up to the whole of its inventory, and nothing is counted twice. What ill links, full
rails or uneven hashing take shows as waiting or as gaps: no reading says how much of it is theirs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain.allocation import FREE, HELD, allocation
from analyzer.evidence.domain.distribution import IDLE
from analyzer.evidence.domain.inventory import inventory
from analyzer.evidence.domain.lagging import Lagging
from analyzer.evidence.domain.owners import cordoned
from analyzer.evidence.domain.work import Work, work
from fabrichealth.catalogue.accelerators import THROTTLED
from fabrichealth.model import Floats, View

MISSING = "missing"
UNCOUNTED = "use not counted"
CORDONED = "cordoned"
UNALLOCATED = "unallocated"
HELD_IDLE = "idle in a job"
IDLE_UNKNOWN = "idle, holder unknown"
SPINNING = "spinning"
GAPS = "gaps between kernels"
WAITING = "waiting for a straggler"
THROTTLING = "throttled"
"""Throttling has its reason added where one is told: `throttled: power`."""


@dataclass(frozen=True)
class Loss:
    """What takes part of a domain's time."""

    domain: str
    by: str
    share: float
    """Of the time of the whole inventory."""


def losses(view: View, done: Work) -> Iterator[Loss]:
    """Yield what takes the time of each domain, stragglers aside; what takes none is left out."""
    stock = done.stock
    silent = 1.0 - done.spoke
    missing = {
        MISSING: np.where(done.uncounted, 0.0, silent),
        UNCOUNTED: np.where(done.uncounted, silent, 0.0),
    }
    parts = {**missing, **_resting(view, done), **_throttled(view, done)}
    for name in sorted({*stock.domain.names, *stock.unlisted}):
        rows, size = stock.domain.rows(name), stock.size(name)
        for by, time in parts.items():
            lost = float(time[rows].sum()) + (stock.unlisted.get(name, 0) if by == MISSING else 0)
            if lost > 0:
                yield Loss(name, by, min(lost / size, 1.0))


def _resting(view: View, done: Work) -> dict[str, Floats]:
    """Return the time in which accelerators speak and rest, by whose reason ([n] each)."""
    stock, spoke, busy = done.stock, done.spoke, done.busy
    rest = np.maximum(spoke - busy, 0.0)
    state, _ = allocation(view).of(stock.names)
    idle = busy < IDLE * np.maximum(spoke, 1e-9)
    shut = cordoned(view, stock) & (state != HELD)
    free = (state == FREE) & ~shut
    spins = done.rests & ~shut & ~free
    still = idle & ~spins & ~shut & ~free
    reasons = {
        CORDONED: shut,
        UNALLOCATED: free,
        SPINNING: spins,
        HELD_IDLE: still & (state == HELD),
        IDLE_UNKNOWN: still & (state != HELD),
        GAPS: ~(shut | free | spins | still),
    }
    return {by: np.where(those, rest, 0.0) for by, those in reasons.items()}


def _throttled(view: View, done: Work) -> dict[str, Floats]:
    """Return the working time that is throttled away, by reason ([n] each).

    Over the window, as work is: throttling comes and goes with every step of a job.
    """
    window = view[THROTTLED]
    if not len(window):
        return {}
    place, busy = done.stock.places(window), done.busy
    read = np.zeros((len(window.at), window.values.shape[1]), np.bool_)
    np.logical_or.at(read, window.clock, np.isfinite(window.values))
    polls = read.sum(axis=1)[window.clock]
    lasted = np.nansum(np.clip(window.values, 0.0, 1.0), axis=1) / np.maximum(polls, 1)
    reason = window.codes("reason")
    parts: dict[str, Floats] = {}
    for code in np.unique(reason[(lasted > 0) & (place >= 0)]).tolist():
        rows = np.flatnonzero((lasted > 0) & (place >= 0) & (reason == code))
        share = np.zeros(len(done.stock))
        share[place[rows]] = lasted[rows]
        word = window.labels(int(rows[0]))[1]
        parts[f"{THROTTLING}: {word}" if word else THROTTLING] = busy * share
    total = np.maximum(sum(parts.values(), np.zeros(len(busy))), 1e-12)
    most = np.minimum(busy / total, 1.0)  # reasons may hold at the same time
    return {by: time * most for by, time in parts.items()}


def waited(view: View, lagging: Sequence[Lagging]) -> dict[str, float]:
    """Return by domain the share of its time that accelerators wait for a straggler.

    They wait for as long as it takes longer: its clock over theirs, its work over theirs, or its
    stalls; what is throttled away of their time is not waited as well. Of several ways in which one
    shows, the longest counts.
    """
    if not lagging:
        return {}
    stock, done = inventory(view), work(view)
    works = done.busy - sum(_throttled(view, done).values(), np.zeros(len(stock)))
    lost = np.zeros(len(stock))
    for one in lagging:
        high, low = max(one.value, one.usual), min(one.value, one.usual)
        others = np.setdiff1d(one.group.rows, one.rows)
        share = 1.0 - low / high if high > 0 else 0.0
        lost[others] = np.maximum(lost[others], share * np.maximum(works[others], 0.0))
    return {
        name: float(lost[rows].sum()) / stock.size(name)
        for name in stock.domain.names
        if len(rows := stock.domain.rows(name)) and lost[rows].any()
    }
