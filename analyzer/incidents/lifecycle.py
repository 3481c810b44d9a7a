"""Lifecycle: claims become incidents, grow, are suppressed, and close.

An incident keeps its id. A claim belongs to the open incident with the same culprit; or to one
that explains it and has not closed; or it opens a new one. Open incidents that a graver claim
now explains are merged: the oldest goes on under the new culprit, the others close as its
victims.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.incidents.advising import advise, remember, spoken_of
from analyzer.incidents.alternatives import consider, overruled
from analyzer.incidents.attribution import attribute
from analyzer.incidents.claims import Claim, Rival, dark_now, weight
from analyzer.incidents.explaining import downstream
from analyzer.incidents.joining import (
    add_victims,
    apart,
    forget_merged,
    hangs_on,
    home,
    merge,
)
from analyzer.incidents.owner import owner_of
from analyzer.incidents.recalling import FALSE_HOLDS
from analyzer.incidents.restraint import budget_of, held_back, pay
from analyzer.incidents.scope import domain_of
from analyzer.incidents.suppression import GRACE, excuse_of
from analyzer.incidents.unseen import found_behind, goes_on
from analyzer.incidents.word import grounds_of, witnesses_of
from analyzer.ledger import Ledger
from fabrichealth.events import Event
from fabrichealth.kinds import (
    DEVICE_DOWN,
    IncidentKind,
    Severity,
)
from fabrichealth.model import Change, Incident
from fabrichealth.topology import Topology

HOLD_DOWN = 30 * 60.0
"""Of kinds that have no longer one of their own (contract 5)."""

EVIDENCE_KEPT = 64


@dataclass
class Policy:
    """What a site decides about incidents."""

    hold_down: float | None = None
    """Seconds for kinds without their own longer one; None leaves the kinds' rows."""
    grace: float = GRACE
    capacity_floor: float = 0.75
    """Share of a device's, rack's or domain's capacity that must stay when something is drained."""
    page_budget: float = 1.0
    """False pages a week per 10,000 links that statistical kinds may cause."""
    pages_accepted: float = 10.0
    """Pages a week per 10,000 links, true ones too, beyond which people on call say so."""
    false_holds: float = FALSE_HOLDS
    """Seconds for which what was called false stays so, though its incident closed meanwhile."""

    def hold_of(self, kind: IncidentKind) -> float:
        """Return for how long the cause of a kind must stay absent."""
        if self.hold_down is None:
            return kind.hold_down
        own = kind.hold_down if kind.hold_down > HOLD_DOWN else 0.0
        return max(self.hold_down, own)


@dataclass
class Step:
    """What one pass did to incidents."""

    changed: list[Incident] = field(default_factory=list)
    closed: list[Incident] = field(default_factory=list)


def advance(
    ledger: Ledger,
    standing: list[Claim],
    now: float,
    topology: Topology,
    events: Sequence[Event],
    policy: Policy,
    prefix: str = "i",
) -> Step:
    """Bring the ledger's incidents to what the claims of this pass say."""
    step = Step()
    known = ledger.sequence
    budget, record = budget_of(policy.page_budget, len(topology.links)), spoken_of(ledger, events)
    for one in ledger.incidents:
        one.dark = False  # unless a claim of this pass says so
    for claim in standing:
        if now - claim.seen >= policy.hold_of(claim.kind):
            continue  # what a detector still remembers, but was seen last a hold-down ago
        incident = home(ledger, claim, topology)
        name = incident.incident if incident else None
        claim.held_back = held_back(claim, name, budget, ledger.past, record, now)
        if incident is None:
            incident = apart(ledger, claim) or _open(ledger, claim, topology, prefix)
            step.changed.append(incident)
        changed = _grow(incident, claim, now, topology, events)
        incident.dark |= dark_now(claim, incident, now)
        merged = merge(ledger, incident, claim, topology, now)
        step.closed.extend(merged)
        changed |= bool(merged)
        pay(claim, incident.incident, ledger.past, record, now)
        if changed and incident not in step.changed:
            step.changed.append(incident)
    for incident in list(ledger.incidents):
        if _weigh(ledger, incident, now, topology, events, policy):
            step.changed.extend([incident] if incident not in step.changed else [])
        fresh = int(incident.incident.rpartition("i")[2]) > known
        if fresh and incident.suppressed_by is None and incident.severity < Severity.TICKET:
            _count(ledger, incident)
        if now - incident.last_seen >= policy.hold_of(incident.kind):
            incident.closed_at = incident.last_seen
            ledger.incidents.remove(incident)
            remember(ledger, incident, topology)
            step.closed.append(incident)
    forget_merged(ledger, now, policy.hold_of)
    ledger.recoveries.advance(now, events, topology, ledger.incidents)
    told = advise(ledger, now, topology, events, policy.capacity_floor, policy.false_holds)
    step.changed.extend(one for one in told if one not in step.changed)
    return step


