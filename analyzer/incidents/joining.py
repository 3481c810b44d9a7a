"""Joining: which open incident a claim belongs to, and which incidents a claim joins or parts.

A claim belongs to the open incident with the same culprit, or to one that explains it. Open
incidents that a graver claim explains are merged into one; once it explains one of them no longer,
that one goes on under its own name.
"""

from collections.abc import Callable

from analyzer.incidents.alternatives import consider
from analyzer.incidents.chain import UPSTREAM, Ill, follows, hot
from analyzer.incidents.claims import SLACK, Claim, Rival, of_readings, subject, weight
from analyzer.incidents.explaining import (
    LISTED,
    PAUSING,
    SHARED,
    as_ill,
    circle_of,
    reach,
    within,
)
from analyzer.incidents.scope import owners
from analyzer.incidents.slowing import accounts_for
from analyzer.incidents.unseen import found_behind, goes_on
from analyzer.ledger import Ledger, copy_of
from fabrichealth.kinds import (
    ACCELERATOR_ERRORS,
    DEVICE_DOWN,
    DOMAIN_STRAGGLER,
    FABRIC_ECMP_POLARIZED,
    FABRIC_HOT_LINK,
    PFC_DEADLOCK,
    IncidentKind,
)
from fabrichealth.model import Incident, Place
from fabrichealth.topology import SCALE_UP, Topology

TAIL = 300.0
"""After a device came back its links may still stumble for so long: the same incident."""


def home(ledger: Ledger, claim: Claim, topology: Topology) -> Incident | None:
    """Return the open incident that a claim belongs to."""
    mine = subject(claim.culprit, claim.kind)
    same = next(
        (one for one in ledger.incidents
         if one.culprit == claim.culprit and subject(one.culprit, one.kind) == mine),
        None,
    )  # fmt: skip
    if of_readings(claim.kind, claim.culprit):
        return same
    others = _strangers(ledger.incidents, claim.kind)
    graver = next((one for one in others if _swallows(one, claim, topology)), None)
    # what began after the culprit's own incident was quiet may have another cause now
    if graver is not None and (same is None or claim.since > same.last_seen + SLACK):
        return graver
    if same is not None:
        return same
    for incident in sorted(others, key=lambda one: one.opened_at):
        apart = of_readings(incident.kind, incident.culprit)
        if not apart and _swallowed(incident, claim, topology):
            return incident
    return None


def _strangers(incidents: list[Incident], kind: IncidentKind) -> list[Incident]:
    """Return those that may explain a claim of a kind, or be explained by it.

    A link explains no other link, and there may be thousands of both.
    """
    return [one for one in incidents if not one.kind.causes] if kind.causes else incidents


def _swallows(incident: Incident, claim: Claim, topology: Topology) -> bool:
    """Return whether an open incident of a device or link explains a later claim.

    What outlasts its cause is no consequence: a link that stays down when its host is back.
    """
    young = claim.since <= incident.last_seen + TAIL
    if incident.kind in SHARED:
        return young and claim.culprit.type in LISTED and claim.culprit in incident.victims
    if claim.kind is DOMAIN_STRAGGLER and accounts_for(_ill(incident), as_ill(claim), topology):
        return young
    if not incident.opened_at - SLACK <= claim.since <= incident.last_seen + TAIL:
        return False
    if incident.kind in UPSTREAM:
        return follows(_ill(incident), as_ill(claim), topology)
    if incident.kind is DEVICE_DOWN:
        lighter = weight(claim.kind, claim.culprit) < weight(incident.kind, incident.culprit)
        outlasts = claim.seen > incident.last_seen + TAIL
        return lighter and not outlasts and within(incident.culprit, claim, topology)
    return goes_on(incident, claim, topology) or _in_its_domain(incident, claim, topology)


def _in_its_domain(incident: Incident, claim: Claim, topology: Topology) -> bool:
    """Return whether accelerators report errors of the domain whose link an incident is about."""
    link = topology.links.get(incident.culprit.id)
    if link is None or claim.kind is not ACCELERATOR_ERRORS or link.technology not in SCALE_UP:
        return False
    if not all(one.detail.get("link_codes") for one in claim.findings):
        return False
    domains = {topology.domain_of(end.device) for end in link.ends} - {""}
    return topology.domain_of(claim.culprit.id) in domains


