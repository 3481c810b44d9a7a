"""Accounting: where a domain's accelerator-hours went, each hour counted once.

An hour of an accelerator is split: what it was busy for a job is useful; the rest goes to the first
of what stood in its way. What throttled it is measured. What an incident took is only what it idled
beyond its own usual: a job that always waits a fifth of the time does not wait for the ill link.
What nothing was read of is unknown, which is neither idle nor well.
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
    "cooling": "throttled by heat, or idle beyond its usual while cooling was ill",
    "power": "throttled by power, or idle beyond its usual while power was short",
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

FREE, HELD, NOT_KNOWN = 0, 1, -1

PORTION = 1024
"""Accelerators that are worked on at a time: a week of more would not fit into little memory."""


@dataclass(frozen=True, eq=False)
class Hours:
    """What was read of accelerators in bins of `seconds` each; arrays are [n, k]."""

    seconds: float
    busy: Floats
    """Mean utilisation, NaN where nothing was read."""
    held: NDArray[np.int8]
    """HELD, FREE or NOT_KNOWN."""
    throttled: Mapping[str, Floats]
    """Share of time throttled, by `cooling` and `power`; NaN where nothing was read."""
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
    def useful(self) -> Floats:
        """Share of each bin in which an accelerator was busy for a job ([n, k])."""
        busy = np.clip(np.nan_to_num(self.busy), 0.0, 1.0)
        return np.where(self.held != FREE, busy, 0.0)


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
    known = np.isfinite(told.busy)
    busy = np.clip(np.where(known, told.busy, 0.0), 0.0, 1.0)
    held, free = told.held == HELD, told.held == FREE
    taken = np.where(known, 1.0 - busy, 0.0)  # what is still to be told of
    found = {"useful": told.useful, "unheld": np.where(known & free, busy, 0.0)}
    silent = ~known
    for cause in CAUSES:
        standing = told.standing[cause]
        if cause in {"faults", "maintenance"}:
            gone = np.where(standing, np.where(known, taken, silent), 0.0)
            silent &= ~standing
        else:
            share = told.throttled.get(cause, np.zeros_like(busy))
            gone = np.minimum(np.nan_to_num(np.clip(share, 0.0, 1.0)), taken)
            beyond = np.clip(taken - usual[:, None], 0.0, None)
            gone = np.where(standing & ~free, np.maximum(gone, beyond), gone)
        found[cause] = gone
        taken = np.where(known, taken - gone, taken)
    unfit = np.broadcast_to(told.unfit, busy.shape)
    found["fragmentation"] = np.where(free & unfit, taken, 0.0)
    found["free"] = np.where(free & ~unfit, taken, 0.0)
    found["waiting"] = np.where(held, taken, 0.0)
    found["unallotted"] = np.where(told.held == NOT_KNOWN, taken, 0.0)
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
            ill |= np.nan_to_num(share) > 0
        idle = 1.0 - np.clip(told.busy, 0.0, 1.0)
        own.append(row_median(np.where((told.held == HELD) & ~ill, idle, np.nan)))
    every = np.concatenate(own)
    seen = every[np.isfinite(every)]
    others = float(np.median(seen)) if len(seen) else 0.0
    return [np.where(np.isfinite(one), one, others) for one in own]
