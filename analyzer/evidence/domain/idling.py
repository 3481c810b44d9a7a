"""Idling: domains in which the same accelerators idle while a published mean looks well."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from analyzer.evidence.domain.allocation import HELD, NOBODY, UNKNOWN, allocation
from analyzer.evidence.domain.distribution import Bools, two_classes
from analyzer.evidence.domain.hours import over_hours
from analyzer.evidence.domain.illusions import Illusion, Members, Published, means
from analyzer.evidence.domain.inventory import Inventory, Rows
from analyzer.evidence.domain.work import Work
from fabrichealth.model import Floats, View
from fabrichealth.topology import Topology

MOST_LOOKED_AT = 120
"""At so many ticks at most a domain is parted into classes: a share of them is wanted."""

QUIET = 0.5
"""An accelerator that says nothing at more of the ticks than this is silent, not idle."""


@dataclass(frozen=True)
class Bounds:
    """When idling counts: shares but for `gap`, a distance of utilisations."""

    idle: float
    """Busy for less is idle."""
    share: float
    """Of the inventory that must idle at a tick, and all along."""
    ticks: float
    """Of the ticks at which there must be two classes."""
    same: float
    """Of the ticks at which an accelerator must idle to be one of the same."""
    between: float
    """Of the variance that must lie between the classes."""
    gap: float
    mean: float
    """The published mean from which on it looks well."""
    hours: float
    """Seconds over which means are published."""


@dataclass(frozen=True, eq=False)
class Idling:
    """One domain that hides idle accelerators."""

    domain: str
    size: int
    """Of the inventory, those aside that do not count how busy they are."""
    uncounted: int
    rows: Rows
    """The same ones that idle all along, or say nothing."""
    silent: Bools
    """Which accelerators of the inventory say nothing ([n])."""
    unlisted: int
    """Accelerators without a name, which say nothing either."""
    busy: float
    """Mean of the upper class over the ticks."""
    ticks: float
    """Share of the ticks at which there are two classes."""
    since: float
    plain: float
    """Mean over the inventory."""
    illusions: tuple[Published, ...]
    """Means that look well, the one that deceives most first."""

    @property
    def share(self) -> float:
        """Of the inventory that idles or says nothing."""
        return (len(self.rows) + self.unlisted) / self.size


def idling(view: View, done: Work, bounds: Bounds) -> Iterator[Idling]:
    """Yield the domains with hidden idle accelerators."""
    if len(done.told.at) < 2:
        return
    stock, believed = done.stock, done.believed
    with np.errstate(invalid="ignore"):
        idle = ~(believed >= bounds.idle)  # missing counts
    still = (idle & ~_began_to_speak(believed)).mean(axis=1) >= bounds.same
    for name in sorted({*stock.domain.names, *stock.unlisted}):
        every = stock.domain.rows(name)
        rows = every[~done.uncounted[every]]  # they may work and may not: nobody says
        rows = _there(view.topology, name, stock, rows, believed)
        unlisted = stock.unlisted.get(name, 0)
        same = rows[still[rows]]
        size = len(rows) + unlisted
        if size < 2 or len(same) + unlisted < bounds.share * size or len(rows) == len(same):
            continue
        found = _looked_at(view, done, bounds, name, rows, idle, same)
        if found is not None:
            yield replace(found, uncounted=int(done.uncounted[every].sum()))


def _began_to_speak(believed: Floats) -> Bools:
    """Return the ticks before the first that each said anything at, of those that speak now.

    They were put in, or are back, and did not idle all along.
    """
    known = np.isfinite(believed)
    return ~np.logical_or.accumulate(known, axis=1) & known[:, -1:]


def _there(topology: Topology, name: str, stock: Inventory, rows: Rows, believed: Floats) -> Rows:
    """Return the accelerators of a domain without former names of some of them.

    Those are silent, not written, and more than the domain should have.
    """
    written = topology.domains.get(name)
    beyond = len(rows) - written.accelerators if written and written.accelerators else 0
    if beyond <= 0:
        return rows
    mute = rows[np.isnan(believed[rows]).all(axis=1)]
    gone = [row for row in mute.tolist() if stock.names[row] not in topology.devices]
    return np.setdiff1d(rows, gone[:beyond])


def _looked_at(
    view: View, done: Work, bounds: Bounds, name: str, rows: Rows, idle: Bools, same: Rows
) -> Idling | None:
    stock, believed = done.stock, done.believed
    unlisted = stock.unlisted.get(name, 0)
    size = len(rows) + unlisted
    looked = slice(None, None, -(-believed.shape[1] // MOST_LOOKED_AT))
    values = np.nan_to_num(believed[rows, looked]).T  # what is missing counts as idle here
    values = np.sort(np.hstack([values, np.zeros((len(values), unlisted))]), axis=1)
    split = two_classes(values, np.full(len(values), size))
    crowd = (idle[rows, looked].sum(axis=0) + unlisted) / size
    with np.errstate(invalid="ignore"):
        apart = (split.between > bounds.between) & (split.gap >= bounds.gap)
    two = apart & (crowd >= bounds.share)
    if two.mean() < bounds.ticks:
        return None
    members = _members(view, done, rows, np.isin(rows, same), unlisted, bounds.hours)
    every = means(members)
    well = tuple(one for one in every if one.mean >= bounds.mean)
    if not well:
        return None
    mute = np.isnan(done.told.values).mean(axis=1) > QUIET
    return Idling(
        name, size, 0, same, mute, unlisted,
        float(split.high[two].mean()), float(two.mean()),
        _since(done.told.at, idle[same], unlisted, size, bounds.share), every[-1].mean, well,
    )  # fmt: skip


def _members(
    view: View, done: Work, rows: Rows, idle: Bools, unlisted: int, hours: float
) -> Members:
    stock = done.stock
    state, job = allocation(view).of([stock.names[row] for row in rows.tolist()])
    return Members(
        done.believed[rows],
        done.told.values[rows],
        idle,
        done.rests[rows],
        done.bursts[rows],
        unlisted,
        None if (state == UNKNOWN).all() else state == HELD,
        np.where(job == NOBODY, -1, job),
        over_hours(view, stock, hours)[rows],
    )


def _since(at: Floats, idle: Bools, unlisted: int, size: int, share: float) -> float:
    """Return from which tick on enough of the same ones idle without a break of all of them."""
    enough = (idle.sum(axis=0) + unlisted) / size >= share / 2
    broken = np.flatnonzero(~enough)
    first = 0 if not len(broken) else min(int(broken[-1]) + 1, len(at) - 1)
    return float(at[first])


def plainly(illusions: tuple[Published, ...]) -> list[Illusion]:
    """Return the illusions by name, the plain mean only where nothing else deceives."""
    named = [one.illusion for one in illusions if one.illusion is not Illusion.AVERAGE]
    return list(dict.fromkeys(named)) or [Illusion.AVERAGE]
