"""Demand: jobs that wait for accelerators, by size, and since when.

The scheduler's series says how many wait now; events say since when each does, and stand alone
where no scheduler is read. Nobody waits since before the series last said that nobody did: an event
that says so is of a job whose end was never told. Jobs that want no accelerator are none of ours.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analyzer.evidence.domain.allocation import allocation
from analyzer.evidence.domain.jobs import Waiting
from analyzer.evidence.durations import fresh, unbroken
from fabrichealth.catalogue.devices import JOBS_PENDING
from fabrichealth.model import Floats, View, Window


@dataclass(frozen=True, slots=True)
class Demand:
    """So many jobs that want `size` accelerators each; the first of them waits since then."""

    domain: str
    """The one domain in which they may be placed; empty where any will do."""
    size: int
    many: int
    since: float
    at: float
    """When it was so last, unix seconds."""


def demands(view: View) -> list[Demand]:
    """Return who waits now, the largest jobs first."""
    return view.once(("demands", view[JOBS_PENDING].seconds), lambda: _demands(view))


def _demands(view: View) -> list[Demand]:
    window = view[JOBS_PENDING]
    told = _by_size(allocation(view).waiting)
    if not len(window.table.of(JOBS_PENDING)):
        found = [
            Demand(domain, size, len(jobs), min(job.since for job in jobs), view.now)
            for (domain, size), jobs in told.items()
        ]
        return _largest_first(found)
    waits = np.isfinite(window.values) & (window.values >= 1.0)
    since, _ = unbroken(waits, window)
    nobody = _nobody_waited(window, since)
    found = []
    for row in np.flatnonzero(fresh(window) & (window.last >= 1.0)).tolist():
        domain, text = window.labels(row)
        size = int(text) if text.isdecimal() and len(text) < 8 else 0
        if not size:
            continue
        many = min(int(window.last[row]), 1_000_000)
        mine = sorted(job.since for job in told.get((domain, size), ()))[-many:]
        began = min(float(since[row]), max(min(mine, default=np.inf), float(nobody[row])))
        found.append(Demand(domain, size, many, began, float(window.last_at[row])))
    return _largest_first(found)


def _nobody_waited(window: Window, since: Floats) -> Floats:
    """Return when the scheduler last spoke, before `since` ([s]), without these jobs; else -inf."""
    spoke = np.zeros((len(window.at), window.values.shape[1]), np.bool_)
    np.logical_or.at(spoke, window.clock, np.isfinite(window.values))
    at = window.at[window.clock]
    with np.errstate(invalid="ignore"):
        before = spoke[window.clock] & (at < since[:, None])
    return np.asarray(np.where(before, at, -np.inf).max(axis=1, initial=-np.inf), np.float64)


def _by_size(waiting: Iterable[Waiting]) -> dict[tuple[str, int], list[Waiting]]:
    found: dict[tuple[str, int], list[Waiting]] = defaultdict(list)
    for job in waiting:
        if job.size:
            found[job.domain, job.size].append(job)
    return found


def _largest_first(found: list[Demand]) -> list[Demand]:
    return sorted(found, key=lambda one: (-one.size, one.domain))