def _swallowed(incident: Incident, claim: Claim, topology: Topology) -> bool:
    """Return whether a new claim about what is larger than a link explains an open incident."""
    if claim.kind in SHARED:
        return incident.culprit.type in LISTED and incident.culprit in claim.victims
    if claim.kind is FABRIC_ECMP_POLARIZED:
        mine = claim.culprit.id in owners(incident.culprit, topology)
        return incident.kind is FABRIC_HOT_LINK and mine
    slowed = accounts_for(as_ill(claim), _ill(incident), topology)
    if slowed or found_behind(incident, claim, topology):
        return True
    if incident.opened_at < claim.since - claim.slack:
        return False
    if claim.kind is PFC_DEADLOCK:
        return incident.culprit not in claim.spoken and _circles(incident, claim, topology)
    return claim.kind is DEVICE_DOWN and bool(
        reach(claim.culprit, topology) & owners(incident.culprit, topology)
    )


def _circles(incident: Incident, circle: Claim, topology: Topology) -> bool:
    """Return whether an incident is of a circle's switches, or is a circle that another joined."""
    if incident.kind is PFC_DEADLOCK:
        return incident.culprit in circle.victims
    stopped = owners(incident.culprit, topology) & circle_of(circle, topology)
    return incident.kind in PAUSING and bool(stopped)


def _ill(incident: Incident) -> Ill:
    """Return an open incident as the chain sees it."""
    warm = hot(incident.kind, incident.causes)
    return Ill(incident.kind, incident.culprit, incident.opened_at, hot=warm)


def hangs_on(incident: Incident, claim: Claim) -> bool:
    """Return whether a claim names the part on which a host that answers hangs with all it has."""
    return (
        claim.kind in SHARED
        and incident.kind is DEVICE_DOWN
        and incident.answers
        and incident.culprit in claim.victims
    )


def apart(ledger: Ledger, claim: Claim) -> Incident | None:
    """Return the incident that was merged with another which explains its culprit no longer.

    It goes on under its own name: who looked at it, and what was said of it, is not lost.
    """
    for place, one in enumerate(ledger.merged):
        if subject(one.culprit, one.kind) == subject(claim.culprit, claim.kind):
            one.closed_at, one.merged_into = None, None
            ledger.incidents.append(ledger.merged.pop(place))
            return one
    return None


def forget_merged(ledger: Ledger, now: float, hold_of: Callable[[IncidentKind], float]) -> None:
    """Let go of merged incidents whose cause was mended with the one that explained them."""
    standing = {one.incident for one in ledger.incidents}
    for one in ledger.merged:
        if one.merged_into in standing:
            one.last_seen = now
    ledger.merged = [one for one in ledger.merged if now - one.last_seen < hold_of(one.kind)]


def merge(
    ledger: Ledger,
    incident: Incident,
    claim: Claim,
    topology: Topology,
    now: float,
) -> list[Incident]:
    """Close the other open incidents that this claim explains; they become its victims.

    Return them.
    """
    merged = [
        other
        for other in _strangers(ledger.incidents, claim.kind)
        if other is not incident
        and not of_readings(other.kind, other.culprit)
        and _swallowed(other, claim, topology)
    ]
    for other in merged:
        other.closed_at = min(now, max(other.last_seen, other.opened_at))
        other.because = f"{other.because}; explained by {incident.incident}"
        other.merged_into = incident.incident
        ledger.incidents.remove(other)
        ledger.merged.append(copy_of(other))
        add_victims(incident, [other.culprit, *other.victims])
        claim.rivals.append(Rival(other.culprit, other.kind.name, other.opened_at))
    consider(incident, claim, topology)
    return merged


def add_victims(incident: Incident, places: list[Place]) -> None:
    """Add places to an incident's victims, each once and never its culprit."""
    known = set(incident.victims)
    known.add(incident.culprit)
    for place in places:
        if place not in known:
            incident.victims.append(place)
            known.add(place)
