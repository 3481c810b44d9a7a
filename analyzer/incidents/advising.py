"""Advising: what an open incident says beyond its fault, brought up to date at every pass.

The operator's word, what was before, what to try, whether it may be drained now, and the proof
it needs before it comes back. All of it follows from the ledger, the topology and the events.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.incidents.alternatives import ill_links, rule_out
from analyzer.incidents.capacity import live
from analyzer.incidents.draining import NOT_ILL, Jobs, judgement, running
from analyzer.incidents.explaining import jobs_running
from analyzer.incidents.offenders import earlier
from analyzer.incidents.proving import proof
from analyzer.incidents.recalling import FALSE_HOLDS, recall, said_earlier
from analyzer.incidents.repair import ladder, modules_of, note, sentence, settled
from analyzer.incidents.scope import in_scope
from analyzer.incidents.word import Record, heed, record, words
from analyzer.ledger import Ledger
from fabrichealth.events import Event
from fabrichealth.model import Incident, Proof
from fabrichealth.topology import Topology

RETURNS = frozenset({"repair_end", "part_replaced", "link_returned"})


@dataclass(frozen=True)
class Advice:
    """What of an incident it decides; compared to see whether anything changed."""

    ladder: tuple[object, ...]
    safe: bool | None
    because: str | None
    proof: Proof | None
    earlier: int


def advise(
    ledger: Ledger,
    now: float,
    topology: Topology,
    events: Sequence[Event],
    floor: float,
    false_holds: float = FALSE_HOLDS,
) -> list[Incident]:
    """Bring the open incidents' advice up to date; return those in which it changed."""
    if not ledger.incidents:
        return []
    said = words(events)
    earlier_words = said_earlier(ledger.past.closed, said, now - false_holds)
    note(ledger.past, events, ledger.incidents, topology)
    carries = live(topology, ledger.incidents, events)
    jobs: Jobs = running(jobs_running(events).items(), topology)
    ill = ill_links(ledger.incidents, topology)
    returns = [event for event in events if event.kind in RETURNS]
    changed = []
    for incident in ledger.incidents:
        before = _advice(incident)
        own = said.get(incident.incident)
        spoken = heed(incident, own) if own else recall(incident, earlier_words)
        settled(ledger.past, incident)
        rule_out(incident, ill, topology)
        incident.repair = ladder(incident, ledger.past, topology, now)
        known = incident.repair if incident.causes else ()
        incident.action = sentence(known, incident.kind.action)
        safe = None
        if incident.kind not in NOT_ILL:
            safe = judgement(incident.culprit, carries, topology, jobs, floor)
        incident.safe_to_drain = None if safe is None else safe.safe
        incident.safe_because = None if safe is None else safe.because
        if not incident.earlier:
            incident.earlier = earlier(incident, ledger.past.closed, topology)
        incident.proof = proof(incident, topology, _last(returns, incident, topology))
        if spoken or before != _advice(incident):
            changed.append(incident)
    return changed


def spoken_of(ledger: Ledger, events: Sequence[Event]) -> Record:
    """Return what operators said of incidents, by kind."""
    kinds = [(one.incident, one.kind) for one in ledger.past.closed]
    kinds += [(one.incident, one.kind.name) for one in ledger.incidents]
    return record(words(events), kinds)


def remember(ledger: Ledger, incident: Incident, topology: Topology) -> None:
    """Keep what an incident that closes teaches; one that was excused teaches nothing."""
    if incident.suppressed_by is None:
        cause = incident.cause.value if incident.cause else ""
        ledger.past.close(incident, cause, modules_of(incident.culprit, topology))
        ledger.recoveries.close(incident, topology)
    ledger.past.forget(incident.last_seen)


def _last(returns: Sequence[Event], incident: Incident, topology: Topology) -> Event | None:
    mine = (
        event
        for event in reversed(returns)
        if event.at >= incident.opened_at and in_scope(incident.culprit, event.scope, topology)
    )
    return next(mine, None)


def _advice(incident: Incident) -> Advice:
    kept = incident.proof
    shown = None if kept is None else Proof(kept.limit, kept.bits, kept.seconds, None)
    return Advice(
        tuple((rung.action, rung.tried, rung.worked) for rung in incident.repair),
        incident.safe_to_drain,
        incident.safe_because,
        shown,
        len(incident.earlier),
    )
