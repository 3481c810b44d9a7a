"""The account of a domain's hours: who held what, what was busy, and what it drew."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.accounts.bins import Bins, binned, grid, named
from analyzer.accounts.hindrances import standing, unfit
from analyzer.evidence.domain.accounting import Account, Hours, account
from analyzer.evidence.domain.energy import Energy, energy
from analyzer.evidence.domain.inventory import stock
from analyzer.evidence.domain.jobs import Jobs, jobs
from fabrichealth.catalogue.accelerators import ALLOCATED, POWER, THROTTLED, UTILIZATION
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.catalogue.power import RACK_POWER
from fabrichealth.events import Event
from fabrichealth.model import Floats, Incident
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

REASONS = {"thermal": "cooling", "power": "power"}
"""What throttles, by the word that a reason holds."""


@dataclass(frozen=True, eq=False)
class Accounted:
    """Where the hours of a domain went from `since` to `until`, and what they drew."""

    domain: str
    since: float
    until: float
    account: Account
    energy: Energy | None


def accounted(
    store: Store,
    topology: Topology,
    incidents: Iterable[Incident],
    events: Sequence[Event],
    domain: str,
    until: float,
    seconds: float,
) -> Accounted:
    """Return where the accelerator-hours of a domain went in the last so many seconds."""
    inventory = stock(topology, store.table)
    bins = Bins.of(inventory, domain, until, seconds)
    every = list(incidents)
    told = Hours(
        bins.seconds,
        grid(store, UTILIZATION, bins),
        _held(store, bins, jobs(events, inventory.names)),
        _throttled(store, bins),
        standing(store, bins, topology, every, events),
        unfit(bins, domain, every),
    )
    found = account(told, inventory.unlisted.get(domain, 0))
    return Accounted(domain, bins.since, until, found, _energy(store, bins, told))


def _held(store: Store, bins: Bins, told: Jobs) -> Floats:
    """Return the share of each bin in which a job held each accelerator ([n, k]); NaN: not told.

    By the scheduler's series; where it counts those of a host only, by the count where that is
    none or all; else by events of jobs, which tell who is free only where no scheduler is read
    and jobs ran on accelerators of this very domain.
    """
    said = grid(store, ALLOCATED, bins)
    counted = _counted(store, bins)
    by_events = _by_events(bins, told)
    journal = bool(by_events.any()) and not (np.isfinite(said).any() or np.isfinite(counted).any())
    mine = by_events if journal else np.where(by_events > 0.0, by_events, np.nan)
    said = np.where(np.isfinite(said), said, counted)
    return np.where(np.isfinite(said), said, mine)


def _counted(store: Store, bins: Bins) -> Floats:
    """Return 0 and 1 where none or all of a host's accelerators are held ([n, k]), else NaN."""
    tier = bins.inventory.host
    number = {name: place for place, name in enumerate(tier.names)}
    counts = binned(store, HOST_ALLOCATED, bins, len(number), named(number))
    size = np.bincount(tier.code[tier.code >= 0], minlength=len(number))[:, None]
    with np.errstate(invalid="ignore"):
        known = np.where(counts <= 0.0, 0.0, np.where(counts >= size, 1.0, np.nan))
    host = tier.code[bins.rows]
    found = np.full((len(host), bins.number), np.nan)
    found[host >= 0] = known[host[host >= 0]]
    return found


def _by_events(bins: Bins, told: Jobs) -> Floats:
    """Return the share of each bin in which events say that a job held each ([n, k])."""
    place = {name: row for row, name in enumerate(bins.names)}
    found = np.zeros((len(place), bins.number))
    for job in told.rows:
        mine = [place[name] for name in job.accelerators if name in place]
        if mine and job.until > bins.since:
            first, shares = bins.cover(job.since, min(job.until, bins.until))
            found[mine, first : first + len(shares)] += shares
    return np.minimum(found, 1.0)


def _throttled(store: Store, bins: Bins) -> dict[str, Floats]:
    return {cause: grid(store, THROTTLED, bins, word) for word, cause in REASONS.items()}


def _energy(store: Store, bins: Bins, told: Hours) -> Energy | None:
    """Return what was drawn, by meters of racks where there are any, else by accelerators."""
    tier = bins.inventory.rack
    code = tier.code[bins.rows].astype(np.intp)
    racks = set(code.tolist())
    number = {name: place for place, name in enumerate(tier.names) if place in racks}
    watts = binned(store, RACK_POWER, bins, len(tier.names), named(number))
    if np.isfinite(watts).any():
        return energy(watts, code, told.useful, bins.seconds, "rack")
    drawn = grid(store, POWER, bins)
    own = np.arange(len(bins.rows), dtype=np.intp)
    return energy(drawn, own, told.useful, bins.seconds, "accelerator")
