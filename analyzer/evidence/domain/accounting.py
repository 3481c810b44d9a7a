"""Accounting: where a domain's accelerator-hours went, each hour counted once.

An hour of an accelerator is split: what it was busy for a job is useful, but for the share of it in
which it was throttled, which is measured (a duty cycle counts slow work as work); the rest goes to
the first of what stood in its way. What an incident took is only what it idled beyond its own
usual: a job that always waits a fifth of the time does not wait for the ill link. A bin of which a
job held it for a part is split likewise. What nothing was read of is unknown, which is neither idle
nor well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Floats
from fabrichealth.model.quantiles import row_median

Bools = NDArray[np.bool_]

ROWS = {
    "useful": "busy for a job",
    "faults": "its own fault, or its host was dark",
    "cooling": "busy but throttled by heat, or idle beyond its usual while cooling was ill",
    "power": "busy but throttled by power, or idle beyond its usual while power was short",
    "links": "idle beyond its usual while a link or switch of its job was ill",
    "maintenance": "drained, or in maintenance",
    "fragmentation": "free while jobs waited that did not fit into what was free",
    "waiting": "held by a job that did not use it",
    "free": "free, and nobody asked for it",
    "unheld": "busy, though no job held it",
    "unallotted": "idle; whether a job held it is not known",
    "unknown": "nothing was read of it, or it is missing",
}
"""Where an hour can have gone, and how a person says it; in the order of a table."""

CAUSES = ("faults", "cooling", "power", "links", "maintenance")
"""What incidents, drains and maintenance stand for, the first that holds first."""

THROTTLES = ("cooling", "power")
"""What throttles, the first that holds first."""

MOSTLY = 0.5
"""Bins of which a job holds so much tell how much an accelerator idles in a job."""

PORTION = 1024
"""Accelerators that are worked on at a time: a week of more would not fit into little memory."""


@dataclass(frozen=True, eq=False)
class Hours:
    """What was read of accelerators in bins of `seconds` each; arrays are [n, k]."""

    seconds: float
    busy: Floats
    """Mean utilisation, NaN where nothing was read."""
    held: Floats
    """Share in which a job held it; NaN where nobody says."""
    throttled: Mapping[str, Floats]
    """Share of time throttled, by each of `THROTTLES`; NaN where nothing was read."""
    standing: Mapping[str, Bools]
    """Whether something of each of `CAUSES` stood in its way."""
    unfit: Bools
    """Whether a job waited that did not fit into what was free ([k])."""

    def part(self, rows: slice) -> "Hours":
        """Return the same of some accelerators."""
        return Hours(
            self.seconds,
            self.busy[rows],
            self.held[rows],
            {name: share[rows] for name, share in self.throttled.items()},
            {name: mask[rows] for name, mask in self.standing.items()},
            self.unfit,
        )

    @property
    def worked(self) -> Floats:
        """Share of each bin in which it was busy for a job, throttled or not ([n, k])."""
        worked = np.fmin(self.busy, self.held)  # of busy alone where nobody says who is held
        worked = np.where(np.isfinite(self.busy), worked, 0.0)
        return np.clip(worked, 0.0, 1.0, out=worked)

    def slowed(self, worked: Floats) -> dict[str, Floats]:
        """Return the share of what was `worked` in which it was throttled, by cause ([n, k])."""
        left, found = worked, {}
        for cause in THROTTLES:
            share = self.throttled.get(cause)
            if share is not None:  # both reasons may hold at a time: the first takes it
                took = np.fmax(np.clip(share, 0.0, 1.0), 0.0) * worked
                found[cause] = np.minimum(took, left, out=took)
                left = left - took
        return found

    @property
    def useful(self) -> Floats:
        """Share of each bin in which it was busy for a job and not throttled ([n, k])."""
        worked = self.worked
        return worked - sum(self.slowed(worked).values(), np.zeros_like(worked))


@dataclass(frozen=True, eq=False)
class Account:
    """Accelerator-hours by row ([n] each), and those of accelerators without a name."""

    rows: Mapping[str, Floats]
    nameless: float

    @property
    def total(self) -> float:
        """All there were."""
        return float(sum(one.sum() for one in self.rows.values())) + self.nameless

    def hours(self, row: str) -> float:
        """Return the accelerator-hours of a row; those without a name are unknown."""
        return float(self.rows[row].sum()) + (self.nameless if row == "unknown" else 0.0)

    def share(self, row: str) -> float | None:
        """Return a row's share of all; None where there is nothing to share."""
        return self.hours(row) / self.total if self.total > 0 else None


