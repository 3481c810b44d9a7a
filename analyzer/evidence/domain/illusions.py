"""Illusions: why the mean that everybody looks at says that a domain works while a part idles.

Each is a way in which such a mean is made, and is reckoned from the same readings: over those that
report, over those that a job holds, over hours, over the busiest moments, over duty cycles that
count spinning. What a way adds to the plain mean over the inventory is due to the idle ones alone,
so the ways can be put in order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analyzer.evidence.domain.distribution import Bools
from analyzer.evidence.domain.inventory import Rows
from fabrichealth.model import Floats

NOTABLE = 0.05
"""A way that adds less than this to the mean deceives nobody."""

SPEAKS_FOR = 0.1
"""A mean over fewer of a domain than this share, or over one, is that of a job: nobody takes it for
the domain's. A smaller class does not make two of a distribution either."""

BURSTS = 3
"""Idle ones that were busy for a moment so often are busy in each interval of a slow sampler."""


class Illusion(StrEnum):
    """How the mean was lifted."""

    DENOMINATOR = "denominator"
    """Those that report nothing are left out."""
    ALLOCATION = "allocation"
    """Those that no job holds are left out, or jobs count and not accelerators."""
    SPINNING = "spinning counters"
    """Waiting is counted as work."""
    SAMPLING = "sampling"
    """The busiest moment stands for the interval."""
    TIME = "time averaging"
    """Hours before, when they worked, are counted."""
    AVERAGE = "averaging"
    """Nothing is left out: the mean over all is that high, and speaks of nobody."""


@dataclass(frozen=True)
class Published:
    """A mean as somebody publishes it."""

    illusion: Illusion
    mean: float
    """What it says (ratio)."""
    lift: float
    """By how much that is above the mean over the inventory."""


@dataclass(frozen=True, eq=False)
class Members:
    """The accelerators of a domain over a window, as columns ([m, j] or [m])."""

    believed: Floats
    told: Floats
    """Utilisation as they say; NaN where they say nothing."""
    idle: Bools
    """Those that idle nearly all the time, or say nothing."""
    rests: Bools
    bursts: Bools
    unlisted: int
    """Accelerators there should be that have no name."""
    held: Bools | None
    """Whether a job holds them now; None where nobody knows."""
    job: Rows
    """Number of the job that holds them; -1 where none is known."""
    hours: Floats
    """Mean over the last hours; NaN where not known."""

    @property
    def size(self) -> int:
        """Accelerators there should be."""
        return len(self.idle) + self.unlisted


def means(members: Members) -> list[Published]:
    """Return the means that may be published, the one most lifted first; the plain one last."""
    known = np.isfinite(members.believed)
    did = np.where(known, members.believed, 0.0).sum(axis=1)
    ticks = members.believed.shape[1]
    plain = float(did.sum()) / (members.size * ticks)
    found = [
        Published(illusion, float(mean), float(mean) - plain)
        for illusion, mean in _ways(members, known, did, plain)
        if np.isfinite(mean)
    ]
    found.sort(key=lambda one: -one.lift)
    return [*(one for one in found if one.lift >= NOTABLE),
            Published(Illusion.AVERAGE, plain, 0.0)]  # fmt: skip


def _ways(
    members: Members, known: Bools, did: Floats, plain: float
) -> Iterator[tuple[Illusion, float]]:
    ticks = members.believed.shape[1]
    whole = members.size * ticks
    spoke = known.sum(axis=1)
    if spoke.sum():
        yield Illusion.DENOMINATOR, float(did.sum() / spoke.sum())
    if members.held is not None and members.held.sum() >= max(SPEAKS_FOR * members.size, 2):
        own = did[members.held] / ticks  # silent ones count, or it would be the denominator
        yield Illusion.ALLOCATION, max(float(own.mean()), _by_job(own, members.job[members.held]))
    said = np.where(known, members.told, 0.0).sum(axis=1)
    for illusion, lifted in (
        (Illusion.SPINNING, members.rests & ~members.bursts),
        (Illusion.SAMPLING, members.bursts),
    ):
        if lifted.any():
            yield illusion, plain + float((said - did)[lifted].sum()) / whole
    if (flashing := members.idle & ~members.rests & _flashes(members.believed)).any():
        top = np.fmax.reduce(members.believed[flashing], axis=1)
        yield Illusion.SAMPLING, plain + float((top * ticks - did[flashing]).sum()) / whole
    past = members.idle & np.isfinite(members.hours)
    if past.any():
        more = members.hours[past] - did[past] / ticks
        yield Illusion.TIME, plain + float(np.maximum(more, 0.0).sum()) / members.size


def _by_job(own: Floats, job: Rows) -> float:
    """Return the mean over jobs of their means; -inf where fewer than two jobs are known."""
    named = job >= 0
    number, place = np.unique(job[named], return_inverse=True)
    if len(number) < 2:
        return -np.inf
    return float((np.bincount(place, own[named]) / np.bincount(place)).mean())


def _flashes(values: Floats) -> Bools:
    """Return who was busy for a moment again and again ([m])."""
    with np.errstate(invalid="ignore"):
        up = values >= 0.5
    began = up[:, 1:] & ~up[:, :-1]
    return np.asarray(began.sum(axis=1) + up[:, 0] >= BURSTS, np.bool_)