def _open(ledger: Ledger, claim: Claim, topology: Topology, prefix: str) -> Incident:
    ledger.sequence += 1
    incident = Incident(
        incident=f"{prefix}{ledger.sequence}",
        kind=claim.kind,
        severity=claim.severity,
        opened_at=claim.since,
        culprit=claim.culprit,
        because=claim.lead.because,
        action=claim.kind.action,
        domain=domain_of(claim.culprit, topology),
        last_seen=claim.seen,
    )
    ledger.incidents.append(incident)
    return incident


def _grow(
    incident: Incident, claim: Claim, now: float, topology: Topology, events: Sequence[Event]
) -> bool:
    """Put into an incident what a claim adds; return whether anything a person reads changed."""
    lead = claim.lead
    known = (incident.kind, incident.severity, incident.culprit, len(incident.victims))
    grave = weight(incident.kind, incident.culprit)
    named = found_behind(incident, claim, topology) or hangs_on(incident, claim)
    own = claim.culprit == incident.culprit or weight(claim.kind, claim.culprit) > grave or named
    if own or goes_on(incident, claim, topology):
        incident.last_seen = max(incident.last_seen, claim.seen)
    if own:
        for finding in claim.findings:
            for ground in grounds_of(finding):
                incident.grounds.setdefault(ground, now)
            for witness in witnesses_of(finding):
                incident.witnesses.setdefault(witness, now)
    if own and claim.kind is DEVICE_DOWN:
        incident.answers = bool(lead.detail.get("answers"))
        incident.by_hand = bool(lead.detail.get("by_hand"))
    if own and (named or weight(claim.kind, claim.culprit) >= grave):
        former = incident.culprit
        incident.kind, incident.culprit = claim.kind, claim.culprit
        incident.action = claim.kind.action
        incident.because = lead.because
        incident.score = lead.score
        if former != incident.culprit:
            incident.domain = domain_of(incident.culprit, topology)
            add_victims(incident, [former])
            overruled(incident, former)
        _keep_evidence(incident, claim)
    if claim.culprit == incident.culprit:
        leads = named or weight(claim.kind, claim.culprit) >= grave
        attribute(incident, claim, topology, events, leads=leads)
    if own:
        incident.severity = max(incident.severity, claim.severity)
        incident.held_back = claim.held_back if incident.severity < Severity.PAGE else None
        add_victims(incident, [*claim.victims, *downstream(claim, topology, events)])
    else:
        claim.rivals.append(Rival(claim.culprit, claim.kind.name, claim.since))
        add_victims(incident, [claim.culprit, *claim.victims])
    consider(incident, claim, topology)
    if not incident.history or (incident.kind.name, incident.severity) != (
        incident.history[-1].kind,
        incident.history[-1].severity,
    ):
        at = max(claim.seen, incident.history[-1].at) if incident.history else claim.since
        incident.history.append(Change(at, incident.kind.name, incident.severity))
    return known != (incident.kind, incident.severity, incident.culprit, len(incident.victims))


def _keep_evidence(incident: Incident, claim: Claim) -> None:
    lines = {
        (str(line.metric), tuple(sorted(line.labels.items()))): line
        for line in (*incident.evidence, *(e for f in claim.findings for e in f.evidence))
    }
    incident.evidence = sorted(lines.values(), key=lambda line: line.at)[-EVIDENCE_KEPT:]


def _count(ledger: Ledger, incident: Incident) -> None:
    key = (incident.kind.name, str(incident.severity), incident.domain or "")
    ledger.opened[key] = ledger.opened.get(key, 0) + 1


def _weigh(
    ledger: Ledger,
    incident: Incident,
    now: float,
    topology: Topology,
    events: Sequence[Event],
    policy: Policy,
) -> bool:
    """Suppress or confirm, and say whose it is; return whether that changed."""
    before = _told(incident)
    excuse = excuse_of(incident, now, events, topology, policy.grace)
    incident.suppressed_by = excuse.reason if excuse else None
    incident.suppressed_note = (excuse.note or None) if excuse else None
    incident.owner = owner_of(incident.culprit, incident.side, topology)
    if excuse is not None:
        incident.confirmed_at = None
    elif incident.confirmed_at is None and incident.severity >= Severity.TICKET:
        incident.confirmed_at = now
        _count(ledger, incident)
    if excuse is None and incident.paged_at is None and incident.severity >= Severity.PAGE:
        incident.paged_at = now
        domain = incident.domain or ""
        ledger.paged[domain] = ledger.paged.get(domain, 0) + 1
    return before != _told(incident)


def _told(incident: Incident) -> tuple[object, ...]:
    return (
        incident.suppressed_by, incident.suppressed_note, incident.confirmed_at, incident.owner
    )  # fmt: skip
