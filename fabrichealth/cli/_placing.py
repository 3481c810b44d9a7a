"""Placements as rows: where a job fits, domain by domain, and why it does not fit in the others."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from analyzer.detectors.domain_fragmented import DomainFragmented, DomainFragmentedSettings
from analyzer.evidence.domain.allocation import FREE, Allocation, allocation
from analyzer.evidence.domain.closed import closed
from analyzer.evidence.domain.demand import demands
from analyzer.evidence.domain.fitness import Fitness, fitness
from analyzer.evidence.domain.inventory import Inventory, inventory
from analyzer.evidence.domain.migrations import migrations, pieces
from analyzer.evidence.domain.placing import Placement, placements
from analyzer.evidence.domain.room import Room, rooms
from analyzer.evidence.durations import fresh
from analyzer.viewing import Viewing
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.events import Event
from fabrichealth.model import View
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

MOST_REASONS = 3
"""Reasons that are named in a sentence; --json has all."""

MOST_ACCELERATORS = 1_000_000
"""A larger job is a slip of the finger."""


def looked(store: Store, topology: Topology, events: Sequence[Event], now: float) -> View:
    """Return what is known of free accelerators at a moment (unix seconds)."""
    detector = DomainFragmented(DomainFragmentedSettings())
    viewing = Viewing(store, {})
    viewing.advance(now)
    known = sorted((event for event in events if event.at <= now), key=lambda event: event.at)
    return viewing.view(detector, topology, known, ())


def placement_rows(view: View, job: int, domain: str = "") -> list[dict[str, Any]]:
    """Return a row for each place, the best first, then one for each domain that has none.

    `fits` is true, false, or null where nobody says what is held. `domain` leaves out the others.
    """
    every = {name: one for name, one in rooms(view).items() if not domain or name == domain}
    waiting: Counter[int] = Counter()
    for one in demands(view):
        waiting[one.size] += one.many
    found = placements(every.values(), job, waiting)
    names = _Free(inventory(view), allocation(view), fitness(view, inventory(view)))
    rows = [_placed(one, names) for one in found]
    fitting = {name for one in found for name in one.domains if len(one.domains) == 1}
    rest = [room for name, room in every.items() if name not in fitting]
    return rows + [_refused(view, room, job) for room in rest]


class _Free:
    """Names of free accelerators, host by host; none where a host is counted only."""

    def __init__(self, stock: Inventory, held: Allocation, fit: Fitness) -> None:
        state, _ = held.of(stock.names)
        self._stock = stock
        self._fit = (state == FREE) & ~fit.doubtful & ~fit.broken
        self._any = (state == FREE) & ~fit.broken

    def of(self, host: str, many: int, *, ill: bool) -> list[str] | None:
        rows = self._stock.host.rows(host)
        free = rows[(self._any if ill else self._fit)[rows]]
        return (
            [self._stock.names[row] for row in free[:many].tolist()] if len(free) >= many else None
        )


def _placed(one: Placement, names: _Free) -> dict[str, Any]:
    return {
        "fits": True,
        "domains": list(one.domains),
        "racks": list(one.racks),
        "hosts": [
            {
                "host": share.tray,
                "rack": share.rack,
                "domain": share.domain,
                "accelerators": share.accelerators,
                "names": names.of(share.tray, share.accelerators, ill=one.behind_ill),
            }
            for share in one.shares
        ],
        "lost_before": one.lost_before,
        "lost_after": one.lost_after,
        "largest_after": one.largest_after,
        "because": "behind something ill: it has no other place" if one.behind_ill else "",
    }


def _unknown(view: View, domain: str) -> str:
    """Return why nobody knows what is held in a domain."""
    window = view[SCHEDULABLE]
    listed = {window.labels(row)[0] for row in np.flatnonzero(fresh(window)).tolist()}
    if any(view.topology.domain_of(host) == domain for host in listed):
        return "its scheduler lists hosts, and offers fewer than these have or not all was read"
    if any(view.topology.domain_of(one) == domain for one in allocation(view).silent):
        return "its scheduler fell silent"
    return "no scheduler and no event tells"


def _first(closing: Counter[str]) -> int:
    return sum(many for _, many in closing.most_common(MOST_REASONS))


def _refused(view: View, room: Room, job: int) -> dict[str, Any]:
    free, ill = int(room.free.sum()), int((room.free - room.fit).sum())
    unknown = int(room.unknown.sum())
    row: dict[str, Any] = {
        "fits": False if room.known else None,
        "domains": [room.domain],
        "free": free if room.known else None,
        "largest": room.largest if room.known else None,
        "moves": [],
    }
    if not room.known:
        return {**row, "because": f"nobody says what is held: {_unknown(view, room.domain)}"}
    closing = closed(view, room.domain)
    row["closed"] = [{"by": by, "accelerators": many} for by, many in closing.most_common()]
    because = f"{free} of {int(room.size.sum())} are free"
    if closing:
        shown = [f"{many} by {by}" for by, many in closing.most_common(MOST_REASONS)]
        more = len(closing) - len(shown)
        shown += [f"{sum(closing.values()) - _first(closing)} by {more} more"] if more else []
        because += f", {sum(closing.values())} are closed ({', '.join(shown)})"
    because += f", {ill} of them behind something ill" if ill else ""
    because += f", of {unknown} nobody says" if unknown else ""
    if free >= job:
        because += f"; the largest that fits is {room.largest}"
        stock = inventory(view)
        own = pieces(stock, allocation(view), fitness(view, stock))
        moves = migrations(room, own, job) or []
        row["moves"] = [
            {"job": m.job, "accelerators": m.accelerators, "from": m.source, "to": m.target}
            for m in moves
        ]
        because += f"; room after moving {', '.join(map(str, moves))}" if moves else ""
    return {**row, "because": because}
