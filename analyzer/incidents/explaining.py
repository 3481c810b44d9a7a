"""Explaining: which claim is the cause, and which are only its victims.

A dark device explains the links that end in it, the devices it holds, and the agents that ran on
it; a rack explains its content; an ill scale-up link explains link errors that the accelerators of
its domain report; a link that carries less than it should explains a queue before it that looks
crowded; queues that wait in a circle explain what their switches stop; a shared part, a bad lot or
an odd firmware explains what is ill in the list of its finding. What cools and feeds explains what
is ill downstream (`chain`), and what is ill of a machine explains that it holds back its job
(`slowing`). Nothing else explains what was there before it.
"""

from collections.abc import Iterable
from math import inf

from analyzer.evidence.domain.jobs import jobs
from analyzer.incidents.chain import HEAT, STUMBLING, UPSTREAM, Ill, hot, racks_of
from analyzer.incidents.claims import Claim, Rival, of_readings, weight
from analyzer.incidents.scope import owners
from analyzer.incidents.slowing import accounts_for
from analyzer.incidents.unseen import before, is_front
from fabrichealth.events import Event
from fabrichealth.kinds import (
    ACCELERATOR_ERRORS,
    DEVICE_DOWN,
    DOMAIN_STRAGGLER,
    FABRIC_ECMP_POLARIZED,
    FABRIC_HOT_LINK,
    LINK_DEGRADED_SPEED,
    LINK_FLAPPING,
    LINK_SUBHEALTHY,
    PARTS_BAD_BATCH,
    PARTS_SHARED_COMPONENT,
    PARTS_VERSION_DRIFT,
    PFC_DEADLOCK,
    PFC_INCAST,
    PFC_SLOW_RECEIVER,
    PFC_STORM,
    POWER_FEED_LOST,
    WATCH_SOURCE_SILENT,
)
from fabrichealth.model import Finding, Place, Port, place_of
from fabrichealth.topology import SCALE_UP, Topology

SHARED = frozenset({PARTS_SHARED_COMPONENT, PARTS_BAD_BATCH, PARTS_VERSION_DRIFT})
"""Kinds whose finding itself lists the links that it explains, whichever fell ill first;"""

LISTED = frozenset({"link", "device"})
"""of those links, and of a firmware also the devices that are ill."""

SLOW = frozenset({LINK_DEGRADED_SPEED, LINK_SUBHEALTHY, LINK_FLAPPING})
"""Kinds of link that carry less than they should: what is sent over them waits,"""

CROWDED = frozenset({PFC_INCAST, FABRIC_HOT_LINK})
"""and looks as if too much were sent."""

PAUSING = frozenset({PFC_STORM, PFC_SLOW_RECEIVER, PFC_INCAST})
"""Kinds that say who stops the others: nobody does in a circle that a deadlock closed."""

CLOSING = 8.0
"""Polls within which a circle closes, queue by queue: so many are looked at one by one."""


def explained(every: list[Claim], topology: Topology) -> list[Claim]:
    """Return the claims that stand, each with what it explains among its victims."""
    order = sorted(every, key=lambda claim: _first(claim, topology))
    standing: list[Claim] = []
    grave: list[Claim] = []  # may explain a link: no other link does, and there may be thousands
    for claim in order:
        own: list[Finding] = []
        warm = _hot(claim)
        for finding in claim.findings:
            alone = Claim(claim.culprit, [finding], claim.victims, warm=warm)
            known = grave if finding.kind.causes else standing
            may = [] if of_readings(finding.kind, claim.culprit) else known
            cause = next((one for one in may if explains(one, alone, topology)), None)
            if cause is None:
                own.append(finding)
            else:
                _suffer(cause, claim, finding)
        if own:
            standing.append(Claim(claim.culprit, own, claim.victims))
            if not standing[-1].kind.causes or standing[-1].kind in UPSTREAM:
                grave.append(standing[-1])
    spoken = frozenset(claim.culprit for claim in standing)
    for claim in standing:
        claim.spoken = spoken
    return standing


def _first(claim: Claim, topology: Topology) -> tuple[float, ...]:
    """Return what sorts causes before their victims: dark racks, feeds, devices, water, the rest.

    Water and breakers come first however grave what fails for them is; a straggler comes last.
    """
    if claim.kind is DEVICE_DOWN:
        return (0.0 if claim.culprit.type == "rack" else 2.0, claim.since)
    if claim.kind is POWER_FEED_LOST:
        return (1.0, claim.since)
    if claim.kind in HEAT:
        upstream = any(row.facility == claim.culprit.id for row in topology.loops.values())
        return (3.0, 0.0 if upstream else 1.0, float(HEAT.index(claim.kind)), claim.since)
    if claim.kind is DOMAIN_STRAGGLER:
        return (5.0, claim.since)
    return (4.0, -weight(claim.kind, claim.culprit), float(is_front(claim)), claim.since)


def _hot(claim: Claim) -> bool:
    """Return whether something at a claim's culprit is known to be too hot."""
    return any(hot(one.kind, one.causes) for one in claim.findings)


def as_ill(claim: Claim) -> Ill:
    """Return a claim as the chain sees it."""
    return Ill(claim.kind, claim.culprit, claim.since, hot=claim.warm or _hot(claim))


def _suffer(cause: Claim, claim: Claim, finding: Finding) -> None:
    """Make a claim a victim of its cause; how ill the links of a shared part are is its own."""
    cause.rivals.append(Rival(claim.culprit, finding.kind.name, finding.since))
    if cause.kind in SHARED or (cause.kind in HEAT and finding.kind in STUMBLING):
        cause.joined.append(finding)
    for place in (claim.culprit, *claim.victims):
        if place not in cause.victims and place != cause.culprit:
            cause.victims.append(place)


