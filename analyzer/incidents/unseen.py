"""Unseen: a storm told from the front of what is not read, and the storm that is found behind it.

While a switch is silent or late, what stops others is told as that switch's port "or something
behind it, unseen". Once it answers, the port behind it is named; or that port was named before it
fell silent, or says itself that it stops the silent switch. Either way it is one storm: without a
break, and the front's far end waits in it, or the front's switch does.
"""

from analyzer.incidents.claims import Claim
from analyzer.incidents.word import named
from fabrichealth.kinds import PFC_STORM
from fabrichealth.model import Incident, Place, Port
from fabrichealth.topology import Topology

FRONT = "front"
"""Detail of a finding: 1.0 where what it names may only be the front of what was not read."""

BEHIND = "behind"
"""What such a finding rests on begins so, and goes on with the device that was not read."""

POLLS = 2.0
"""Without a break: within so many polls."""


def is_front(claim: Claim) -> bool:
    """Return whether what a claim names may only stand before what was not read."""
    return claim.kind is PFC_STORM and any(one.detail.get(FRONT) for one in claim.findings)


def before(cause: Claim, claim: Claim, topology: Topology) -> bool:
    """Return whether a claim is the front of a storm that another claim names."""
    return (
        is_front(claim)
        and cause.kind is PFC_STORM
        and not is_front(cause)
        and claim.since >= cause.since - cause.slack
        and _stops(cause.culprit, claim.culprit, topology)
    )


def goes_on(incident: Incident, claim: Claim, topology: Topology) -> bool:
    """Return whether a claim is the front of a storm whose port was named before."""
    return (
        is_front(claim)
        and incident.kind is PFC_STORM
        and incident.culprit != claim.culprit
        and claim.since <= incident.last_seen + _moment(claim)
        and _hides(claim.culprit, incident.culprit, incident.victims, topology)
    )


def found_behind(incident: Incident, claim: Claim, topology: Topology) -> bool:
    """Return whether a claim names the port behind what an incident could only tell the front of.

    What is still told by itself is no such front, nor is a port that was ever named as such.
    """
    fronts = [one.startswith(named(PFC_STORM, f"{BEHIND} ")) for one in incident.grounds]
    return (
        incident.kind is PFC_STORM
        and bool(fronts)
        and all(fronts)
        and claim.kind is PFC_STORM
        and not is_front(claim)
        and incident.culprit not in claim.spoken
        and claim.since <= incident.last_seen + _moment(claim)
        and _hides(incident.culprit, claim.culprit, claim.victims, topology)
    )


def _moment(claim: Claim) -> float:
    return max(POLLS * one.detail.get("period", 0.0) for one in claim.findings)


def _hides(front: Place, origin: Place, waiting: list[Place], topology: Topology) -> bool:
    """Return whether a switch's port stops one of those that wait, or its switch is stopped."""
    port = _of_switch(front, topology)
    if port is None:
        return False
    far = topology.peer(port)
    waits = far is not None and Place("port", str(far)) in waiting
    return waits or _stops(origin, front, topology)


def _stops(origin: Place, front: Place, topology: Topology) -> bool:
    """Return whether a port faces the switch whose port is the front."""
    port = _of_switch(front, topology)
    if port is None or origin.type != "port" or origin == front:
        return False
    faced = topology.peer(Port.parse(origin.id))
    return faced is not None and faced.device == port.device


def _of_switch(place: Place, topology: Topology) -> Port | None:
    if place.type != "port":
        return None
    port = Port.parse(place.id)
    row = topology.devices.get(port.device)
    return port if row is not None and row.role == "switch" else None
