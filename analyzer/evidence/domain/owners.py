"""Owners: who answers for accelerators that idle, and where they sit together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import hypergeom

from analyzer.evidence.domain.allocation import (
    FREE,
    HELD,
    NOBODY,
    allocation,
)
from analyzer.evidence.domain.distribution import Bools
from analyzer.evidence.domain.inventory import Inventory, Rows, Tier
from analyzer.evidence.domain.tenure import tenure
from analyzer.evidence.durations import fresh
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.model import View

SURE = 0.001
"""Chance, over all groups looked at, at which idle ones sit together by more than chance."""

MOSTLY = 0.8
"""And such a share of a group must idle."""


@dataclass(frozen=True)
class Owner:
    """Somebody, or nobody, who answers for some of the idle accelerators."""

    says: str
    """As it is told: `job j1`, `no job`, `cordoned hosts`, `silent`, .."""
    job: str
    """Name of the job; empty where it is none."""
    rows: Rows
    """Accelerators, as rows of the inventory."""


def owners(view: View, stock: Inventory, idle: Rows, silent: Bools) -> list[Owner]:
    """Return who answers for idle accelerators, the largest share first.

    `silent` ([n]) tells which accelerators of the inventory say nothing.
    """
    names = [stock.names[row] for row in idle.tolist()]
    found = allocation(view)
    state, _ = found.of(names)
    long = tenure(view, stock, found, idle)
    job = long.job
    shut = cordoned(view, stock)[idle]
    mute = silent[idle]
    kinds: list[tuple[str, str, Bools]] = [("silent", "", mute)]
    for number in np.unique(job[(job != NOBODY) & ~mute]).tolist():
        name = found.told.rows[number].name
        kinds.append((f"job {name}", name, (job == number) & ~mute))
    kinds += [
        ("several jobs in turn", "", long.turns & ~mute),
        ("no job until lately", "", long.late & ~mute),
    ]
    rest = ~mute & ~long.turns & ~long.late & (job == NOBODY)
    unnamed = rest & ((state == HELD) | long.unnamed)
    rest &= ~unnamed
    open_ = rest & (state != FREE) & ~shut
    hosts = [stock.host.of(row) for row in idle.tolist()]
    counted = np.array([host in found.on_host for host in hosts], np.bool_)
    lost = np.isin(names, found.silent)
    kinds += [
        ("a job that is not named", "", unnamed),
        ("cordoned hosts", "", rest & shut),
        ("no job", "", rest & (state == FREE) & ~shut),
        ("unknown: the scheduler counts and does not say which", "", open_ & counted),
        ("unknown: the scheduler fell silent", "", open_ & ~counted & lost),
        ("unknown: no scheduler is read", "", open_ & ~counted & ~lost),
    ]
    told = [Owner(says, name, idle[those]) for says, name, those in kinds if those.any()]
    return sorted(told, key=lambda one: -len(one.rows))


def cordoned(view: View, stock: Inventory) -> Bools:
    """Return which accelerators are on a host where the scheduler places nothing ([n])."""
    window = view[SCHEDULABLE]
    if not len(window):
        return np.zeros(len(stock), np.bool_)
    shut = np.flatnonzero(fresh(window) & (window.last == 0)).tolist()
    hosts = {window.labels(row)[0] for row in shut}
    closed = np.array([name in hosts for name in stock.host.names], np.bool_)
    return closed[stock.host.code] & (stock.host.code >= 0) if len(closed) else np.zeros(
        len(stock), np.bool_
    )  # fmt: skip


@dataclass(frozen=True)
class Cluster:
    """A rack or host whose accelerators idle together."""

    name: str
    idle: int
    members: int


def together(stock: Inventory, domain: Rows, idle: Rows) -> list[Cluster]:
    """Return the racks, else the hosts, in which idle accelerators of a domain sit together.

    By Fisher's exact test of each against the rest of the domain, over as many as there are.
    """
    for tier in (stock.rack, stock.host):
        found = _clusters(tier, domain, idle)
        if found:
            return found
    return []


def _clusters(tier: Tier, domain: Rows, idle: Rows) -> list[Cluster]:
    code = tier.code[domain]
    groups = len(tier.names)
    members = np.bincount(code[code >= 0], minlength=groups)
    own = tier.code[idle]
    ill = np.bincount(own[own >= 0], minlength=groups)
    there = np.flatnonzero((members > 1) & (ill > 0))
    if len(np.flatnonzero(members)) < 2:
        return []
    chance = hypergeom.sf(ill[there] - 1, len(domain), len(idle), members[there])
    sure = (chance * max(len(there), 1) <= SURE) & (ill[there] >= MOSTLY * members[there])
    found = [Cluster(tier.names[g], int(ill[g]), int(members[g])) for g in there[sure].tolist()]
    return sorted(found, key=lambda one: (-one.idle, one.name))


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names for a person: the first ones, and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