def explains(cause: Claim, claim: Claim, topology: Topology) -> bool:
    """Return whether one claim follows from another."""
    if cause.kind in SHARED:
        return claim.culprit.type in LISTED and claim.culprit in cause.victims
    if cause.kind is FABRIC_ECMP_POLARIZED:  # it takes longer to prove than what it does
        return claim.kind is FABRIC_HOT_LINK and cause.culprit.id in owners(claim.culprit, topology)
    if cause.kind in UPSTREAM or claim.kind is DOMAIN_STRAGGLER:
        known = accounts_for(as_ill(cause), as_ill(claim), topology)
        if known or cause.kind in UPSTREAM:
            return known
    if before(cause, claim, topology):
        return True
    if claim.since < cause.since - cause.slack:
        return False
    by_device = cause.kind is DEVICE_DOWN and _by_device(cause.culprit, claim, topology)
    by_link = cause.culprit.type == "link" and _by_link(cause, claim, topology)
    return by_device or by_link or _stuck(cause, claim, topology)


def _by_device(dark: Place, claim: Claim, topology: Topology) -> bool:
    if claim.culprit.type in {"feed", "rack"}:  # what a rack has is not lost with one host
        return dark.type == "rack" and dark.id in racks_of(claim.culprit, topology)
    return within(dark, claim, topology)


def _by_link(cause: Claim, claim: Claim, topology: Topology) -> bool:
    link = topology.links.get(cause.culprit.id)
    if link is None:
        return False
    if claim.kind is ACCELERATOR_ERRORS and link.technology in SCALE_UP:
        if not all(one.detail.get("link_codes") for one in claim.findings):
            return False
        ends = {end.device for end in link.ends}
        near = claim.culprit.id in ends
        domains = {topology.domain_of(device) for device in ends} - {""}
        return near or topology.domain_of(claim.culprit.id) in domains
    if claim.kind in CROWDED and cause.kind in SLOW:
        return claim.culprit == cause.culprit or claim.culprit.id in map(str, link.ends)
    if claim.kind is WATCH_SOURCE_SILENT:
        # the agent answers in band, and this was its only cable
        return any(
            topology.links_of.get(device, []) == [link] for device in _touched(claim, topology)
        )
    return False


def within(dark: Place, claim: Claim, topology: Topology) -> bool:
    """Return whether a claim lies in what goes dark with a device; all that a shared part holds."""
    gone = reach(dark, topology)
    if claim.kind in SHARED:
        return bool(claim.victims) and all(gone & owners(one, topology) for one in claim.victims)
    return bool(gone & _touched(claim, topology))


def reach(place: Place, topology: Topology) -> set[str]:
    """Return the devices that go dark with a device or rack: its content, what those hold."""
    devices = set(topology.devices_of(place))
    for device in tuple(devices):
        devices.update(topology.hosted.get(device, ()))
    return devices


def circle_of(claim: Claim, topology: Topology) -> set[str]:
    """Return the devices whose queues wait for each other, by the findings of a deadlock."""
    ports = [
        place for finding in claim.findings for place in (place_of(finding.about), *finding.victims)
    ]
    return {device for place in ports for device in owners(place, topology)}


def _stuck(cause: Claim, claim: Claim, topology: Topology) -> bool:
    """Return whether a claim accuses a switch of a circle, which waits itself, of what it stops.

    What stopped others well before the circle closed has its own life, and so may what no cable is
    known to face.
    """
    if cause.kind is not PFC_DEADLOCK or claim.kind is not PFC_STORM:
        return False
    closing = CLOSING * max(one.detail.get("period", 0.0) for one in cause.findings)
    if claim.since < cause.since - closing or topology.peer(Port.parse(claim.culprit.id)) is None:
        return False
    return bool(owners(claim.culprit, topology) & circle_of(cause, topology))


def _touched(claim: Claim, topology: Topology) -> set[str]:
    touched = owners(claim.culprit, topology)
    if claim.culprit.type in {"loop", "branch"}:
        row = topology.loops.get(claim.culprit.id.partition("/")[0])
        touched |= {row.device} if row is not None and row.device else set()
    if claim.kind is WATCH_SOURCE_SILENT:
        for victim in claim.victims:
            touched |= owners(victim, topology)
    return touched


def downstream(claim: Claim, topology: Topology, events: Iterable[Event]) -> list[Place]:
    """Return what suffers by the topology and the jobs: links, held devices, jobs."""
    devices = reach(claim.culprit, topology)
    found: list[Place] = []
    if claim.kind is DEVICE_DOWN:
        found += [Place("device", name) for name in sorted(devices - {claim.culprit.id})]
        links = {link.id for name in devices for link in topology.links_of.get(name, ())}
        found += [Place("link", name) for name in sorted(links)]
    touched = devices | {held for name in devices for held in topology.hosted.get(name, ())}
    if claim.culprit.type in {"link", "device", "rack"}:
        found += [Place("job", job) for job in jobs_on(touched, events)]
    return found


def jobs_on(devices: set[str], events: Iterable[Event]) -> list[str]:
    """Return the jobs that run now on any of the devices."""
    return sorted(job for job, held in jobs_running(events).items() if job and held & devices)


def jobs_running(events: Iterable[Event]) -> dict[str, set[str]]:
    """Return the accelerators of each job that has begun and not ended; events come in order."""
    return {job.name: set(job.accelerators) for job in jobs(events).rows if job.until == inf}
