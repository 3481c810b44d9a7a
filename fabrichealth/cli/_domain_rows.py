"""What became of a domain, as rows: its hours, its links, its recoveries, its benchmarks.

Each row is a JSON object that names its `section`; what cannot be told has no row, or null.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from analyzer.accounts.account import accounted
from analyzer.evidence.domain.accounting import ROWS
from analyzer.evidence.domain.bisection import bisection, network
from analyzer.evidence.domain.failures import costs
from analyzer.evidence.domain.inventory import stock
from analyzer.evidence.domain.jobs import jobs
from analyzer.evidence.domain.machine import Pieces
from analyzer.evidence.domain.scaling import limit, scaling
from analyzer.evidence.domain.wiring import NETWORKS, wiring
from analyzer.evidence.pause.crossings import crossings
from analyzer.incidents.capacity import live
from analyzer.interconnects import read_of
from analyzer.ledger import UNREADABLE, to_incident
from analyzer.recovery.cases import case_of
from analyzer.recovery.distribution import failures, times
from fabrichealth.catalogue.devices import BUS_BANDWIDTH
from fabrichealth.errors import UsageError
from fabrichealth.events import Event
from fabrichealth.model import Incident
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

Row = dict[str, Any]

BENCHMARKS_KEPT = 30 * 86_400.0
"""Seconds for which a benchmark tells of a domain: nobody runs them every day."""

MOST_JOBS = 20
"""Jobs of a domain of which is told what a failure would cost them, the largest."""


@dataclass(frozen=True)
class Known:
    """What a site knows: its series, what it is made of, what happened."""

    store: Store
    topology: Topology
    incidents: Sequence[Incident]
    events: Sequence[Event]
    """By time."""
    floor: float
    """Share of its links that an accelerator needs to count."""
    now: float


def readable(incidents: Iterable[Mapping[str, Any]]) -> list[Incident]:
    """Return incident objects as incidents; those of a version that knew other kinds are left."""
    found = []
    for one in incidents:
        try:
            found.append(to_incident(one))
        except UNREADABLE:
            continue
    return found


def domain_rows(known: Known, domain: str, seconds: float) -> list[Row]:
    """Return what became of a domain in the last so many seconds.

    Raises:
        UsageError: there is no such domain.
    """
    inventory = stock(known.topology, known.store.table)
    if domain not in known.topology.domains and not len(inventory.domain.rows(domain)):
        names = ", ".join({*known.topology.domains, *inventory.domain.names}) or "none"
        raise UsageError(f"no domain {domain}; there are: {names}")
    return [
        *_hours(known, domain, seconds),
        *_links(known, domain, inventory.size(domain)),
        *_recoveries(known, domain, seconds),
        *_benchmarks(known, domain),
    ]


def _hours(known: Known, domain: str, seconds: float) -> Iterator[Row]:
    span = known.store.span()
    if span is None:
        return
    watched = min(seconds, known.now - span[0])
    found = accounted(
        known.store, known.topology, known.incidents, known.events, domain, known.now, watched
    )
    for row, says in ROWS.items():
        yield {
            "section": "hours",
            "row": row,
            "hours": found.account.hours(row),
            "share": found.account.share(row),
            "says": says,
            "since": found.since,
            "until": found.until,
        }
    if found.energy is not None:
        rate = found.energy.hours_per_kilowatt_hour
        yield {"section": "energy", **asdict(found.energy), "hours_per_kilowatt_hour": rate}


def _links(known: Known, domain: str, size: int) -> Iterator[Row]:
    wired = wiring(known.topology)
    ports = crossings(known.store.table, known.topology)
    still_open = [one for one in known.incidents if one.closed_at is None]
    lost = live(known.topology, still_open, known.events).lost
    now = read_of(wired, ports, known.store, known.now, lost)
    whole = Pieces(wired, now).machine(domain, known.floor, size)
    if whole is not None:
        yield {"section": "machine", **asdict(whole), "floor": known.floor}
    for number, name in enumerate(NETWORKS):
        cut = bisection(wired, network(wired, domain, number, now))
        if cut is None:
            continue
        counted = wired.counted[number]
        yield {
            "section": "bisection",
            "network": name,
            "gbps": None if counted else cut.gbps,
            "built_gbps": None if counted else cut.built,
            "share": cut.share,
            "one": list(cut.one),
            "other": list(cut.other),
        }
    own = {wired.devices[number] for number in wired.units(domain).accelerators.tolist()}
    running = [job for job in jobs(known.events).running(known.now) if own & {*job.accelerators}]
    running.sort(key=lambda job: -len(job.accelerators))
    held = {job.name: job.accelerators for job in running[:MOST_JOBS]}
    for cost in costs(wired, domain, now, held):
        yield {"section": "failure", **asdict(cost)}


def _recoveries(known: Known, domain: str, seconds: float) -> Iterator[Row]:
    told = jobs(known.events)
    every = (case_of(one, known.topology, told) for one in known.incidents)
    cases = [one for one in every if one is not None and one.domain in {domain, ""}]
    span = known.store.span()
    since = known.now - min(seconds, known.now - span[0] if span else 0.0)  # as long as watched
    lately = [one for one in cases if (one.closed_at or known.now) >= since]
    for one in times(lately, known.events, known.topology, known.now):
        yield {"section": "recovery", **asdict(one)}
    if span is None:
        return  # nothing was watched, so that no failure proves nothing
    mine = {domain, ""}
    for part in failures(cases, known.events, known.topology, since, known.now, mine):
        yield {"section": "parts", **asdict(part)}


def _benchmarks(known: Known, domain: str) -> Iterator[Row]:
    said = known.store.latest(BUS_BANDWIDTH, known.now, BENCHMARKS_KEPT)
    readings = []
    for series, value in zip(said.series.tolist(), said.values.tolist(), strict=True):
        benchmark, operation, size, ranks = known.store.table.labels(series)
        readings.append(((benchmark, operation, size, ranks), value))
    # where it ran a reading does not say: of several domains it may be any
    alone = stock(known.topology, known.store.table).domain.names == (domain,)
    most = limit(wiring(known.topology), domain) if alone else None
    for point in scaling(readings, most):
        own = domain if alone else None
        yield {"section": "benchmark", "domain": own, **asdict(point), "of_limit": point.of_limit}
