"""Room: how many accelerators are free in every tray, and how many of those are fit for a job.

A tray is a host; accelerators of no known host lie in their rack's tray, else in their domain's.
Free is what no job holds on a host that takes work. Unknown is neither free nor held: where the
scheduler is silent there is no room, nor its lack.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.allocation import FREE, HELD, UNKNOWN, Allocation, allocation
from analyzer.evidence.domain.fitness import Fitness, fitness
from analyzer.evidence.domain.fragmentation import Counts, Units
from analyzer.evidence.domain.inventory import Inventory, inventory
from analyzer.evidence.durations import fresh
from fabrichealth.catalogue.accelerators import ALLOCATED
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.model import View

Places = NDArray[np.intp]
Bools = NDArray[np.bool_]


TIERS = ("tray", "rack", "domain")
"""Ways to make units of trays, the smallest first."""


@dataclass(frozen=True, eq=False)
class Trays:
    """The trays of a site, by domain, rack and host in byte order."""

    names: tuple[str, ...]
    """Of each tray: its host, else its rack, else its domain."""
    domain: Places
    """Code of each tray's domain in the inventory ([t]); -1 for none."""
    rack: Places
    """Code of each tray's rack ([t]); -1 for none."""
    of: Places
    """Tray of each accelerator of the inventory ([n])."""
    size: Counts
    """Accelerators in each tray ([t])."""


@dataclass(frozen=True, eq=False)
class Room:
    """The trays of one domain."""

    domain: str
    trays: tuple[str, ...]
    racks: tuple[str, ...]
    """Rack of each tray; empty where it is not known."""
    size: Counts
    free: Counts
    """Accelerators that no job holds and the scheduler would give away ([t])."""
    fit: Counts
    """Those of them that nothing ill stands before, so that they do in a job of several ([t])."""
    unknown: Counts
    """Accelerators of which nobody says whether they are held ([t])."""
    sound: Counts | None = None
    """Accelerators that would be fit if no job held any ([t]); None: all of them."""

    @property
    def at_most(self) -> Counts:
        """How many a job could have of each tray if all that lies there were moved away ([t])."""
        return self.size if self.sound is None else self.sound

    @property
    def known(self) -> bool:
        """Whether the scheduler speaks of any accelerator here."""
        return bool((self.unknown < self.size).any())

    @cached_property
    def rack_of(self) -> Places:
        """Rack of each tray by number ([t]); trays of no known rack are one each."""
        own = [rack or f"\0{place}" for place, rack in enumerate(self.racks)]
        return np.unique(own, return_inverse=True)[1].astype(np.intp)

    def units(self, tier: str, *, healthy: bool = True) -> Units:
        """Return the units of a tier: tray, rack or domain; `healthy`: only what is fit."""
        had = self.fit if healthy else self.free
        if tier == "tray":
            return Units(self.size, had)
        code = self.rack_of if tier == "rack" else np.zeros(len(self.size), np.intp)
        return Units(_summed(self.size, code), _summed(had, code))

    def placeable(self, job: int) -> int:
        """Return how many accelerators jobs of a size could have here, tray by tray."""
        return self.units("tray", healthy=job > 1).placeable(job)

    def lost(self, job: int, tier: str = "tray", *, healthy: bool = True) -> float | None:
        """Return the share of the free accelerators that jobs of a size cannot have.

        What is free and not fit is lost to jobs of more than one, where `healthy` is asked for.
        """
        total = int(self.free.sum())
        had = self.units(tier, healthy=healthy and job > 1).placeable(job)
        return 1.0 - had / total if total else None

    def stranded(self, smallest: int) -> int:
        """Return the free accelerators in trays with too few for the smallest job that waits."""
        return self.units("tray", healthy=smallest > 1).stranded(smallest)

    @property
    def largest(self) -> int:
        """The largest job that would fit now."""
        single = 1 if self.free.any() else 0
        return max(self.units("tray").largest, single)


def rooms(view: View) -> dict[str, Room]:
    """Return the room of every domain that has accelerators, by name; "" for those of none."""
    return view.once(("rooms", view[ALLOCATED].seconds), lambda: _rooms(view))


def _rooms(view: View) -> dict[str, Room]:
    stock = inventory(view)
    return rooms_of(stock, allocation(view), fitness(view, stock), closed_hosts(view))


def rooms_of(
    stock: Inventory, held: Allocation, fit: Fitness, closed: frozenset[str]
) -> dict[str, Room]:
    """Return the room of every domain; `closed` are hosts to which nothing is scheduled."""
    trays = _trays(stock)
    state, _ = held.of(stock.names)
    many = len(trays.names)
    open_ = np.array([name not in closed for name in trays.names], np.bool_)

    def count(which: Bools) -> Counts:
        return np.bincount(trays.of[which], minlength=many).astype(np.int64)

    taken, unknown = count(state == HELD), count(state == UNKNOWN)
    free = count((state == FREE) & ~fit.broken)
    fine = count((state == FREE) & ~fit.broken & ~fit.doubtful)
    broken, doubtful = count(fit.broken), count(fit.broken | fit.doubtful)
    for tray in np.flatnonzero(unknown).tolist():
        counted = held.on_host.get(trays.names[tray])
        if counted is None:
            continue  # nobody says how many either
        # nobody says which are free: those that are ill may be among them
        left = int(trays.size[tray]) - max(counted, int(taken[tray]))
        free[tray] = max(left - int(broken[tray]), 0)
        fine[tray] = max(left - int(doubtful[tray]), 0)
        unknown[tray] = 0
    free, fine = np.where(open_, free, 0), np.where(open_, fine, 0)
    sound = np.where(open_, trays.size - doubtful, 0)
    found = {}
    for code, name in [(-1, ""), *enumerate(stock.domain.names)]:
        mine = np.flatnonzero(trays.domain == code)
        if not len(mine):
            continue
        racks = trays.rack[mine].tolist()
        found[name] = Room(
            name,
            tuple(trays.names[tray] for tray in mine.tolist()),
            tuple(stock.rack.names[rack] if rack >= 0 else "" for rack in racks),
            trays.size[mine],
            free[mine],
            fine[mine],
            unknown[mine],
            sound[mine],
        )
    return found


def closed_hosts(view: View) -> frozenset[str]:
    """Return the hosts on which the scheduler says that it places nothing."""
    window = view[SCHEDULABLE]
    rows = np.flatnonzero(fresh(window) & (window.last < 0.5)).tolist()
    return frozenset(window.labels(row)[0] for row in rows)


@lru_cache(maxsize=4)
def _trays(stock: Inventory) -> Trays:
    host, rack, domain = (
        tier.code.astype(np.intp) for tier in (stock.host, stock.rack, stock.domain)
    )
    hosts, racks = len(stock.host.names), len(stock.rack.names)
    own = np.where(host >= 0, host, np.where(rack >= 0, hosts + rack, hosts + racks + domain + 1))
    # ordered by domain and rack first, so that what lies together stands together
    key = np.stack([domain, rack, own], axis=1)
    distinct, first, of = np.unique(key, axis=0, return_index=True, return_inverse=True)
    names = tuple(
        stock.host.of(row) or stock.rack.of(row) or stock.domain.of(row) for row in first.tolist()
    )
    of = of.reshape(-1).astype(np.intp)
    size = np.bincount(of, minlength=len(names)).astype(np.int64)
    return Trays(names, distinct[:, 0], distinct[:, 1], of, size)


def _summed(values: Counts, code: Places) -> Counts:
    return np.bincount(code, weights=values).astype(np.int64)