def account(told: Hours, nameless: int = 0) -> Account:
    """Return where the hours went; `nameless` are accelerators that are missing altogether."""
    starts = range(0, max(len(told.busy), 1), PORTION)
    parts = [told.part(slice(start, start + PORTION)) for start in starts]
    usual = _usual(parts)
    split = [_split(part, mine) for part, mine in zip(parts, usual, strict=True)]
    hours = told.seconds / 3600.0
    rows = {
        row: np.concatenate([one[row].sum(axis=1) for one in split]).astype(np.float64) * hours
        for row in ROWS
    }
    return Account(rows, nameless * told.busy.shape[1] * hours)


def _split(told: Hours, usual: Floats) -> dict[str, Floats]:
    """Return what share of each bin went to each row ([n, k])."""
    known, asked = np.isfinite(told.busy), np.isfinite(told.held)
    busy = np.clip(np.where(known, told.busy, 0.0), 0.0, 1.0)
    held = np.where(asked, np.clip(told.held, 0.0, 1.0), 1.0)  # not known: perhaps all of it
    worked = told.worked
    slowed = told.slowed(worked)
    useful = worked - sum(slowed.values(), np.zeros_like(worked))
    found = {"useful": useful, "unheld": busy - worked}
    idle = np.where(known, held - worked, 0.0)  # what is still to be told of, of the time held
    free = np.where(known, 1.0 - held - found["unheld"], 0.0)
    silent = ~known
    for cause in CAUSES:
        standing = told.standing[cause]
        found[cause] = gone = slowed.get(cause, np.zeros_like(busy))
        if not standing.any():
            continue
        if cause in {"faults", "maintenance"}:
            gone[standing] += (idle + free + silent)[standing]
            idle[standing] = free[standing] = 0.0
            silent &= ~standing
        else:
            beyond = np.maximum(idle - usual[:, None] * held, 0.0)
            gone[standing] += beyond[standing]
            idle[standing] -= beyond[standing]
    unfit = np.broadcast_to(told.unfit, busy.shape)
    found["fragmentation"] = np.where(unfit, free, 0.0)
    found["free"] = np.where(unfit, 0.0, free)
    found["waiting"] = np.where(asked, idle, 0.0)
    found["unallotted"] = np.where(asked, 0.0, idle)
    found["unknown"] = silent.astype(np.float64)
    return found


def _usual(parts: Sequence[Hours]) -> list[Floats]:
    """Return how much each accelerator idles when a job holds it and nothing is ill ([n] each).

    Where it never was so: what the others usually do; where nobody was: nothing.
    """
    own = []
    for told in parts:
        ill = np.logical_or.reduce(list(told.standing.values()))
        for share in told.throttled.values():
            ill |= share > 0  # not where nothing was read
        with np.errstate(invalid="ignore", divide="ignore"):
            idle = 1.0 - told.worked / told.held
            mostly = (told.held >= MOSTLY) & np.isfinite(told.busy) & ~ill
        own.append(row_median(np.where(mostly, idle, np.nan)))
    every = np.concatenate(own)
    seen = every[np.isfinite(every)]
    others = float(np.median(seen)) if len(seen) else 0.0
    return [np.where(np.isfinite(one), one, others) for one in own]
