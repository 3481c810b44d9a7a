"""Accounts: reads a store, incidents and events for the accounting of a domain's hours.

In bins of ten minutes, of a minute for less than a day: a week of 8,192 accelerators is some
millions of numbers, gathered as columns. Whose fault an idle hour was is what incidents say.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.domain.accounting import (
    CAUSES,
    FREE,
    HELD,
    NOT_KNOWN,
    Account,
    Bools,
    Hours,
    account,
)
from analyzer.evidence.domain.energy import Energy, energy
from analyzer.evidence.domain.inventory import Inventory, stock
from analyzer.evidence.domain.jobs import Jobs, jobs
from analyzer.incidents.scope import in_scope
from fabrichealth.catalogue.accelerators import ALLOCATED, POWER, THROTTLED, UTILIZATION
from fabrichealth.catalogue.devices import SCHEDULABLE
from fabrichealth.catalogue.power import RACK_POWER
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, DOMAIN_FRAGMENTED, IncidentKind, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Incident, Place, Window
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

DAY = 86_400.0
COARSE, FINE = 600.0, 60.0

LEAST_SEVERITY = Severity.WATCH
"""Graver than this an incident takes something from somebody."""

OF_KINDS = {
    "link": "links", "optics": "links", "pfc": "links", "fabric": "links", "parts": "links",
    "cooling": "cooling", "power": "power", "accelerator": "faults", "host": "links",
}  # fmt: skip
"""What stood in the way, by the first word of an incident's kind."""

REASONS = {"thermal": "cooling", "power": "power"}
"""What throttles, by the word that a reason holds."""

MAINTENANCE = 4 * 3600.0
"""Of a maintenance that nobody ended (contract 4)."""

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Accounted:
    """Where the hours of a domain went from `since` to `until`, and what they drew."""

    domain: str
    since: float
    until: float
    account: Account
    energy: Energy | None


@dataclass(frozen=True, eq=False)
class _Bins:
    """Equal bins of `seconds` that end at `until`, and the accelerators they are of."""

    until: float
    seconds: float
    number: int
    inventory: Inventory
    rows: Places

    @property
    def since(self) -> float:
        return self.until - self.number * self.seconds

    @property
    def names(self) -> list[str]:
        return [self.inventory.names[row] for row in self.rows.tolist()]

    def span(self, start: float, end: float) -> slice:
        """Return the bins of which most lies between two times."""
        first, last = (round((at - self.since) / self.seconds) for at in (start, end))
        return slice(max(first, 0), max(last, 0))


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
    rows = inventory.domain.rows(domain)
    step = FINE if seconds < DAY else COARSE
    bins = _Bins(until, step, max(round(seconds / step), 1), inventory, rows)
    told = Hours(
        step,
        _grid(store, UTILIZATION, bins),
        _held(store, bins, jobs(events, inventory.names)),
        _throttled(store, bins),
        _standing(store, bins, topology, incidents, events),
        _unfit(bins, domain, incidents),
    )
    found = account(told, inventory.unlisted.get(domain, 0))
    return Accounted(domain, bins.since, until, found, _energy(store, bins, told))


def _grid(store: Store, metric: Metric, bins: _Bins, word: str = "") -> Floats:
    """Return the mean of a metric of accelerators in each bin, [n, k]; NaN where it said nothing.

    Of a metric with a reason only those that hold a word; of several the largest.
    """
    own = np.full(len(bins.inventory) + 1, -1, np.intp)  # the last stands for no accelerator
    own[bins.rows] = np.arange(len(bins.rows))

    def place(window: Window) -> Places:
        every = bins.inventory.places(window)
        if word:
            column = metric.labels.index("reason")
            holds = [word in window.labels(row)[column] for row in range(len(window))]
            every = np.where(np.array(holds, bool), every, -1)
        return own[every]

    return _binned(store, metric, bins, len(bins.rows), place)


def _binned(
    store: Store, metric: Metric, bins: _Bins, number: int, place: Callable[[Window], Places]
) -> Floats:
    """Return the mean of a metric by place and bin ([number, k]), a day at a time.

    `place` gives the place of each row of a window, -1 for none; of several rows of one place the
    larger mean counts.
    """
    found = np.full((number, bins.number), np.nan)
    each = max(round(DAY / bins.seconds), 1)
    for first in range(0, bins.number, each):
        many = min(each, bins.number - first)
        since = bins.since + first * bins.seconds
        window = store.window(
            metric, since + many * bins.seconds, many * bins.seconds, bins.seconds
        )
        rows = place(window)
        mine = np.flatnonzero(rows >= 0)
        means = _means(window.select(mine), since, bins.seconds, many)
        part = found[:, first : first + many]
        np.fmax.at(part, rows[mine], means)
    return found


def _means(window: Window, since: float, seconds: float, number: int) -> Floats:
    """Return the mean of each row in each of so many bins ([s, number])."""
    column = np.floor((window.at - since) / seconds - 1e-9)  # of each clock's polls
    found = np.full((len(window), number), np.nan)
    for clock in np.unique(window.clock).tolist():
        rows = np.flatnonzero(window.clock == clock)
        polls = np.flatnonzero((column[clock] >= 0) & (column[clock] < number))
        into, start = np.unique(column[clock][polls].astype(np.intp), return_index=True)
        if not len(into):
            continue
        values = window.values[rows[:, None], polls]
        known = np.isfinite(values)
        total = np.add.reduceat(np.where(known, values, 0.0), start, axis=1)
        count = np.add.reduceat(known, start, axis=1, dtype=np.intp)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[rows[:, None], into] = np.where(count > 0, total / count, np.nan)
    return found


