"""Unseen: a storm told from the front of what is not read, and the storm that is found behind it.

While a switch is silent or late, what stops others is told as that switch's port "or something
behind it, unseen". Once it answers, the port behind it is named; or that port was named before it
fell silent. Either way it is one storm: without a break, and the front's far end waits in it.
"""

from analyzer.incidents.claims import Claim
from fabrichealth.kinds import PFC_STORM
from fabrichealth.model import Incident, Place, Port
from fabrichealth.topology import Topology

FRONT = "front"
"""Detail of a finding: 1.0 where what it names may only be the front of what was not read."""

POLLS = 2.0
"""Without a break: within so many polls."""


def goes_on(incident: Incident, claim: Claim, topology: Topology) -> bool:
    """Return whether a claim is the front of a storm whose port was named before."""
    return (
        incident.kind is PFC_STORM
        and claim.kind is PFC_STORM
        and incident.culprit != claim.culprit
        and any(one.detail.get(FRONT) for one in claim.findings)
        and claim.since <= incident.last_seen + _moment(claim)
        and _before(claim.culprit, incident.victims, topology)
    )


def found_behind(incident: Incident, claim: Claim, topology: Topology) -> bool:
    """Return whether a claim names the port behind what an incident could only tell the front of.

    What is still told by itself is no such front, nor is what does not forward.
    """
    return (
        incident.kind is PFC_STORM
        and claim.kind is PFC_STORM
        and incident.culprit not in claim.spoken
        and not any(one.detail.get(FRONT) for one in claim.findings)
        and claim.since <= incident.last_seen + _moment(claim)
        and _before(incident.culprit, claim.victims, topology)
    )


def _moment(claim: Claim) -> float:
    return max(POLLS * one.detail.get("period", 0.0) for one in claim.findings)


def _before(front: Place, waiting: list[Place], topology: Topology) -> bool:
    """Return whether a switch's port stops one of those that wait."""
    if front.type != "port":
        return False
    port = Port.parse(front.id)
    device, far = topology.devices.get(port.device), topology.peer(port)
    if device is None or device.role != "switch" or far is None:
        return False
    return Place("port", str(far)) in waiting
