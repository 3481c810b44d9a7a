"""How good the data behind an incident is: good, partial or poor."""

from analyzer.evidence.ends import PortStates, cables
from fabrichealth.model import Incident, Port
from fabrichealth.topology import Topology

RECENT = 600.0
"""A port whose evidence is this young is heard, whatever it says of its state."""


def quality(incident: Incident, states: PortStates, topology: Topology) -> str:
    """Return good if all ports that could bear witness speak now, poor if none does.

    Incidents that are not about links or devices rest on their own evidence: good.
    """
    ports = _witnesses(incident, topology)
    recent = states.up.until - RECENT
    said = {
        (line.labels.get("device"), line.labels.get("port"))
        for line in incident.evidence
        if line.at > recent
    }
    heard = [states.says_down(port) is not None or port in said for port in ports]
    if all(heard):
        return "good"
    return "partial" if any(heard) else "poor"


def _witnesses(incident: Incident, topology: Topology) -> list[Port]:
    """Return the ports that could bear witness."""
    culprit = incident.culprit
    if culprit.type == "link" and culprit.id in topology.links:
        return list(topology.links[culprit.id].ends)
    if culprit.type == "device":
        return [peer for _, peer in cables(topology, culprit.id)]
    if culprit.type == "port":
        return [Port.parse(culprit.id)]
    return []
