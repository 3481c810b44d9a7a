"""The account of a domain's hours: who held what, what was busy, and what it drew."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.accounts.bins import Bins, binned, grid, named
from analyzer.accounts.hindrances import standing, unfit
from analyzer.evidence.domain.accounting import FREE, HELD, NOT_KNOWN, Account, Hours, account
from analyzer.evidence.domain.energy import Energy, energy
from analyzer.evidence.domain.inventory import stock
from analyzer.evidence.domain.jobs import Jobs, jobs
from fabrichealth.catalogue.accelerators import ALLOCATED, POWER, THROTTLED, UTILIZATION
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


def _held(store: Store, bins: Bins, told: Jobs) -> NDArray[np.int8]:
    """Return who holds what, by the scheduler's series, else by events of jobs."""
    said = grid(store, ALLOCATED, bins)
    held = np.where(said >= 0.5, HELD, FREE).astype(np.int8)
    place = {name: row for row, name in enumerate(bins.names)}
    by_events = np.full(held.shape, FREE if told.rows else NOT_KNOWN, np.int8)
    for job in told.rows:
        mine = [place[name] for name in job.accelerators if name in place]
        by_events[mine, bins.span(job.since, min(job.until, bins.until))] = HELD
    return np.where(np.isfinite(said), held, by_events)


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