def _held(store: Store, bins: _Bins, told: Jobs) -> NDArray[np.int8]:
    """Return who holds what, by the scheduler's series, else by events of jobs."""
    said = _grid(store, ALLOCATED, bins)
    held = np.where(said >= 0.5, HELD, FREE).astype(np.int8)
    place = {name: row for row, name in enumerate(bins.names)}
    by_events = np.full(held.shape, FREE if told.rows else NOT_KNOWN, np.int8)
    for job in told.rows:
        mine = [place[name] for name in job.accelerators if name in place]
        by_events[mine, bins.span(job.since, min(job.until, bins.until))] = HELD
    return np.where(np.isfinite(said), held, by_events)


def _throttled(store: Store, bins: _Bins) -> dict[str, Floats]:
    return {cause: _grid(store, THROTTLED, bins, word) for word, cause in REASONS.items()}


def _standing(
    store: Store,
    bins: _Bins,
    topology: Topology,
    incidents: Iterable[Incident],
    events: Sequence[Event],
) -> dict[str, Bools]:
    found = {cause: np.zeros((len(bins.rows), bins.number), bool) for cause in CAUSES}
    told = jobs(events)
    place = {name: row for row, name in enumerate(bins.names)}
    for incident in incidents:
        cause = _cause(incident.kind, incident.culprit, topology)
        if cause is None or incident.suppressed_by or incident.severity <= LEAST_SEVERITY:
            continue
        span = bins.span(incident.opened_at, incident.closed_at or bins.until)
        hit = _hit((incident.culprit, *incident.victims), topology, told, incident.opened_at)
        found[cause][[place[name] for name in hit if name in place], span] = True
    _in_maintenance(found["maintenance"], bins, topology, events)
    host = {name: number for number, name in enumerate(bins.inventory.host.names)}
    open_ = _binned(store, SCHEDULABLE, bins, len(host), _named(host))
    mine = bins.inventory.host.code[bins.rows]
    with np.errstate(invalid="ignore"):
        closed = np.where((mine >= 0)[:, None], open_[mine] < 0.5, False) if host else False
    found["maintenance"] |= closed
    return found


def _named(places: Mapping[str, int]) -> Callable[[Window], Places]:
    """Return what gives the place of each row of a window by its first label."""

    def place(window: Window) -> Places:
        names = (window.labels(row)[0] for row in range(len(window)))
        return np.array([places.get(name, -1) for name in names], np.intp)

    return place


def _cause(kind: IncidentKind, culprit: Place, topology: Topology) -> str | None:
    """Return what an incident stands for; None where it takes nothing by itself."""
    if kind is DEVICE_DOWN:
        row = topology.devices.get(culprit.id)
        return "links" if row is not None and row.role == "switch" else "faults"
    return OF_KINDS.get(kind.name.partition(".")[0])


def _hit(places: Iterable[Place], topology: Topology, told: Jobs, at: float) -> Collection[str]:
    """Return the accelerators among places, those that they hold, and those of jobs."""
    found: set[str] = set()
    for place in places:
        if place.type == "job":
            found.update(
                name for job in told.rows if job.name == place.id and job.until > at
                for name in job.accelerators
            )  # fmt: skip
            continue
        for device in topology.devices_of(place):
            found.add(device)
            found.update(topology.hosted.get(device, ()))
    return found


def _in_maintenance(found: Bools, bins: _Bins, topology: Topology, events: Sequence[Event]) -> None:
    """Mark what lies in the scope of a maintenance while it lasts."""
    ends = [one for one in events if one.kind == "maintenance_end"]
    for event in events:
        if event.kind != "maintenance_start":
            continue
        over = [
            one.at
            for one in ends
            if one.at >= event.at and (one.id == event.id if event.id else one.scope == event.scope)
        ]
        mine = [
            row
            for row, name in enumerate(bins.names)
            if in_scope(Place("device", name), event.scope, topology)
        ]
        found[mine, bins.span(event.at, min(over, default=event.at + MAINTENANCE))] = True


def _unfit(bins: _Bins, domain: str, incidents: Iterable[Incident]) -> Bools:
    found = np.zeros(bins.number, bool)
    for one in incidents:
        if one.kind is DOMAIN_FRAGMENTED and one.culprit.id == domain:
            found[bins.span(one.opened_at, one.closed_at or bins.until)] = True
    return found


def _energy(store: Store, bins: _Bins, told: Hours) -> Energy | None:
    """Return what was drawn, by meters of racks where there are any, else by accelerators."""
    tier = bins.inventory.rack
    code = tier.code[bins.rows].astype(np.intp)
    racks = set(code.tolist())
    number = {name: place for place, name in enumerate(tier.names) if place in racks}
    watts = _binned(store, RACK_POWER, bins, len(tier.names), _named(number))
    if np.isfinite(watts).any():
        return energy(watts, code, told.useful, bins.seconds, "rack")
    drawn = _grid(store, POWER, bins)
    own = np.arange(len(bins.rows), dtype=np.intp)
    return energy(drawn, own, told.useful, bins.seconds, "accelerator")
